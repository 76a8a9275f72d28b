/// \file
/// Replaces the CUB header of the same name: the offsets and lengths of runs of at least two equal
/// items.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

template <typename In, typename OffsetsOut, typename LengthsOut, typename RunsOut,
          typename Equality, typename Offset, typename...>
struct DeviceRleDispatch {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, OffsetsOut offsets,
                              LengthsOut lengths, RunsOut runs, Equality equal, Offset count,
                              cudaStream_t stream) {
    using Item = detail::it_value_t<In>;
    return cuda_on_cpu::in_order("cub::DeviceRunLengthEncode", storage, bytes,
                                 static_cast<std::size_t>(count), stream, [=]() mutable {
                                   Offset run = 0;
                                   for (Offset first = 0, end = 0; first < count; first = end) {
                                     Item item = in[first];
                                     for (end = first + 1; end < count; ++end) {
                                       const Item next = in[end];
                                       if (!equal(item, next)) break;
                                       item = next;
                                     }
                                     if (end - first == 1) continue;
                                     offsets[run] = first;
                                     lengths[run++] = end - first;
                                   }
                                   *runs = run;
                                 });
  }
};

CUB_NAMESPACE_END
