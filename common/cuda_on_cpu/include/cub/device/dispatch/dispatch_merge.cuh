/// \file
/// Replaces the CUB header of the same name: merges two sorted ranges into one.

#pragma once

#include <cub/device/dispatch/dispatch_common.cuh>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::merge {

/// A stable merge: among equal keys, the keys of the first range come first. The ranges contain
/// either keys only, or keys and values.
struct Merged {
  template <typename Keys1, typename Values1, typename Keys2, typename Values2, typename KeysOut,
            typename ValuesOut, typename Less>
  static void merge(Keys1 keys1, Values1 values1, std::int64_t count1, Keys2 keys2, Values2 values2,
                    std::int64_t count2, KeysOut keys_out, ValuesOut values_out, Less& less) {
    using Key1 = it_value_t<Keys1>;
    using Key2 = it_value_t<Keys2>;
    for (std::int64_t i = 0, j = 0; i < count1 || j < count2;) {
      const std::int64_t to = i + j;
      if (j < count2 && (i == count1 || less(Key2(keys2[j]), Key1(keys1[i]))))
        take(keys2, values2, j++, keys_out, values_out, to);
      else
        take(keys1, values1, i++, keys_out, values_out, to);
    }
  }

 private:
  template <typename Keys, typename Values, typename KeysOut, typename ValuesOut>
  static void take(Keys keys, Values values, std::int64_t from, KeysOut keys_out,
                   ValuesOut values_out, std::int64_t to) {
    keys_out[to] = it_value_t<Keys>(keys[from]);
    if constexpr (cuda_on_cpu::is_there<it_value_t<Values>>)
      values_out[to] = it_value_t<Values>(values[from]);
  }
};

template <typename Keys1, typename Values1, typename Keys2, typename Values2, typename KeysOut,
          typename ValuesOut, typename Offset, typename Less, typename...>
struct dispatch_t {
  static cudaError_t dispatch(void* storage, std::size_t& bytes, Keys1 keys1, Values1 values1,
                              Offset count1, Keys2 keys2, Values2 values2, Offset count2,
                              KeysOut keys_out, ValuesOut values_out, Less less,
                              cudaStream_t stream) {
    return cuda_on_cpu::in_order("cub::DeviceMerge", storage, bytes,
                                 static_cast<std::size_t>(count1 + count2), stream, [=]() mutable {
                                   Merged::merge(keys1, values1, count1, keys2, values2, count2,
                                                 keys_out, values_out, less);
                                 });
  }
};

}  // namespace detail::merge

CUB_NAMESPACE_END
