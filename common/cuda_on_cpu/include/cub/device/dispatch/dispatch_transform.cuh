/// \file
/// Replaces the CUB header of the same name: computes each element from the elements of the inputs,
/// with one thread per element.

#pragma once

#include <thrust/detail/raw_reference_cast.h>
#include <cuda/std/tuple>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::transform {

enum class requires_stable_address { no, yes };

template <requires_stable_address, typename Offset, typename Inputs, typename Out,
          typename Operation, typename...>
struct dispatch_t {
  static cudaError_t dispatch(Inputs inputs, Out out, Offset count, Operation operation,
                              cudaStream_t stream) {
    return cuda_on_cpu::in_threads(
        "cub::DeviceTransform", stream, count > 0 ? static_cast<std::size_t>(count) : 0,
        [=](std::size_t i) mutable {
          out[i] = ::cuda::std::apply(
              [&](auto... input) {
                return operation(THRUST_NS_QUALIFIER::raw_reference_cast(*(input + i))...);
              },
              inputs);
        });
  }
};

}  // namespace detail::transform

CUB_NAMESPACE_END
