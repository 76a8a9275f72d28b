/// \file
/// The happens-before order of accesses: barriers, warps, fences with atomics, streams and flags.

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../indestructible.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"
#include "../machine/thread_area.hpp"
#include "../runtime/generations.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "clock_map.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "host_flags.hpp"
#include "vector_clocks.hpp"

namespace cuda_on_cpu::analysis {

__thread std::uint32_t last_release = 0;
__thread bool keeps_each_warp = false;

namespace {

/// All synchronisation variables. Their addresses stay valid, because vector clocks refer to them.
/// `wide` maps addresses to the atomic variables that order several blocks.
struct Variables {
  std::deque<SyncVariable> all;
  std::unordered_map<std::uintptr_t, SyncVariable*> wide;
  std::vector<std::uintptr_t> in_shared;  // keys of `wide` in shared memory
  /// The number of stores that have replaced releases, by address.
  std::unordered_map<std::uintptr_t, std::uint32_t> stores;

  SyncVariable* add(const void* address = nullptr, std::size_t bytes = 0) {
    return &all.emplace_back(address, bytes);
  }
};

Variables& variables() {
  static auto& variables = indestructible<Variables>();
  return variables;
}

/// The clock of each block's last release, and the running blocks.
struct Blocks {
  std::unordered_map<std::uint64_t, std::uint32_t> last_release;  // keys: `key_of(operation,
                                                                  // block)`
  std::vector<std::uint64_t> running;
};

Blocks& blocks() {
  static auto& blocks = indestructible<Blocks>();
  return blocks;
}

/// The last fence of a thread. `own`, `warp` and `block` are the clocks of the block up to which
/// the fence covers accesses.
struct Fence {
  std::uint32_t own = 0;         ///< clock of the fence, for accesses of the thread
  std::uint32_t warp = 0;        ///< clock of the last operation of all lanes, for accesses of the
                                 ///< warp
  std::uint32_t block = 0;       ///< clock of the last barrier, for accesses of the block
  std::uint32_t gang_waits = 0;  ///< number of barriers of the gang before the fence
  VectorClock known = {};        ///< vector clock of the thread at the fence
};

/// The classes of fences: fences of block scope, and fences of all wider scopes.
enum Width { in_block, wide, widths };

/// The fences that the lanes of a warp executed before the warp's last operation of all lanes.
struct FencesOfWarp {
  std::uint32_t epoch = 0;  ///< epoch of the warp's last operation of all lanes
  std::uint32_t warp = 0, block = 0;
  std::uint32_t gang_waits = 0;
  std::uint32_t own[warp_size] = {};
  bool any = false;
  VectorClock known = {};
};

/// The synchronisation variable at an address for operations of block scope.
struct Narrow {
  SyncVariable* variable = nullptr;
  std::uint32_t stores = 0;  ///< number of stores at this address before its first release
};

/// The vector clocks of the threads of a block, for the order that barriers do not establish.
struct BlockClocks {
  struct OfWarp {
    VectorClock clock;  ///< common clock of all lanes, since the last operation of all lanes
    std::uint32_t epoch = 0;
  };

