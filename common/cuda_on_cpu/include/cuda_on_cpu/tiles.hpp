/// \file
/// Collective operations of tiles that are larger than a warp: barriers, shuffles and votes.

#pragma once

#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {

/// A function that computes the results of all threads of a tile. The records are in the order of
/// the ranks.
using CombineTile = void (*)(void* const* records, unsigned count);

/// Waits for all threads of the current thread's tile, which has `size` threads. The last thread to
/// arrive calls `combine`, unless it is null. When the call returns, the records contain the
/// results.
void tile_collective(unsigned size, void* record, CombineTile combine);

/// Ends the launch with an error, because the threads of a tile read from different ranks.
[[noreturn]] void ranks_in_tile_differ(unsigned size);

/// The record of a thread in a shuffle of a tile.
template <typename Value>
struct TileShuffle {
  Value value;
  unsigned source;
  Value result;
  bool others_differ;  ///< whether rank 0 reads from a different source
};

template <typename Value>
void combine_tile_shuffle(void* const* records, unsigned count) {
  for (unsigned rank = 0; rank < count; ++rank) {
    auto* mine = static_cast<TileShuffle<Value>*>(records[rank]);
    mine->result = static_cast<const TileShuffle<Value>*>(records[mine->source])->value;
    mine->others_differ = mine->source != static_cast<TileShuffle<Value>*>(records[0])->source;
  }
}

/// Returns the value of rank `source` in the tile. If `same_for_all`, all threads must use the same
/// source, as a GPU requires. Reductions and scans use different sources.
template <bool same_for_all, typename Value>
__forceinline__ Value shuffle_in_tile(unsigned size, Value value, unsigned source) {
  static_assert(std::is_trivially_copyable_v<Value>,
                "tiles shuffle what can be copied byte by byte");
  TileShuffle<Value> record{value, source, value, false};
  tile_collective(size, &record, combine_tile_shuffle<Value>);
  if (same_for_all && record.others_differ) ranks_in_tile_differ(size);
  return record.result;
}

inline void combine_tile_votes(void* const* records, unsigned count) {
  unsigned votes = 0;
  for (unsigned rank = 0; rank < count; ++rank)
    votes += *static_cast<const unsigned*>(records[rank]);
  for (unsigned rank = 0; rank < count; ++rank) *static_cast<unsigned*>(records[rank]) = votes;
}

/// The number of threads of the tile whose predicate is true.
__forceinline__ unsigned votes_in_tile(unsigned size, bool predicate) {
  unsigned record = predicate;
  tile_collective(size, &record, combine_tile_votes);
  return record;
}

}  // namespace cuda_on_cpu
