/// \file
/// Replaces the CUB header of the same name: radix sorts of arrays and of segments.

#pragma once

#include <cub/block/radix_rank_sort_operations.cuh>
#include <cub/device/dispatch/dispatch_common.cuh>

#include <cstring>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::radix {

/// A stable radix sort with digits of 8 bits, from the lowest to the highest digit.
template <SortOrder order, typename Key, typename Value, typename Decomposer>
struct Sorter {
  int begin_bit, end_bit;
  Decomposer decomposer;

  struct Items {
    Key* keys;
    Value* values;
  };

  /// Sorts the items of `from` into `to`. Intermediate passes also use the buffer `by`, which may
  /// be the same buffer as `from`.
  void operator()(Items from, Items to, Items by, std::int64_t count) {
    const int digits = begin_bit < end_bit ? (end_bit - begin_bit + bits - 1) / bits : 1;
    if (digits % 2 == 0 && from.keys == by.keys) {
      for (std::int64_t i = 0; i < count; ++i) move(from, i, to, i);
      from = to;
    }
    for (int digit = 0; digit < digits; ++digit) {
      const Items next = (digits - digit) % 2 != 0 ? to : by;
      sort_by(begin_bit + digit * bits, from, next, count);
      from = next;
    }
  }

 private:
  static constexpr int bits = 8;

  void sort_by(int bit, Items from, Items to, std::int64_t count) {
    std::int64_t places[(1 << bits) + 1] = {};
    for (std::int64_t i = 0; i < count; ++i) ++places[digit_of(from.keys[i], bit) + 1];
    for (int d = 0; d < 1 << bits; ++d) places[d + 1] += places[d];
    for (std::int64_t i = 0; i < count; ++i)
      move(from, i, to, places[digit_of(from.keys[i], bit)]++);
  }

  unsigned digit_of(const Key& key, int bit) {
    using Traits = traits_t<Key>;
    const int width = end_bit - bit < bits ? end_bit - bit : bits;
    if (width <= 0) return 0;
    typename Traits::bit_ordered_type ordered;
    std::memcpy(&ordered, &key, sizeof ordered);
    ordered = RadixSortTwiddle<order == SortOrder::Descending, Key>::In(ordered, decomposer);
    return Traits::template digit_extractor<BFEDigitExtractor<Key>>(bit, width, decomposer)
        .Digit(ordered);
  }

  static void move(Items from, std::int64_t i, Items to, std::int64_t j) {
    to.keys[j] = from.keys[i];
    if constexpr (cuda_on_cpu::is_there<Value>) to.values[j] = from.values[i];
  }
};

/// The buffers of a sort. The sorted keys and values end up in the alternate buffers. If the
/// current buffers must not be overwritten, the temporary storage contains a third buffer for keys
/// and one for values.
template <typename Key, typename Value>
struct Buffers {
  Key* keys[3];
  Value* values[3];

  static std::size_t bytes(std::size_t items, bool may_overwrite) {
    using Storage = cuda_on_cpu::TemporaryStorage;
    return Storage::alignment + (may_overwrite ? 0
                                               : Storage::rounded(items * sizeof(Key)) +
                                                     Storage::rounded(items * sizeof(Value)));
  }

  Buffers(void* storage, std::size_t items, bool may_overwrite, DoubleBuffer<Key>& of_keys,
          DoubleBuffer<Value>& of_values)
      : keys{of_keys.Current(), of_keys.Alternate(), of_keys.Current()},
        values{of_values.Current(), of_values.Alternate(), of_values.Current()} {
    of_keys.selector ^= 1;
    of_values.selector ^= 1;
    if (may_overwrite) return;
    cuda_on_cpu::TemporaryStorage parts(storage);
    keys[2] = parts.take<Key>(items);
    values[2] = parts.take<Value>(items);
  }

  template <typename Sorter>
  void sort(Sorter& sorter, std::int64_t first, std::int64_t end) const {
    const auto at = [&](int buffer) {
      return typename Sorter::Items{
          keys[buffer] + first, cuda_on_cpu::is_there<Value> ? values[buffer] + first : nullptr};
    };
    sorter(at(0), at(1), at(2), end - first);
  }
};

}  // namespace detail::radix

template <SortOrder order, typename Key, typename Value, typename Offset,
          typename Decomposer = detail::identity_decomposer_t, typename...>
struct DispatchRadixSort {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys,
                              DoubleBuffer<Value>& values, Offset count, int begin_bit, int end_bit,
                              bool may_overwrite, cudaStream_t stream, Decomposer decomposer = {}) {
    using Buffers = detail::radix::Buffers<Key, Value>;
    const auto items = static_cast<std::size_t>(count);
    cudaError_t result;
    if (!cuda_on_cpu::has_storage(storage, bytes, Buffers::bytes(items, may_overwrite), result) ||
        items == 0)
      return result;
    return cuda_on_cpu::in_threads("cub::DeviceRadixSort", stream, 1,
                                   [=, mark = cuda_on_cpu::TemporaryStorage::mark(),
                                    buffers = Buffers(storage, items, may_overwrite, keys, values),
                                    sorter = detail::radix::Sorter<order, Key, Value, Decomposer>{
                                        begin_bit, end_bit, decomposer}](std::size_t) mutable {
                                     if (may_overwrite)
                                       cuda_on_cpu::TemporaryStorage::use_up(
                                           storage, Buffers::bytes(items, true), mark);
                                     buffers.sort(sorter, 0, static_cast<std::int64_t>(items));
                                   });
  }
};

template <SortOrder order, typename Key, typename Value, typename Begins, typename Ends,
          typename Offset, typename PolicyHub = void,
          typename Decomposer = detail::identity_decomposer_t>
struct DispatchSegmentedRadixSort {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys,
                              DoubleBuffer<Value>& values, std::int64_t count,
                              std::int64_t segments, Begins begins, Ends ends, int begin_bit,
                              int end_bit, bool may_overwrite, cudaStream_t stream) {
    using Buffers = detail::radix::Buffers<Key, Value>;
    const auto items = static_cast<std::size_t>(count);
    cudaError_t result;
    if (!cuda_on_cpu::has_storage(storage, bytes, Buffers::bytes(items, may_overwrite), result) ||
        items == 0 || segments == 0)
      return result;
    return cuda_on_cpu::in_threads(
        "cub::DeviceSegmentedSort", stream, static_cast<std::size_t>(segments),
        [=, buffers = Buffers(storage, items, may_overwrite, keys, values),
         sorter = detail::radix::Sorter<order, Key, Value, Decomposer>{begin_bit, end_bit, {}}](
            std::size_t segment) mutable {
          const auto first = static_cast<std::int64_t>(begins[segment]);
          const auto end = static_cast<std::int64_t>(ends[segment]);
          if (first < end) buffers.sort(sorter, first, end);
        });
  }
};

CUB_NAMESPACE_END