  VectorClock all;            ///< common clock of all threads, since the last barrier
  std::uint32_t barrier = 0;  ///< clock of the block at the last barrier
  std::vector<OfWarp> warps = {};
  std::vector<VectorClock> threads = {};
  std::vector<std::uint16_t> changed = {};  ///< threads whose clocks are not empty
  std::vector<Fence> fences[widths] = {};
  std::vector<FencesOfWarp> fences_of_warps[widths] = {};  ///< fences of each warp since the last
                                                           ///< barrier
  bool fenced[widths] = {};         ///< whether a thread has made a fence since the last barrier
  FenceClocks before[widths] = {};  ///< fences before the last barrier, or null
  std::uint32_t gang_waits_before[widths] = {};  ///< gang barriers before these fences
  VectorClock known_before[widths] = {};         ///< joined vector clocks at the fences in `before`
  std::vector<Fence> on_arrival[widths] = {};    ///< the last fence of each thread when this thread
                                                 ///< arrived at the barrier of the gang
  std::uint32_t first_arrival = 0;  ///< clock of the first arrival at the gang's barrier by a
                                    ///< thread that waits later
  std::unordered_map<std::uintptr_t, Narrow> narrow = {};          ///< variables for operations of
                                                                   ///< block scope, by address
  std::unordered_map<std::uint64_t, SyncVariable*> meetings = {};  // variables of operations by
                                                                   // some lanes, by warp and mask
};

BlockClocks& clocks() {
  thread_local auto& clocks = indestructible<BlockClocks>();
  return clocks;
}

bool any_is_known(const BlockClocks& c) {
  return !c.all.empty() || !c.changed.empty() || !c.warps.empty();
}

/// Stores fences that happened before a synchronisation of all threads of the block.
void note_fences_before(BlockClocks& c, Width width, const std::vector<Fence>& fences) {
  auto all = std::make_shared<std::vector<std::uint32_t>>(fences.size());
  std::uint32_t of_block = 0;
  for (const Fence& fence : fences) {
    of_block = std::max(of_block, fence.block);
    c.gang_waits_before[width] = std::max(c.gang_waits_before[width], fence.gang_waits);
    c.known_before[width].join(fence.known);
  }
  for (std::size_t first = 0; first < fences.size(); first += warp_size) {
    const std::size_t end = std::min<std::size_t>(first + warp_size, fences.size());
    std::uint32_t of_warp = of_block;
    for (std::size_t i = first; i < end; ++i) of_warp = std::max(of_warp, fences[i].warp);
    for (std::size_t i = first; i < end; ++i) (*all)[i] = std::max(of_warp, fences[i].own);
  }
  c.before[width] = std::move(all);
}

/// Stores all fences that the threads of the block executed before the last barrier.
void note_fences_before(BlockClocks& c, Width width) {
  c.fences_of_warps[width].clear();
  if (std::exchange(c.fenced[width], false)) note_fences_before(c, width, c.fences[width]);
}

/// The fences of a warp's lanes before its last operation of all lanes. A lane must call this
/// function before each fence, because the fence replaces the lane's previous one.
FencesOfWarp& fences_of_warp(BlockClocks& c, Width width, const Thread& thread) {
  std::vector<FencesOfWarp>& all = c.fences_of_warps[width];
  const unsigned number = thread.rank / warp_size;
  if (all.size() <= number) all.resize(number + 1);
  FencesOfWarp& here = all[number];
  const Warp& warp = *thread.warp;
  if (here.epoch == warp.epoch) return here;
  here.epoch = warp.epoch;
  const std::vector<Fence>& fences = c.fences[width];
  for (unsigned lane = 0; lane < warp_size && number * warp_size + lane < fences.size(); ++lane) {
    const Fence& fence = fences[number * warp_size + lane];
    if (fence.own <= std::max(here.own[lane], c.barrier) || fence.own > warp.clock) continue;
    here.any = true;
    here.own[lane] = fence.own;
    here.warp = std::max(here.warp, fence.warp);
    here.block = std::max(here.block, fence.block);
    here.gang_waits = std::max(here.gang_waits, fence.gang_waits);
    here.known.join(fence.known);
  }
  return here;
}

/// Merges the vector clocks of the threads that have synchronised since the last call. Threads
/// synchronise at a barrier of the block or by an operation of the full warp.
BlockClocks& updated_clocks(const Thread& thread) {
  BlockClocks& c = clocks();
  if (c.barrier != block->barrier_clock) {
    for (const std::uint16_t rank : c.changed) c.all.join(c.threads[rank]);
    for (const std::uint16_t rank : c.changed) c.threads[rank].clear();
    for (const auto& warp : c.warps) c.all.join(warp.clock);
    c.changed.clear();
    c.warps.clear();
    note_fences_before(c, in_block);
    note_fences_before(c, wide);
    c.barrier = block->barrier_clock;
  }
  if (c.changed.empty() && c.warps.empty()) return c;
  const unsigned warp = thread.rank / warp_size;
  if (c.warps.size() <= warp) {
    const std::size_t before = c.warps.size();
    c.warps.resize(most_threads / warp_size);
    for (std::size_t i = before; i < c.warps.size(); ++i) c.warps[i].epoch = ~0u;
  }
  auto& of_warp = c.warps[warp];
  if (of_warp.epoch == thread.warp->epoch) return c;
  const bool is_first = std::exchange(of_warp.epoch, thread.warp->epoch) == ~0u;
  if (is_first) return c;
  std::erase_if(c.changed, [&](std::uint16_t rank) {
    if (rank / warp_size != warp) return false;
    of_warp.clock.join(c.threads[rank]);
    c.threads[rank].clear();
    return true;
  });
  return c;
}

/// The vector clock of a thread.
VectorClock known_to(const BlockClocks& c, const Thread& thread) {
  VectorClock known = c.all;
  if (thread.rank / warp_size < c.warps.size()) known.join(c.warps[thread.rank / warp_size].clock);
  if (thread.rank < c.threads.size()) known.join(c.threads[thread.rank]);
  return known;
}

VectorClock& clock_of(BlockClocks& c, const Thread& thread) {
  if (c.threads.empty()) c.threads.resize(most_threads);
  VectorClock& own = c.threads[thread.rank];
  if (own.empty()) {
    c.changed.push_back(static_cast<std::uint16_t>(thread.rank));
    updated_clocks(thread);  // records the last operation of all lanes in this warp
  }
  return own;
}

/// Calls `look(variable, releases)` for each release that a thread has acquired, until a call
/// returns true.
template <typename Look>
bool any_of_known(const BlockClocks& c, std::uint16_t thread, const Look& look) {
  const auto any_of = [&](const VectorClock& clock) {
    return std::any_of(clock.begin(), clock.end(),
                       [&](const auto& known) { return look(*known.first, known.second); });
  };
  return any_of(c.all) || (thread < c.threads.size() && any_of(c.threads[thread])) ||
         (thread / warp_size < c.warps.size() && any_of(c.warps[thread / warp_size].clock));
}

/// The arrivals at a cuda::barrier, and the number of releases in completed phases.
struct Arrivals {
  SyncVariable* variable = nullptr;
  std::uint32_t before = 0;
  VectorClock known_before = {};
};

std::unordered_map<const void*, Arrivals>& arrivals() {
  static auto& arrivals = indestructible<std::unordered_map<const void*, Arrivals>>();
  return arrivals;
}

/// The clocks at a barrier of a gang.
struct GangBarrier {
  VectorClock known = {};  ///< joined clocks of the threads that have arrived
  /// Releases of threads that first synchronised with threads that had already arrived, and then
  /// arrived themselves. These releases cover accesses that the earlier threads made after their
  /// own arrival. All other order follows from the phases of the accesses.
  SyncVariable* late = nullptr;
};

/// The barriers of gangs, by operation, gang and index of the barrier.
std::map<std::pair<std::uint64_t, std::uint32_t>, GangBarrier>& gang_barriers() {
  static auto& barriers =
      indestructible<std::map<std::pair<std::uint64_t, std::uint32_t>, GangBarrier>>();
  return barriers;
}

/// The clocks of concurrent launches at the end of their blocks, by operation. Operations after
/// such a launch inherit its clock.
std::unordered_map<std::uint32_t, VectorClock>& clocks_of_operations() {
  static auto& clocks = indestructible<std::unordered_map<std::uint32_t, VectorClock>>();
  return clocks;
}

/// A flag that a thread has read, and the index of the gang's barrier at which the thread arrived
/// next.
struct Look {
  const void* flag;
  std::uint32_t barrier;
};

/// The clocks that a block has acquired from flags of the host.
struct Acquired {
  ClockMap all = {};
  std::map<std::uint16_t, Look> looks = {};  ///< latest flag that each thread has read
};

/// The clocks that the blocks of a gang have acquired from the host. The key is the index of the
/// barrier at which the acquiring thread arrived next. Each entry includes the earlier entries.
using AcquiredByGang = std::map<std::uint32_t, ClockMap>;

/// The clocks that blocks of concurrent launches have acquired from the host.
struct AcquiredInLaunch {
  std::unordered_map<std::uint64_t, Acquired> of_blocks;
  std::unordered_map<std::uint64_t, AcquiredByGang> of_gangs;
};

AcquiredInLaunch& acquired_in_launch() {
  static auto& acquired = indestructible<AcquiredInLaunch>();
  static std::uint32_t launch = 0;
  if (launch != block->launch->beside.front()) {
    acquired = {};
    launch = block->launch->beside.front();
  }
  return acquired;
}

/// The clocks that the running block and its gang have acquired.
Acquired& acquired_by_block() {
  return acquired_in_launch().of_blocks[key_of(block->launch->operation, block->number)];
}
AcquiredByGang& acquired_by_gang() {
  const std::uint32_t gang = gang_of(block->launch->configuration, block->number);
  return acquired_in_launch().of_gangs[key_of(block->launch->operation, gang)];
}

ClockMap& acquired() { return acquired_by_block().all; }

bool is_in_gang() { return block->gang != nullptr && block->gang->size() > 1; }

/// The index, from 0, of the gang's barrier at which a thread arrives next.
std::uint32_t next_barrier(const Thread& thread) {
  return block->gang_waits + unsigned{thread.has_arrived};
}

/// Adds clocks to the gang of the running block. The clocks apply after the given barrier.
void acquire_in_gang(std::uint32_t barrier, const ClockMap& clock_map) {
  AcquiredByGang& barriers = acquired_by_gang();
  const auto [here, is_new] = barriers.try_emplace(barrier);
  if (is_new && here != barriers.begin()) here->second = std::prev(here)->second;
  for (auto later = here; later != barriers.end(); ++later) join(later->second, clock_map);
  constexpr std::size_t most = 4;  // no block still waits for an earlier barrier
  if (barriers.size() > most) barriers.erase(barriers.begin());
}

/// Acquires the releases of the host at flags that threads of a block have read. The host may have
/// made these releases immediately before the read. The caller holds the mutex.
void acquire_from_host(Acquired& acquired, const Look& look) {
  const ClockMap* const publication = published_by_host(look.flag);
  if (publication == nullptr) return;
  join(acquired.all, *publication);
  if (is_in_gang()) acquire_in_gang(look.barrier, *publication);
}
void acquire_from_host(Acquired& acquired) {
  for (const auto& [thread, look] : acquired.looks) acquire_from_host(acquired, look);
}

bool is_covered_by(const ClockMap& clock_map, const Event& then) {
  return covers(clock_map, then) || precedes_covered(then.operation, clock_map);
}

/// Whether a block of the running block's gang acquired an access before the last barrier of the
/// gang.
bool is_covered_in_gang(const Event& then) {
  if (!is_in_gang()) return false;
  const std::uint32_t operation = block->launch->operation;
  const Configuration& c = block->launch->configuration;
  for (auto& [key, acquired] : acquired_in_launch().of_blocks)
    if (operation_in(key) == operation &&
        gang_of(c, static_cast<std::uint32_t>(key)) == gang_of(c, block->number))
      acquire_from_host(acquired);
  const AcquiredByGang& barriers = acquired_by_gang();
  const auto now = barriers.lower_bound(block->gang_waits);
  return now != barriers.begin() && is_covered_by(std::prev(now)->second, then);
}

/// Whether a thread of the running block has acquired a release that covers an access.
bool is_acquired(const BlockClocks& c, const Event& then, std::uint16_t then_thread,
                 std::uint16_t thread, const void* address) {
  const std::vector<SyncVariable*>* candidates =
      variables_of_block(key_of(then.operation, then.block));
  if (candidates == nullptr) return false;
  const VectorClock none;
  const VectorClock& own = thread < c.threads.size() ? c.threads[thread] : none;
  const VectorClock& warp =
      thread / warp_size < c.warps.size() ? c.warps[thread / warp_size].clock : none;
  if (candidates->size() >= c.all.size() + own.size() + warp.size())
    return any_of_known(c, thread, [&](const SyncVariable& variable, std::uint32_t releases) {
      return variable.covers(releases, then, then_thread, address);
    });
  return std::any_of(candidates->begin(), candidates->end(), [&](SyncVariable* variable) {
    const std::uint32_t releases =
        std::max({c.all.of(variable), own.of(variable), warp.of(variable)});
    return releases > 0 && variable->covers(releases, then, then_thread, address);
  });
}

/// Whether a thread of the running block has acquired releases that cover an access by several
/// threads.
bool is_acquired(const Event& then, unsigned lanes, unsigned warps, const Event& now,
                 const void* address) {
  BlockClocks& c = updated_clocks(block->threads[now.thread]);
  if (!any_is_known(c)) return false;
  const bool all_are_known = [&] {
    for (unsigned rest = warps; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      // For warps before the last one, it is unknown which lanes have read.
      unsigned of_warp = warp == then.thread / warp_size ? lanes : all_lanes;
      for (; of_warp != 0; of_warp &= of_warp - 1) {
        const unsigned thread = warp * warp_size + static_cast<unsigned>(std::countr_zero(of_warp));
        if (thread >= block->launch->threads && thread != then.thread) continue;
        if (!is_acquired(c, then, static_cast<std::uint16_t>(thread), now.thread, address))
          return false;
      }
    }
    return true;
  }();
  if (all_are_known) return true;
  return any_of_known(c, now.thread, [&](const SyncVariable& variable, std::uint32_t releases) {
    return variable.covers_gang(releases, then);
  });
}

/// Whether an access of another operation happens before an access of the running block. The order
/// follows from streams, or from flags of a concurrent grid or of an operation before such a grid.
bool is_ordered_beside(const Event& then, unsigned lanes, unsigned warps, const Event& now,
                       const void* address) {
  if (then.block != no_block && is_acquired(then, lanes, warps, now, address)) return true;
  const BlockClocks& c = clocks();
  if (any_of_known(c, now.thread, [&](const SyncVariable& variable, std::uint32_t releases) {
        return variable.is_done_before(then.operation, releases);
      }))
    return true;
  const std::scoped_lock lock(clock_mutex());
  acquire_from_host(acquired_by_block());
  return is_covered_by(acquired(), then) || is_covered_in_gang(then);
}

/// A gang of a grid, and the number of barriers for which the gang has waited.
struct Progress {
  std::uint32_t operation;
  Configuration configuration;
  std::uint32_t gang;
  std::uint32_t waits;
};

}  // namespace

struct Inheritance {
  ClockMap known = {};
  std::vector<Progress> gangs = {};
};

namespace {

/// The clocks that unfinished operations inherit from the kernel threads that requested them.
std::unordered_map<std::uint32_t, std::shared_ptr<const Inheritance>>& inheritances() {
  static auto& all =
      indestructible<std::unordered_map<std::uint32_t, std::shared_ptr<const Inheritance>>>();
  return all;
}

/// Whether an access happens before an operation according to the clock that the operation has
/// inherited.
bool is_inherited(const Event& then, std::uint32_t operation) {
  const std::scoped_lock lock(clock_mutex());
  const auto found = inheritances().find(operation);
  if (found == inheritances().end()) return false;
  const auto& [known, gangs] = *found->second;
  const auto is_behind = [&](const Progress& gang) {
    return gang.operation == then.operation && is_before_waits(then.phase, gang.waits) &&
           gang_of(gang.configuration, then.block) == gang.gang;
  };
  return covers(known, then) || std::any_of(gangs.begin(), gangs.end(), is_behind) ||
         precedes_covered(then.operation, known);
}

}  // namespace

bool happens_before_operation(std::uint32_t first, std::uint32_t second) {
  struct Known {
    std::uint32_t first = 0, second = 0;
  };
  thread_local Known known[64];  // an order of two operations, once established, never changes
  Known& slot = known[first % 64];
  if (slot.first == first && slot.second == second) return true;
  if (!happens_before(first, second)) return false;
  slot = {first, second};
  return true;
}

/// Whether a launch that happens before an operation has acquired a release that covers an access.
static bool is_acquired_before(const Event& then, bool is_single, std::uint32_t operation,
                               const void* address) {
  if (clocks_of_operations().empty()) return false;
  const std::scoped_lock lock(clock_mutex());
  for (const auto& [launch, clock] : clocks_of_operations())
    if (launch != operation && happens_before(launch, operation) &&
        std::any_of(clock.begin(), clock.end(), [&](const auto& known) {
          return known.first->is_done_before(then.operation, known.second) ||
                 (is_single && known.first->covers(known.second, then, then.thread, address));
        }))
      return true;
  return false;
}

bool is_ordered(const Event& then, unsigned lanes, unsigned warps, const Event& now,
                const void* address) {
  if (then.operation != now.operation)
    return happens_before_operation(then.operation, now.operation) ||
           is_acquired_before(then, std::has_single_bit(lanes) && std::has_single_bit(warps),
                              now.operation, address) ||
           is_inherited(then, now.operation) || is_acquired_from_host(then, now.operation) ||
           (now.block != no_block && is_ordered_beside(then, lanes, warps, now, address));
  if (now.block == no_block) return true;
  if (then.block != now.block) {
    const Configuration& c = block->launch->configuration;
    if (gang_of(c, then.block) == gang_of(c, now.block) &&
        is_before_waits(then.phase, now.phase / 2))
      return true;
    return is_acquired(then, lanes, warps, now, address);
  }
  if (then.clock <= block->barrier_clock || is_before_waits(then.phase, now.phase / 2)) return true;
  const unsigned warp = now.thread / warp_size;
  if ((warps >> warp & 1) != 0) {
    const bool is_last = then.thread / warp_size == warp;
    if (is_last) lanes &= ~(1u << now.thread % warp_size);
    if (is_last && (lanes == 0 || then.warp_epoch != now.warp_epoch)) warps &= ~(1u << warp);
  }
  return warps == 0 || is_acquired(then, lanes, warps, now, address);
}

bool is_ordered(const Event& then, const Event& now, const void* address) {
  return is_ordered(then, 1u << then.thread % warp_size, 1u << then.thread / warp_size, now,
                    address);
}

bool never_releases(const Event& then) {
  const Blocks& b = blocks();
  const std::uint64_t key = key_of(then.operation, then.block);
  if (std::find(b.running.begin(), b.running.end(), key) != b.running.end()) return false;
  const auto found = b.last_release.find(key);
  return found == b.last_release.end() || found->second < then.clock;
}

bool others_never_release() {
  const bool is_alone = block->gang == nullptr || block->gang->size() == 1;
  return is_alone && blocks().running.size() <= 1 && blocks().last_release.empty();
}

/// Extends a clock by the accesses of a thread and by the accesses that the thread has acquired.
static void add_clocks(ClockMap& all, const Thread& thread) {
  const Block& b = *block;
  join(all, acquired());
  any_of_known(
      updated_clocks(thread), static_cast<std::uint16_t>(thread.rank),
      [&](const SyncVariable& variable, std::uint32_t releases) {
        variable.for_each(releases, [&](auto operation, auto number, const Release& r) {
          BlockClock& known = all[key_of(operation, number)];
          join(known, {.all = r.block, .own = {{r.thread, r.own}}, .gang_waits = r.gang_waits});
          if (r.fences != nullptr)
            for (std::uint16_t other = 0; other < r.fences->size(); ++other)
              join(known.own[other], (*r.fences)[other]);
          const unsigned first = r.thread / warp_size * warp_size;
          for (unsigned lane = first; r.warp != 0 && lane < first + warp_size; ++lane)
            join(known.own[static_cast<std::uint16_t>(lane)], r.warp);
        });
        return false;
      });
  BlockClock& here = all[key_of(b.launch->operation, b.number)];
  join(here, {b.barrier_clock, {{static_cast<std::uint16_t>(thread.rank), b.clock}}});
  // The accesses of the warp's lanes are included up to its last operation of all lanes.
  if (const Warp& warp = *thread.warp; warp.epoch > 0)
    for (std::uint32_t rest = thread.rank / warp_size * warp_size, last = rest + warp_size;
         rest < std::min(last, b.launch->threads); ++rest)
      join(here.own[static_cast<std::uint16_t>(rest)], warp.clock);
}

/// Extends a clock by the accesses that happen before the last barrier of the running block's gang.
static void note_gang_waits(ClockMap& all) {
  if (block->gang_waits == 0) return;
  const Launch& launch = *block->launch;
  const std::uint32_t gang = gang_of(launch.configuration, block->number);
  for (std::uint32_t other = 0; other < launch.blocks; ++other)
    if (gang_of(launch.configuration, other) == gang)
      all[key_of(launch.operation, other)].gang_waits = block->gang_waits;
}

/// Whether the host can access the memory at an address.
static bool is_seen_by_host(const void* address) {
  const Allocation* allocation = find_allocation(address);
  return allocation != nullptr && allocation->on_host();
}

/// The entry for a fence that the current thread executes now.
static Fence fence_of(const BlockClocks& c, const Thread& thread) {
  return {.own = block->clock,
          .warp = thread.warp->epoch > 0 ? thread.warp->clock : 0,
          .block = block->barrier_clock,
          .gang_waits = block->gang_waits,
          .known = known_to(c, thread)};
}

/// Makes the release of a thread that results from the thread's last fence of the given width. The
/// release includes the fences of other threads before the last barrier and before the last
/// operation of the full warp.
/// \param is_fence whether the releasing operation counts as a fence before itself
/// \returns false if there was no fence
static bool make_release(BlockClocks& c, const Thread& thread, Width width, bool is_fence,
                         Release& made, VectorClock& known) {
  const Block& b = *block;
  const auto& fences = c.fences[width];
  const Fence fence = is_fence                      ? fence_of(c, thread)
                      : thread.rank < fences.size() ? fences[thread.rank]
                                                    : Fence{};
  const FencesOfWarp& of_warp = fences_of_warp(c, width, thread);
  if (fence.own == 0 && !of_warp.any && c.before[width] == nullptr) return false;
  known = fence.known;
  known.join(c.known_before[width]);
  known.join(of_warp.known);
  made = {
      .own = fence.own,
      .warp = std::max(fence.warp, of_warp.warp),
      .block = std::max(fence.block, of_warp.block),
      .itself = b.clock,
      .gang_waits = std::max({fence.gang_waits, of_warp.gang_waits, c.gang_waits_before[width]}),
      .thread = static_cast<std::uint16_t>(thread.rank),
      .fences = c.before[width]};
  if (!of_warp.any) return true;
  const unsigned first = thread.rank / warp_size * warp_size;
  auto all = made.fences == nullptr ? std::make_shared<std::vector<std::uint32_t>>()
                                    : std::make_shared<std::vector<std::uint32_t>>(*made.fences);
  if (all->size() < first + warp_size) all->resize(first + warp_size);
  for (unsigned lane = 0; lane < warp_size; ++lane) join((*all)[first + lane], of_warp.own[lane]);
  made.fences = std::move(all);
  return true;
}

static SyncVariable* wide_at(std::uintptr_t key) {
  const auto found = variables().wide.find(key);
  return found == variables().wide.end() ? nullptr : found->second;
}

static std::uint32_t stores_at(std::uintptr_t key) {
  const auto found = variables().stores.find(key);
  return found == variables().stores.end() ? 0 : found->second;
}

/// Whether the block has made releases of block scope at an address, and no store has replaced
/// them.
static bool has_narrow(const BlockClocks& c, std::uintptr_t key) {
  const auto found = c.narrow.find(key);
  return found != c.narrow.end() && found->second.stores == stores_at(key);
}

/// The variable at an address for operations of block scope. The variable includes the wider
/// releases of the block's threads.
static SyncVariable& narrow_at(BlockClocks& c, std::uintptr_t key, std::size_t bytes) {
  Narrow& narrow = c.narrow[key];
  if (narrow.variable == nullptr || narrow.stores != stores_at(key)) {
    narrow = {variables().add(reinterpret_cast<const void*>(key), bytes), stores_at(key)};
    if (const SyncVariable* const all = wide_at(key); all != nullptr)
      narrow.variable->copy_releases(*all, block->launch->operation, block->number);
  }
  return *narrow.variable;
}

/// Whether an address lies in shared memory of the running block or of its gang.
static bool is_in_shared(std::uintptr_t key) {
  const auto* address = reinterpret_cast<const char*>(key);
  const auto is_in = [&](const char* area) {
    return area != nullptr && static_cast<std::size_t>(area - address) - 1 < thread_area_bytes();
  };
  if (is_in(thread_area_end())) return true;
  const Gang* const gang = block->gang;
  for (unsigned rank = 0; gang != nullptr && rank < gang->size(); ++rank)
    if (is_in(gang->thread_area(rank))) return true;
  return false;
}

static SyncVariable& made_wide_at(std::uintptr_t key, std::size_t bytes) {
  SyncVariable*& variable = variables().wide[key];
  if (variable == nullptr) {
    variable = variables().add(reinterpret_cast<const void*>(key), bytes);
    if (is_in_shared(key)) variables().in_shared.push_back(key);
  }
  return *variable;
}

static void replace_releases(BlockClocks& c, std::uintptr_t key) {
  if (variables().wide.erase(key) + c.narrow.count(key) > 0) ++variables().stores[key];
}

void forget_releases_at(const void* address) {
  const auto word = reinterpret_cast<std::uintptr_t>(address) / 4 * 4;
  BlockClocks& c = clocks();
  for (const std::uintptr_t key : {word, word + 2}) replace_releases(c, key);
  const std::uintptr_t wider = word / 8 * 8;
  const SyncVariable* const other = wider == word ? nullptr : wide_at(wider);
  if (other != nullptr && other->bytes() > 4) replace_releases(c, wider);
}

static void release(SyncVariable& variable, const VectorClock& known, Release made) {
  const Block& b = *block;
  if (host_sees_memory()) {
    const std::scoped_lock lock(clock_mutex());
    join(variable.clocks_of_host, acquired());
  }
  const Configuration& c = b.launch->configuration;
  variable.release(b.launch->operation, b.number, std::move(made), known, gang_of(c, b.number), c);
}

static void acquire(SyncVariable& variable, BlockClocks& c, const Thread& thread) {
  if (variable.releases() == 0) return;
  VectorClock& mine = clock_of(c, thread);
  mine.join(variable.known);
  mine.raise(&variable, variable.releases());
  if (variable.clocks_of_host.empty()) return;
  const std::scoped_lock lock(clock_mutex());
  join(acquired(), variable.clocks_of_host);
}

/// Increases the block's clock after a release, so that the release does not cover later accesses.
static void note_release() {
  Block& b = *block;
  last_release = b.clock++;
}

static bool is_store(Kind kind) { return kind == volatile_write || kind == atomic_store; }

void acquire_at(const void* address, std::size_t bytes, Kind kind, bool narrow) {
  if (is_store(kind)) return;
  Block& b = *block;
  const Thread& thread = *b.current;
  const DeviceAtWork at_work;
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  BlockClocks& c = updated_clocks(thread);
  if (SyncVariable* const wide = wide_at(key); !narrow && wide != nullptr)
    acquire(*wide, c, thread);
  if (narrow || has_narrow(c, key)) acquire(narrow_at(c, key, bytes), c, thread);
  if (narrow || !host_sees_memory()) return;
  const std::scoped_lock lock(clock_mutex());
  Acquired& mine = acquired_by_block();
  const Look now{address, next_barrier(thread)};
  const auto [last, is_first] =
      mine.looks.try_emplace(static_cast<std::uint16_t>(thread.rank), now);
  if (!is_first) acquire_from_host(mine, std::exchange(last->second, now));
}

void release_at(const void* address, std::size_t bytes, Kind kind, bool narrow, Among releases) {
  if (!is_write(kind)) return;
  Block& b = *block;
  Thread& thread = *b.current;
  const DeviceAtWork at_work;
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  BlockClocks& c = updated_clocks(thread);
  thread.fenced = std::max(thread.fenced, releases);
  if (is_store(kind)) replace_releases(c, key);
  Release far, near;
  VectorClock known_far, known_near;
  const bool is_wide =
      !narrow && make_release(c, thread, wide, releases > Among::block, far, known_far);
  // A fence of block scope takes effect within the block, even if the atomic operation has a wider
  // scope.
  const bool is_near =
      make_release(c, thread, in_block, releases != Among::nobody, near, known_near) &&
      (narrow || has_narrow(c, key) || !is_wide || near.own != far.own ||
       near.fences != far.fences);
  if (is_near) release(narrow_at(c, key, bytes), known_near, std::move(near));
  if (is_wide) release(made_wide_at(key, bytes), known_far, std::move(far));
  if (!is_near && !is_wide) return;
  if (is_wide && thread.fenced == Among::system && is_seen_by_host(address)) {
    ClockMap all;
    add_clocks(all, thread);
    note_gang_waits(all);
    publish_to_host(address, all);
  }
  blocks().last_release[key_of(b.launch->operation, b.number)] = b.clock;
  keeps_each_warp = record().kernels[b.launch->record].releases = true;
  note_release();
}

void fence(Among among) {
  if (block == nullptr || block->current == nullptr) return;
  catch_up();
  Block& b = *block;
  Thread& thread = *b.current;
  thread.fenced = std::max(thread.fenced, among);
  const DeviceAtWork at_work;
  BlockClocks& c = updated_clocks(thread);
  const Fence now = fence_of(c, thread);
  last_release = b.clock++;
  for (const Width width : {in_block, wide}) {
    if (width == wide && among == Among::block) break;
    fences_of_warp(c, width, thread);
    if (c.fences[width].size() <= thread.rank) c.fences[width].resize(b.launch->threads);
    c.fences[width][thread.rank] = now;
    c.fenced[width] = true;
  }
}

std::shared_ptr<const Inheritance> inheritance(const Thread& thread) {
  Block& b = *block;
  const std::scoped_lock lock(clock_mutex());
  const auto older = inheritances().find(b.launch->operation);
  auto made = older == inheritances().end() ? std::make_shared<Inheritance>()
                                            : std::make_shared<Inheritance>(*older->second);
  add_clocks(made->known, thread);
  if (b.gang_waits > 0)
    made->gangs.push_back({b.launch->operation, b.launch->configuration,
                           gang_of(b.launch->configuration, b.number), b.gang_waits});
  ++b.clock;
  return made;
}

void child_begins(std::uint32_t operation, std::shared_ptr<const Inheritance> inheritance) {
  const std::scoped_lock lock(clock_mutex());
  inheritances()[operation] = std::move(inheritance);
}

void child_ends(std::uint32_t operation) {
  const std::scoped_lock lock(clock_mutex());
  inheritances().erase(operation);
}

void forget_releases_before(Launch& launch) {
  static auto& begun = indestructible<std::vector<std::uint32_t>>();
  drop_old_host_clocks();
  std::erase_if(begun, [&](std::uint32_t other) {
    return precedes_later_operations(other, launch.operation);
  });
  // A child launch may still acquire releases of its ancestors, and of other children of these
  // ancestors.
  const bool is_child = has_parent(launch.operation);
  if (!is_child && begun.empty()) {
    variables().wide.clear();
    variables().in_shared.clear();
    variables().stores.clear();
    arrivals().clear();
    gang_barriers().clear();
    clocks_of_operations().clear();
    variables().all.clear();
    forget_variables_of_blocks();
    blocks().last_release.clear();
  }
  // Releases of blocks that happen before the launch are no longer needed.
  std::erase_if(blocks().last_release, [&](const auto& block) {
    return happens_before_operation(operation_in(block.first), launch.operation);
  });
  std::copy_if(begun.begin(), begun.end(), std::back_inserter(launch.beside),
               [&](std::uint32_t other) { return !happens_before(other, launch.operation); });
  if (!is_child) begun.push_back(launch.operation);
}

void clear_block_clocks(bool runs) {
  BlockClocks& c = clocks();
  for (const std::uint16_t rank : c.changed) c.threads[rank].clear();
  c = {.all = {}, .threads = std::move(c.threads)};
  last_release = 0;
  keeps_each_warp = false;
  std::erase_if(variables().in_shared, [](std::uintptr_t key) {
    if (!is_shared_of(reinterpret_cast<const void*>(key), block->gang_rank)) return false;
    variables().wide.erase(key);
    return true;
  });
  const std::scoped_lock lock(clock_mutex());
  std::erase_if(arrivals(),
                [](const auto& arrival) { return is_shared_of(arrival.first, block->gang_rank); });
  if (!runs) return;
  const Launch& launch = *block->launch;
  keeps_each_warp = record().kernels[launch.record].releases;
  blocks().running.push_back(key_of(launch.operation, block->number));
}

/// The joined vector clocks of all threads of the block.
static VectorClock known_to_block(const BlockClocks& c) {
  VectorClock all = c.all;
  for (const std::uint16_t rank : c.changed) all.join(c.threads[rank]);
  for (const auto& warp : c.warps) all.join(warp.clock);
  return all;
}

void block_runs_no_more() {
  const std::scoped_lock lock(clock_mutex());
  const BlockClocks& c = clocks();
  if (block->launch->beside.size() > 1 && any_is_known(c)) {
    clocks_of_operations()[block->launch->operation].join(known_to_block(c));
  }
  std::erase(blocks().running, key_of(block->launch->operation, block->number));
}

/// A release of all accesses that a thread has made so far. No fence is required.
static Release release_of_all(const Thread& thread) {
  const Block& b = *block;
  return {.own = b.clock,
          .warp = thread.warp->epoch > 0 ? thread.warp->clock : 0,
          .block = b.barrier_clock,
          .itself = b.clock,
          .gang_waits = b.gang_waits,
          .thread = static_cast<std::uint16_t>(thread.rank)};
}

/// The key of the running block's gang, formed from the operation and the index of the gang.
static std::uint64_t key_of_gang() {
  const Launch& launch = *block->launch;
  return key_of(launch.operation, gang_of(launch.configuration, block->number));
}

/// The next barrier of the gang of the running block. The caller holds the mutex.
static GangBarrier& gang_barrier() { return gang_barriers()[{key_of_gang(), block->gang_waits}]; }

/// Lets a thread arrive at the barrier of its gang. Another thread of the block arrived at this
/// barrier earlier and has not waited yet.
static void arrive_after_others(const BlockClocks& c, const Thread& thread) {
  const Release all = release_of_all(thread);
  const bool has_met = std::max(all.warp, all.block) >= c.first_arrival;
  if (!has_met && !any_is_known(c)) return;
  const std::scoped_lock lock(clock_mutex());
  GangBarrier& barrier = gang_barrier();
  barrier.known.join(known_to(c, thread));
  if (!has_met) return;
  if (barrier.late == nullptr) barrier.late = variables().add();
  const Block& b = *block;
  const Configuration& configuration = b.launch->configuration;
  Release met = all;
  met.own = met.itself = 0;  // phases already order the thread's own accesses
  barrier.late->release(b.launch->operation, b.number, std::move(met), {},
                        gang_of(configuration, b.number), configuration);
}

static void note_fences_on_arrival(BlockClocks& c, const Thread& thread) {
  for (const Width width : {in_block, wide}) {
    const std::vector<Fence>& fences = c.fences[width];
    if (thread.rank >= fences.size()) continue;
    c.on_arrival[width].resize(fences.size());
    c.on_arrival[width][thread.rank] = fences[thread.rank];
  }
}

void arrives_at_gang(const Thread& thread) {
  const DeviceAtWork at_work;
  BlockClocks& c = updated_clocks(thread);
  note_fences_on_arrival(c, thread);
  if (block->arrives_split) return arrive_after_others(c, thread);
  c.first_arrival = block->clock;
  keeps_each_warp = record().kernels[block->launch->record].releases = true;
  if (!any_is_known(c)) return;
  // The clocks of threads that have not arrived yet may be added early, because they only grow. The
  // clocks of threads that already wait do not change.
  const std::scoped_lock lock(clock_mutex());
  gang_barrier().known.join(known_to_block(c));
}

void arrives_at_gang() {
  const DeviceAtWork at_work;
  BlockClocks& c = clocks();
  if (!block->arrives_split) {
    if (!is_in_gang() || !any_is_known(c)) return;
    const std::scoped_lock lock(clock_mutex());
    gang_barrier().known.join(known_to_block(c));
    return;
  }
  // Threads that have not yet arrived do so now and wait.
  for (unsigned rank = 0; rank < block->launch->threads; ++rank)
    if (const Thread& thread = block->threads[rank];
        !thread.has_arrived && thread.state != State::finished)
      arrive_after_others(updated_clocks(thread), thread);
}

void has_waited_for_gang() {
  const bool is_split = block->arrives_split;
  if (!is_in_gang() && !is_split) return;
  const DeviceAtWork at_work;
  BlockClocks& c = is_split ? updated_clocks(block->threads[0]) : clocks();
  if (is_split) {
    for (unsigned rank = 0; rank < block->launch->threads; ++rank)
      if (const Thread& thread = block->threads[rank]; !thread.has_arrived)
        note_fences_on_arrival(c, thread);
    for (const Width width : {in_block, wide}) {
      if (c.on_arrival[width].empty()) continue;
      // Threads may have synchronised at a barrier of the block after their arrival.
      const FenceClocks before = c.before[width];
      note_fences_before(c, width, c.on_arrival[width]);
      c.before[width] = latest(c.before[width], before);
    }
  }
  const std::scoped_lock lock(clock_mutex());
  const std::pair key{key_of_gang(), block->gang_waits};
  const auto found = gang_barriers().find(key);
  if (found == gang_barriers().end()) return;
  const GangBarrier& barrier = found->second;
  c.all.join(barrier.known);
  if (barrier.late != nullptr) c.all.raise(barrier.late, barrier.late->releases());
  // All blocks have passed the barrier before the previous one.
  if (key.second > 1) gang_barriers().erase({key.first, key.second - 2});
}

void lanes_ordered(Warp& warp, unsigned lanes) {
  end_trial();
  const DeviceAtWork at_work;
  const unsigned number = warp.threads->rank / warp_size;
  BlockClocks& c = updated_clocks(*warp.threads);
  SyncVariable*& variable = c.meetings[std::uint64_t{number} << 32 | lanes];
  if (variable == nullptr) variable = variables().add();
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const Thread& thread = warp.threads[std::countr_zero(rest)];
    release(*variable, known_to(c, thread), release_of_all(thread));
  }
  // A lane that has ended takes part in the operation, but acquires nothing.
  for (unsigned rest = lanes & ~warp.finished; rest != 0; rest &= rest - 1)
    acquire(*variable, c, warp.threads[std::countr_zero(rest)]);
  note_release();
}

