/// \file
/// Replaces the CUB header of the same name: selects the first item of each run of equal keys, with
/// its value.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

template <typename KeysIn, typename ValuesIn, typename KeysOut, typename ValuesOut,
          typename CountOut, typename Equality, typename Offset, typename...>
struct DispatchUniqueByKey {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, KeysIn keys, ValuesIn values,
                              KeysOut keys_out, ValuesOut values_out, CountOut chosen,
                              Equality equal, Offset count, cudaStream_t stream) {
    using Key = detail::it_value_t<KeysIn>;
    return cuda_on_cpu::in_order("cub::DeviceSelect", storage, bytes,
                                 static_cast<std::size_t>(count), stream, [=]() mutable {
                                   Offset taken = 0;
                                   Key last{};
                                   for (Offset i = 0; i < count; ++i) {
                                     const Key key = keys[i];
                                     if (i == 0 || !equal(last, key)) {
                                       keys_out[taken] = key;
                                       values_out[taken++] =
                                           detail::it_value_t<ValuesIn>(values[i]);
                                     }
                                     last = key;
                                   }
                                   *chosen = taken;
                                 });
  }
};

CUB_NAMESPACE_END
