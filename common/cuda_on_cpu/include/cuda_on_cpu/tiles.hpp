/// \file
/// Tiles of more than a warp: their barriers, and what their threads hand over to each other.

#pragma once

#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {

/// Computes the results of a tile's threads at once, whose records lie in the order of their ranks.
using CombineTile = void (*)(void* const* records, unsigned count);

/// Waits for all threads of this one's tile of so many, as a barrier does; the last to come calls
/// `combine`, if there is one, and the results stand in the records when the call returns.
void tile_collective(unsigned size, void* record, CombineTile combine);

/// Ends the launch, since threads of a tile ask for values of different ranks.
[[noreturn]] void ranks_in_tile_differ(unsigned size);

/// A thread's part of a shuffle in a tile.
template <typename Value>
struct TileShuffle {
  Value value;
  unsigned source;
  Value result;
  bool others_differ;  ///< whether another thread asks for another one
};

template <typename Value>
void combine_tile_shuffle(void* const* records, unsigned count) {
  for (unsigned rank = 0; rank < count; ++rank) {
    auto* mine = static_cast<TileShuffle<Value>*>(records[rank]);
    mine->result = static_cast<const TileShuffle<Value>*>(records[mine->source])->value;
    mine->others_differ = mine->source != static_cast<TileShuffle<Value>*>(records[0])->source;
  }
}

/// The value that the thread of a rank in the tile handed over. A GPU wants it to be the same rank
/// for all of the tile; reductions and scans know of others.
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

/// How many threads of the tile have a predicate that is not zero.
__forceinline__ unsigned votes_in_tile(unsigned size, bool predicate) {
  unsigned record = predicate;
  tile_collective(size, &record, combine_tile_votes);
  return record;
}

}  // namespace cuda_on_cpu