void arrives_at(const void* barrier) {
  end_trial();
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  BlockClocks& c = updated_clocks(thread);
  Arrivals& at = [&]() -> Arrivals& {
    const std::scoped_lock lock(clock_mutex());  // other blocks may erase arrivals when they begin
    return arrivals()[barrier];
  }();
  if (at.variable == nullptr) at.variable = variables().add();
  release(*at.variable, known_to(c, thread), release_of_all(thread));
  note_release();
}

void phase_ends(const void* barrier) {
  end_trial();
  const DeviceAtWork at_work;
  const std::scoped_lock lock(clock_mutex());
  Arrivals& at = arrivals()[barrier];
  if (at.variable == nullptr) return;  // only bytes have arrived, and no thread
  at.before = at.variable->releases();
  at.known_before = at.variable->known;
}

void has_waited_at(const void* barrier) {
  end_trial();
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  BlockClocks& c = updated_clocks(thread);
  const std::scoped_lock lock(clock_mutex());
  const auto found = arrivals().find(barrier);
  if (found == arrivals().end() || found->second.before == 0) return;
  VectorClock& mine = clock_of(c, thread);
  mine.join(found->second.known_before);
  mine.raise(found->second.variable, found->second.before);
}

}  // namespace cuda_on_cpu::analysis
