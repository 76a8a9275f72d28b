/// \file
/// Replaces the CUB header of the same name: batches of copies, with one thread per range.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

enum class CopyAlg { Memcpy, Copy };

namespace detail {

template <typename From, typename To, typename Sizes, typename Offset,
          CopyAlg how = CopyAlg::Memcpy, typename...>
struct DispatchBatchMemcpy {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, From from, To to, Sizes sizes,
                              std::int64_t ranges, cudaStream_t stream) {
    return cuda_on_cpu::in_segments(
        how == CopyAlg::Memcpy ? "cub::DeviceMemcpy" : "cub::DeviceCopy", storage, bytes,
        static_cast<std::size_t>(ranges), stream, [=](std::size_t range) mutable {
          const auto size = static_cast<std::int64_t>(sizes[range]);
          if constexpr (how == CopyAlg::Memcpy)
            copy(static_cast<const char*>(from[range]), static_cast<char*>(to[range]), size);
          else
            copy(it_value_t<From>(from[range]), it_value_t<To>(to[range]), size);
        });
  }

 private:
  template <typename Source, typename Target>
  static void copy(Source source, Target target, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) target[i] = it_value_t<Source>(source[i]);
  }
};

}  // namespace detail

CUB_NAMESPACE_END
