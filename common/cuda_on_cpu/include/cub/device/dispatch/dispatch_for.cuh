/// \file
/// Replaces the CUB header of the same name: calls an operation for each index, with one thread per
/// index.

#pragma once

#include <thrust/detail/raw_reference_cast.h>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::for_each {

/// Whether CUB may pass copies of elements to the operation, to load several elements at once. The
/// CPU device always passes the elements themselves.
template <typename, typename>
using can_regain_copy_freedom = ::cuda::std::false_type;

template <typename Offset, typename Operation, typename...>
struct dispatch_t {
  static cudaError_t dispatch(Offset count, Operation operation, cudaStream_t stream) {
    return cuda_on_cpu::in_threads(
        "cub::DeviceFor", stream, count > 0 ? static_cast<std::size_t>(count) : 0,
        [=](std::size_t i) mutable { operation(static_cast<Offset>(i)); });
  }
};

}  // namespace detail::for_each

CUB_NAMESPACE_END
