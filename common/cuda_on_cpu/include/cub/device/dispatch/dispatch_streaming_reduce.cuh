/// \file
/// Replaces the CUB header of the same name: the index and the value of an extreme item.

#pragma once

#include <cub/device/dispatch/dispatch_reduce.cuh>

CUB_NAMESPACE_BEGIN

namespace detail::reduce {

template <typename In, typename Out, typename OffsetOfPart, typename Offset, typename Operation,
          typename Init, typename...>
struct dispatch_streaming_arg_reduce_t {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, Out out, Offset count,
                              Operation operation, Init init, cudaStream_t stream) {
    using Pair = KeyValuePair<Offset, Init>;
    return cuda_on_cpu::in_order("cub::DeviceReduce", storage, bytes,
                                 static_cast<std::size_t>(count), stream, [=]() mutable {
                                   // If there are no items, the index is 1, as in CUB.
                                   Pair best(count == 0 ? Offset{1} : Offset{0}, init);
                                   if (count != 0) best.value = in[0];
                                   for (Offset i = 1; i < count; ++i)
                                     best = operation(best, Pair(i, in[i]));
                                   *out = best;
                                 });
  }
};

}  // namespace detail::reduce

CUB_NAMESPACE_END
