/// \file
/// Replaces the CUB header of the same name: sorts of segments.

#pragma once

#include <cub/device/dispatch/dispatch_radix_sort.cuh>

CUB_NAMESPACE_BEGIN

template <SortOrder order, typename Key, typename Value, typename Offset, typename Begins,
          typename Ends, typename PolicyHub = void>
struct DispatchSegmentedSort {
  static cudaError_t Dispatch(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys,
                              DoubleBuffer<Value>& values, std::int64_t count,
                              std::int64_t segments, Begins begins, Ends ends, bool may_overwrite,
                              cudaStream_t stream) {
    return DispatchSegmentedRadixSort<order, Key, Value, Begins, Ends, Offset>::Dispatch(
        storage, bytes, keys, values, count, segments, begins, ends, 0, 8 * sizeof(Key),
        may_overwrite, stream);
  }
};

CUB_NAMESPACE_END
