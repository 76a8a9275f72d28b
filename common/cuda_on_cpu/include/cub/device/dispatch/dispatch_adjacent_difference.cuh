/// \file
/// Replaces the CUB header of the same name: differences between adjacent items.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

enum class ReadOption { Left, Right };

template <typename In, typename Out, typename Difference, typename Offset, MayAlias alias,
          ReadOption side, typename...>
struct DispatchAdjacentDifference {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, In in, Out out, Offset count,
                              Difference difference, cudaStream_t stream) {
    using Item = detail::it_value_t<In>;
    return cuda_on_cpu::in_order("cub::DeviceAdjacentDifference", storage, bytes,
                                 static_cast<std::size_t>(count), stream, [=]() mutable {
                                   Item before{};
                                   for (Offset i = 0; i < count; ++i) {
                                     const Item item = in[i];
                                     if constexpr (side == ReadOption::Left) {
                                       if (i == 0)
                                         out[i] = item;
                                       else
                                         out[i] = difference(item, before);
                                     } else {
                                       if (i + 1 == count)
                                         out[i] = item;
                                       else
                                         out[i] = difference(item, Item(in[i + 1]));
                                     }
                                     before = item;
                                   }
                                 });
  }
};

CUB_NAMESPACE_END
