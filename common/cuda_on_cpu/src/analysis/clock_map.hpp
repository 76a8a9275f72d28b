/// \file
/// Vector clocks with one entry per block, for the order that flags establish in addition to
/// barriers and streams.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "../indestructible.hpp"
#include "../runtime/stream.hpp"
#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// Guards the clocks outside the shadow cells. Several threads of the operating system use these
/// clocks when they check a trial, and when the host runs concurrently with a kernel.
inline std::mutex& clock_mutex() {
  static auto& mutex = indestructible<std::mutex>();
  return mutex;
}

/// The entry of a block in a vector clock. The owner of the vector clock has acquired the accesses
/// of the block's threads up to these clocks.
struct BlockClock {
  std::uint32_t all = 0;                            ///< clock for all threads of the block
  std::map<std::uint16_t, std::uint32_t> own = {};  ///< clocks for single threads
  std::uint32_t gang_waits = 0;                     ///< number of barriers that the block's gang
                                                    ///< has passed
};
using ClockMap = std::unordered_map<std::uint64_t, BlockClock>;  // keys: `key_of(operation, block)`

inline std::uint64_t key_of(std::uint32_t operation, std::uint32_t number) {
  return std::uint64_t{operation} << 32 | number;
}
inline std::uint32_t operation_in(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32);
}

inline void join(std::uint32_t& mine, std::uint32_t other) { mine = std::max(mine, other); }

inline void join(BlockClock& mine, const BlockClock& other) {
  join(mine.all, other.all);
  join(mine.gang_waits, other.gang_waits);
  for (const auto& [thread, clock] : other.own) join(mine.own[thread], clock);
}

inline void join(ClockMap& mine, const ClockMap& other) {
  for (const auto& [number, clocks] : other) join(mine[number], clocks);
}

inline bool covers(const ClockMap& clocks, const Event& then) {
  const auto known = clocks.find(key_of(then.operation, then.block));
  if (known == clocks.end()) return false;
  if (known->second.all >= then.clock || is_before_waits(then.phase, known->second.gang_waits))
    return true;
  const auto own = known->second.own.find(then.thread);
  return own != known->second.own.end() && own->second >= then.clock;
}

/// Whether an operation happens before any other operation that has an entry in a vector clock.
inline bool precedes_covered(std::uint32_t operation, const ClockMap& clocks) {
  return std::any_of(clocks.begin(), clocks.end(), [&](const auto& known) {
    const std::uint32_t other = operation_in(known.first);
    return other != operation && happens_before(operation, other);
  });
}

}  // namespace cuda_on_cpu::analysis
