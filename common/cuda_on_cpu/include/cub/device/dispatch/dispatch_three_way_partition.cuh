/// \file
/// Replaces the CUB header of the same name: partitions into three parts.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

template <typename In, typename FirstOut, typename SecondOut, typename RestOut, typename CountsOut,
          typename First, typename Second, typename Offset, typename...>
struct DispatchThreeWayPartitionIf {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, FirstOut first,
                              SecondOut second, RestOut rest, CountsOut counts, First is_first,
                              Second is_second, Offset count, cudaStream_t stream) {
    return cuda_on_cpu::in_order("cub::DevicePartition", storage, bytes,
                                 static_cast<std::size_t>(count), stream, [=]() mutable {
                                   Offset firsts = 0, seconds = 0;
                                   for (Offset i = 0; i < count; ++i) {
                                     const detail::it_value_t<In> item = in[i];
                                     if (is_first(item))
                                       first[firsts++] = item;
                                     else if (is_second(item))
                                       second[seconds++] = item;
                                     else
                                       rest[i - firsts - seconds] = item;
                                   }
                                   counts[0] = firsts;
                                   counts[1] = seconds;
                                 });
  }
};

CUB_NAMESPACE_END
