/// \file
/// Replaces the CUB header of the same name: stable sorts with a comparison function.

#pragma once

#include <cub/device/dispatch/dispatch_merge.cuh>

CUB_NAMESPACE_BEGIN

template <typename KeysIn, typename ValuesIn, typename Keys, typename Values, typename Offset,
          typename Less, typename...>
struct DispatchMergeSort {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, KeysIn keys_in, ValuesIn values_in,
                              Keys keys, Values values, Offset count, Less less,
                              cudaStream_t stream) {
    using Storage = cuda_on_cpu::TemporaryStorage;
    const auto items = static_cast<std::size_t>(count);
    const std::size_t needed = Storage::alignment + Storage::rounded(items * sizeof(Key)) +
                               Storage::rounded(items * sizeof(Value));
    cudaError_t result;
    if (!cuda_on_cpu::has_storage(storage, bytes, needed, result)) return result;
    return cuda_on_cpu::in_threads("cub::DeviceMergeSort", stream, 1, [=](std::size_t) mutable {
      Storage parts(storage);
      Key* const other = parts.take<Key>(items);
      sort(keys_in, values_in, keys, values, other, parts.take<Value>(items), count, less);
    });
  }

 private:
  using Key = detail::it_value_t<Keys>;
  using Value = detail::it_value_t<Values>;

  /// Merges runs of 1, 2, 4, … items. The passes alternate between the output and the temporary
  /// storage, so that the last pass writes to the output.
  static void sort(KeysIn keys_in, ValuesIn values_in, Keys keys, Values values, Key* other_keys,
                   Value* other_values, std::int64_t count, Less& less) {
    bool is_in_output = true;
    for (std::int64_t run = 1; run < count; run *= 2) is_in_output = !is_in_output;
    if (is_in_output)
      merge_runs(keys_in, values_in, keys, values, count, count, less);
    else
      merge_runs(keys_in, values_in, other_keys, other_values, count, count, less);
    for (std::int64_t run = 1; run < count; run *= 2, is_in_output = !is_in_output) {
      if (is_in_output)
        merge_runs(keys, values, other_keys, other_values, count, run, less);
      else
        merge_runs(other_keys, other_values, keys, values, count, run, less);
    }
  }

  template <typename From, typename ValuesFrom, typename To, typename ValuesTo>
  static void merge_runs(From from, ValuesFrom values_from, To to, ValuesTo values_to,
                         std::int64_t count, std::int64_t run, Less& less) {
    for (std::int64_t first = 0; first < count; first += 2 * run) {
      const std::int64_t middle = first + run < count ? first + run : count;
      const std::int64_t end = middle + run < count ? middle + run : count;
      detail::merge::Merged::merge(from + first, moved(values_from, first), middle - first,
                                   from + middle, moved(values_from, middle), end - middle,
                                   to + first, moved(values_to, first), less);
    }
  }
  /// Advances an iterator over values; if the sort has no values, returns the iterator unchanged.
  template <typename Iterator>
  static Iterator moved(Iterator at, std::int64_t by) {
    if constexpr (cuda_on_cpu::is_there<detail::it_value_t<Iterator>>) return at + by;
    return at;
  }
};

CUB_NAMESPACE_END
