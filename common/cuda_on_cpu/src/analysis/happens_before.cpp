/// \file
/// The happens-before order of accesses: barriers, warps, fences with atomics, streams and flags.

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../immortal.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"
#include "../runtime/generations.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "knowledge.hpp"
#include "lessons.hpp"
#include "vector_clocks.hpp"

namespace cuda_on_cpu::analysis {

__thread std::uint32_t last_release = 0;
__thread bool keeps_each_warp = false;

namespace {

/// All synchronisation variables. Their addresses stay valid, because vector clocks refer to them.
/// `wide` contains the atomic variables that order several blocks, by address.
struct Variables {
  std::deque<SyncVariable> all;
  std::unordered_map<std::uintptr_t, SyncVariable*> wide;

  SyncVariable* add(const void* address = nullptr, std::size_t bytes = 0) {
    return &all.emplace_back(address, bytes);
  }
};

Variables& variables() {
  static auto& variables = immortal<Variables>();
  return variables;
}

/// The last release of each block that has ended, and the running blocks.
struct Blocks {
  std::unordered_map<std::uint64_t, std::uint32_t> last_release;  // by operation and block
  std::vector<std::uint64_t> running;
};

Blocks& blocks() {
  static auto& blocks = immortal<Blocks>();
  return blocks;
}

/// The last fence of a thread: it covers the accesses up to these clocks of the block.
struct Fence {
  std::uint32_t own = 0;    ///< of the fence
  std::uint32_t warp = 0;   ///< of its warp's last meeting
  std::uint32_t block = 0;  ///< of its block's last barrier
  VectorClock known = {};   ///< what it had acquired
};

/// Fences of block scope, and fences of wider scope.
enum Width { in_block, wide, widths };

/// The vector clocks of the threads of a block. They contain the order that barriers do not give.
struct BlockClocks {
  struct OfWarp {
    VectorClock clock;  ///< of all its lanes, since they met last
    std::uint32_t epoch = 0;
  };

  VectorClock all;            ///< of all threads, since the last barrier
  std::uint32_t barrier = 0;  ///< the clock of that barrier
  std::vector<OfWarp> warps = {};
  std::vector<VectorClock> threads = {};
  std::vector<std::uint16_t> changed = {};  ///< threads whose clocks are not empty
  std::vector<Fence> fences[widths] = {};
  bool fenced[widths] = {};          ///< whether one did since the last barrier
  FenceClocks before[widths] = {};   ///< fences before that barrier; null if there are none
  VectorClock known_before[widths] = {};  ///< what was known at these fences
  std::unordered_map<std::uintptr_t, SyncVariable*> narrow = {};  ///< that count in the block only
  std::unordered_map<std::uint64_t, SyncVariable*> meetings = {};  // of lanes: by warp and mask
};

BlockClocks& clocks() {
  thread_local auto& clocks = immortal<BlockClocks>();
  return clocks;
}

bool any_is_known(const BlockClocks& c) {
  return !c.all.empty() || !c.changed.empty() || !c.warps.empty();
}

void note_fences_before(BlockClocks& c, Width width) {
  if (!std::exchange(c.fenced[width], false)) return;
  auto all = std::make_shared<std::vector<std::uint32_t>>(c.fences[width].size());
  for (std::size_t i = 0; i < all->size(); ++i) (*all)[i] = c.fences[width][i].own;
  for (const Fence& fence : c.fences[width]) c.known_before[width].join(fence.known);
  c.before[width] = std::move(all);
}

/// Merges the vector clocks of all threads that have synchronised since the last call, by a barrier
/// of the block or an operation of the full warp.
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
  auto& [clock, epoch] = c.warps[warp];
  if (epoch == thread.warp->epoch) return c;
  const bool is_first = std::exchange(epoch, thread.warp->epoch) == ~0u;
  if (is_first) return c;
  std::erase_if(c.changed, [&](std::uint16_t rank) {
    if (rank / warp_size != warp) return false;
    clock.join(c.threads[rank]);
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
    updated_clocks(thread);  // which notes when its warp met last
  }
  return own;
}

/// Calls `look(variable, releases)` for all acquired releases of a thread, until it returns true.
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
  static auto& arrivals = immortal<std::unordered_map<const void*, Arrivals>>();
  return arrivals;
}

/// The joined clocks of the blocks of a gang at its barrier, by operation, gang and phase.
std::map<std::pair<std::uint64_t, std::uint32_t>, VectorClock>& gang_clocks() {
  static auto& clocks = immortal<std::map<std::pair<std::uint64_t, std::uint32_t>, VectorClock>>();
  return clocks;
}

/// The clocks of concurrent launches at the end of their blocks, by operation. Operations after
/// such a launch inherit them.
std::unordered_map<std::uint32_t, VectorClock>& clocks_of_operations() {
  static auto& clocks = immortal<std::unordered_map<std::uint32_t, VectorClock>>();
  return clocks;
}

/// The gang of a block of a launch.
std::uint32_t gang_of(const Configuration& c, std::uint32_t number) {
  if (c.cooperative) return 0;
  const unsigned x = number % c.grid.x / c.cluster.x;
  const unsigned y = number / c.grid.x % c.grid.y / c.cluster.y;
  const unsigned z = number / (c.grid.x * c.grid.y) / c.cluster.z;
  return (z * (c.grid.y / c.cluster.y) + y) * (c.grid.x / c.cluster.x) + x;
}

/// A flag that a thread has read, and the phase of the gang at that time.
struct Look {
  const void* flag;
  std::uint16_t phase;  ///< of its gang
};

/// The clocks that a block has acquired from flags of the host.
struct Learned {
  KnowledgeOf all = {};
  std::map<std::uint16_t, Look> looks = {};  ///< the latest of each thread
};

/// The clocks that the blocks of a gang have acquired from the host, by phase. Each entry includes
/// the earlier entries.
using LearnedInGang = std::map<std::uint16_t, KnowledgeOf>;

/// The clocks that blocks of concurrent launches have acquired from the host.
struct LearnedInLaunch {
  std::unordered_map<std::uint64_t, Learned> of_blocks;
  std::unordered_map<std::uint64_t, LearnedInGang> of_gangs;
};

LearnedInLaunch& learned_in_launch() {
  static auto& learned = immortal<LearnedInLaunch>();
  static std::uint32_t launch = 0;
  if (launch != block->launch->beside.front()) {
    learned = {};
    launch = block->launch->beside.front();
  }
  return learned;
}

/// The entries of the running block, and of its gang.
Learned& lessons_of_block() {
  return learned_in_launch().of_blocks[key_of(block->launch->operation, block->number)];
}
LearnedInGang& lessons_of_gang() {
  const std::uint32_t gang = gang_of(block->launch->configuration, block->number);
  return learned_in_launch().of_gangs[key_of(block->launch->operation, gang)];
}

KnowledgeOf& learned() { return lessons_of_block().all; }

bool is_in_gang() { return block->gang != nullptr && block->gang->size() > 1; }

/// Adds clocks to the gang of the running block. They apply after the barrier at the end of a
/// phase.
void learn_in_gang(std::uint16_t phase, const KnowledgeOf& knowledge) {
  LearnedInGang& phases = lessons_of_gang();
  const auto [here, is_new] = phases.try_emplace(phase);
  if (is_new && here != phases.begin()) here->second = std::prev(here)->second;
  for (auto later = here; later != phases.end(); ++later) learn(later->second, knowledge);
  constexpr std::size_t most = 3;  // no block is farther behind
  if (phases.size() > most) phases.erase(phases.begin());
}

/// Acquires the releases of the host at the flags that threads of a block have read. The host may
/// have made them immediately before the read. The caller holds the mutex.
void learn_from_host(Learned& learned, const Look& look) {
  const KnowledgeOf* const publication = published_by_host(look.flag);
  if (publication == nullptr) return;
  learn(learned.all, *publication);
  if (is_in_gang()) learn_in_gang(look.phase, *publication);
}
void learn_from_host(Learned& learned) {
  for (const auto& [thread, look] : learned.looks) learn_from_host(learned, look);
}

bool is_known_by(const KnowledgeOf& knowledge, const Event& then) {
  return is_known(knowledge, then) || is_done_before_known(then.operation, knowledge);
}

/// Whether a block of the running gang had acquired an access before the last barrier.
bool is_known_in_gang(const Event& then) {
  if (!is_in_gang()) return false;
  const std::uint32_t operation = block->launch->operation;
  const Configuration& c = block->launch->configuration;
  for (auto& [key, learned] : learned_in_launch().of_blocks)
    if (operation_in(key) == operation &&
        gang_of(c, static_cast<std::uint32_t>(key)) == gang_of(c, block->number))
      learn_from_host(learned);
  const LearnedInGang& phases = lessons_of_gang();
  const auto now = phases.lower_bound(static_cast<std::uint16_t>(block->gang->phase()));
  return now != phases.begin() && is_known_by(std::prev(now)->second, then);
}


/// Whether a thread of the running block has acquired a release that covers an access.
bool is_acquired(const BlockClocks& c, const Event& then, std::uint16_t then_thread,
                 std::uint16_t thread, const void* address) {
  return any_of_known(c, thread, [&](const SyncVariable& variable, std::uint32_t releases) {
    return variable.makes_known(releases, then, then_thread, address);
  });
}

/// The same for an access that several threads have made.
bool is_acquired(const Event& then, unsigned lanes, unsigned warps, const Event& now,
                 const void* address) {
  BlockClocks& c = updated_clocks(block->threads[now.thread]);
  if (!any_is_known(c)) return false;
  const bool all_are_known = [&] {
    for (unsigned rest = warps; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      // Of warps before the last one it is known that they read, and not by which lanes.
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
  if (then.operation != block->launch->operation || !is_in_gang()) return false;
  const std::uint32_t gang = gang_of(block->launch->configuration, then.block);
  return any_of_known(c, now.thread, [&](const SyncVariable& variable, std::uint32_t releases) {
    return variable.makes_gang_known(releases, then.operation, gang, then.phase);
  });
}

/// Whether an access of another operation happens before an access of the running block: by the
/// order of streams, or by flags of a concurrent grid or of an operation before such a grid.
bool is_ordered_beside(const Event& then, unsigned lanes, unsigned warps, const Event& now,
                       const void* address) {
  if (then.block != no_block && is_acquired(then, lanes, warps, now, address)) return true;
  const std::vector<std::uint32_t>& beside = block->launch->beside;
  if (std::find(beside.begin(), beside.end(), then.operation) != beside.end()) return false;
  const BlockClocks& c = clocks();
  if (any_of_known(c, now.thread, [&](const SyncVariable& variable, std::uint32_t releases) {
        return variable.is_done_before(then.operation, releases);
      }))
    return true;
  const std::scoped_lock lock(knowledge_mutex());
  learn_from_host(lessons_of_block());
  return is_known_by(learned(), then) || is_known_in_gang(then);
}

/// A gang of a grid, and the number of its completed barriers.
struct Progress {
  std::uint32_t operation;
  Configuration configuration;
  std::uint32_t gang;
  std::uint16_t phase;
};

}  // namespace

struct Inheritance {
  KnowledgeOf known = {};
  std::vector<Progress> gangs = {};
};

namespace {

/// The clocks that unfinished operations inherit from the threads of kernels that requested them.
std::unordered_map<std::uint32_t, std::shared_ptr<const Inheritance>>& inheritances() {
  static auto& all =
      immortal<std::unordered_map<std::uint32_t, std::shared_ptr<const Inheritance>>>();
  return all;
}

/// Whether an access happens before an operation by the clock of the thread that requested the
/// operation.
bool is_inherited(const Event& then, std::uint32_t operation) {
  const std::scoped_lock lock(knowledge_mutex());
  const auto found = inheritances().find(operation);
  if (found == inheritances().end()) return false;
  const auto& [known, gangs] = *found->second;
  const auto is_behind = [&](const Progress& gang) {
    return gang.operation == then.operation && then.phase != gang.phase &&
           gang_of(gang.configuration, then.block) == gang.gang;
  };
  return is_known(known, then) || std::any_of(gangs.begin(), gangs.end(), is_behind) ||
         is_done_before_known(then.operation, known);
}

}  // namespace

bool happens_before_operation(std::uint32_t first, std::uint32_t second) {
  struct Known {
    std::uint32_t first = 0, second = 0;
  };
  thread_local Known known[64];  // orders do not go away; a pair of the same has one
  Known& slot = known[first % 64];
  if (slot.first == first && slot.second == second) return true;
  if (!happens_before(first, second)) return false;
  slot = {first, second};
  return true;
}

/// Whether a launch before an operation had acquired a release that covers an access.
static bool is_acquired_before(const Event& then, bool is_single, std::uint32_t operation,
                               const void* address) {
  if (clocks_of_operations().empty()) return false;
  const std::scoped_lock lock(knowledge_mutex());
  for (const auto& [launch, clock] : clocks_of_operations())
    if (launch != operation && happens_before(launch, operation) &&
        std::any_of(clock.begin(), clock.end(), [&](const auto& known) {
          return known.first->is_done_before(then.operation, known.second) ||
                 (is_single && known.first->makes_known(known.second, then, then.thread, address));
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
           is_inherited(then, now.operation) || is_taught(then, now.operation) ||
           (now.block != no_block && is_ordered_beside(then, lanes, warps, now, address));
  if (now.block == no_block) return true;
  if (then.block != now.block) {
    const Configuration& c = block->launch->configuration;
    if (gang_of(c, then.block) == gang_of(c, now.block) && then.phase != now.phase) return true;
    return is_acquired(then, lanes, warps, now, address);
  }
  if (then.clock <= block->barrier_clock) return true;
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

/// Adds the accesses of a thread, and the accesses that it has acquired.
static void add_knowledge(KnowledgeOf& all, const Thread& thread) {
  const Block& b = *block;
  learn(all, learned());
  any_of_known(updated_clocks(thread), static_cast<std::uint16_t>(thread.rank),
               [&](const SyncVariable& variable, std::uint32_t releases) {
                 variable.for_each(releases, [&](auto operation, auto number, const Release& r) {
                   Knowledge& known = all[key_of(operation, number)];
                   learn(known, {.all = r.block, .own = {{r.thread, r.own}}, .phase = r.phase});
                   if (r.fences != nullptr)
                     for (std::uint16_t other = 0; other < r.fences->size(); ++other)
                       learn(known.own[other], (*r.fences)[other]);
                   const unsigned first = r.thread / warp_size * warp_size;
                   for (unsigned lane = first; r.warp != 0 && lane < first + warp_size; ++lane)
                     learn(known.own[static_cast<std::uint16_t>(lane)], r.warp);
                 });
                 return false;
               });
  Knowledge& here = all[key_of(b.launch->operation, b.number)];
  learn(here, {b.barrier_clock, {{static_cast<std::uint16_t>(thread.rank), b.clock}}});
  if (const Warp& warp = *thread.warp; warp.epoch > 0)  // for its warp, up to where the warp met
    for (std::uint32_t rest = thread.rank / warp_size * warp_size, last = rest + warp_size;
         rest < std::min(last, b.launch->threads); ++rest)
      learn(here.own[static_cast<std::uint16_t>(rest)], warp.clock);
}

/// Adds the accesses that the barriers of its gang order before the running block.
static void note_phase(KnowledgeOf& all) {
  if (!is_in_gang()) return;
  const Launch& launch = *block->launch;
  const std::uint32_t gang = gang_of(launch.configuration, block->number);
  for (std::uint32_t other = 0; other < launch.blocks; ++other)
    if (gang_of(launch.configuration, other) == gang)
      all[key_of(launch.operation, other)].phase = static_cast<std::uint16_t>(block->gang->phase());
}

/// Whether the host can access an address.
static bool is_seen_by_host(const void* address) {
  const Allocation* allocation = find_allocation(address);
  return allocation != nullptr && allocation->on_host();
}

/// Makes a release of a thread from its last fence of a width, and from fences of other threads
/// before the last barrier.
/// \returns false if there was no fence
static bool make_release(const BlockClocks& c, const Thread& thread, Width width, Release& made,
                         VectorClock& known) {
  const Block& b = *block;
  const auto& fences = c.fences[width];
  const Fence fence = thread.rank < fences.size() ? fences[thread.rank] : Fence{};
  known = fence.known;
  known.join(c.known_before[width]);
  made = {.own = fence.own,
          .warp = fence.warp,
          .block = fence.block,
          .itself = b.clock,
          .thread = static_cast<std::uint16_t>(thread.rank),
          .phase = static_cast<std::uint16_t>(b.gang == nullptr ? 0 : b.gang->phase()),
          .fences = c.before[width]};
  // Lanes of its warp may have had theirs before the warp met.
  const unsigned first = thread.rank / warp_size * warp_size;
  const Warp& warp = *thread.warp;
  std::shared_ptr<std::vector<std::uint32_t>> more;
  for (unsigned lane = first; warp.epoch > 0 && lane < first + warp_size && lane < fences.size();
       ++lane) {
    const std::uint32_t clock = fences[lane].own;
    if (clock <= fence.warp || clock <= fence.block || clock > warp.clock || lane == thread.rank)
      continue;
    if (more == nullptr)
      more = made.fences == nullptr ? std::make_shared<std::vector<std::uint32_t>>(fences.size())
                                    : std::make_shared<std::vector<std::uint32_t>>(*made.fences);
    if (more->size() <= lane) more->resize(lane + 1);
    known.join(fences[lane].known);
    (*more)[lane] = std::max((*more)[lane], clock);
  }
  if (more != nullptr) made.fences = std::move(more);
  return fence.own != 0 || made.fences != nullptr;
}

/// The variable at an address for operations of block scope. It includes the wider releases of the
/// block's threads.
static SyncVariable& narrow_at(BlockClocks& c, std::uintptr_t key, std::size_t bytes) {
  SyncVariable*& variable = c.narrow[key];
  if (variable == nullptr) {
    variable = variables().add(reinterpret_cast<const void*>(key), bytes);
    if (const auto found = variables().wide.find(key); found != variables().wide.end())
      variable->copy_releases(*found->second, block->launch->operation, block->number);
  }
  return *variable;
}

static SyncVariable& wide_at(std::uintptr_t key, std::size_t bytes) {
  SyncVariable*& variable = variables().wide[key];
  if (variable == nullptr) variable = variables().add(reinterpret_cast<const void*>(key), bytes);
  return *variable;
}

static void release(SyncVariable& variable, const VectorClock& known, Release made) {
  const Block& b = *block;
  variable.known.join(known);
  if (host_sees_memory()) {
    const std::scoped_lock lock(knowledge_mutex());
    learn(variable.known_of_host, learned());
  }
  const std::uint32_t gang = is_in_gang() ? gang_of(b.launch->configuration, b.number) : 0;
  variable.release(b.launch->operation, b.number, std::move(made),
                   is_in_gang() ? &gang : nullptr);
}

static void acquire(SyncVariable& variable, BlockClocks& c, const Thread& thread) {
  if (variable.releases() == 0) return;
  VectorClock& mine = clock_of(c, thread);
  mine.join(variable.known);
  mine.raise(&variable, variable.releases());
  if (variable.known_of_host.empty()) return;
  const std::scoped_lock lock(knowledge_mutex());
  learn(learned(), variable.known_of_host);
}

/// Increases the clock, so that later accesses are not part of a release.
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
  const auto found = variables().wide.find(key);
  if (!narrow && found != variables().wide.end()) acquire(*found->second, c, thread);
  if (narrow || c.narrow.contains(key)) acquire(narrow_at(c, key, bytes), c, thread);
  if (narrow || !host_sees_memory()) return;
  const std::scoped_lock lock(knowledge_mutex());
  Learned& mine = lessons_of_block();
  const Look now{address, static_cast<std::uint16_t>(b.gang == nullptr ? 0 : b.gang->phase())};
  const auto [last, is_first] =
      mine.looks.try_emplace(static_cast<std::uint16_t>(thread.rank), now);
  if (!is_first) learn_from_host(mine, std::exchange(last->second, now));
}

void release_at(const void* address, std::size_t bytes, Kind kind, bool narrow) {
  if (!is_write(kind)) return;
  Block& b = *block;
  const Thread& thread = *b.current;
  const DeviceAtWork at_work;
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  BlockClocks& c = updated_clocks(thread);
  const bool has_narrow = narrow || c.narrow.contains(key);
  if (is_store(kind)) {  // who reads what is stored reads nothing of what was released before
    variables().wide.erase(key);
    c.narrow.erase(key);
  }
  Release far, near;
  VectorClock known_far, known_near;
  const bool is_wide = !narrow && make_release(c, thread, wide, far, known_far);
  // A fence of the block counts in the block, however far the operation itself reaches.
  const bool is_near = make_release(c, thread, in_block, near, known_near) &&
                       (has_narrow || !is_wide || near.own != far.own || near.fences != far.fences);
  if (is_near) release(narrow_at(c, key, bytes), known_near, std::move(near));
  if (is_wide) release(wide_at(key, bytes), known_far, std::move(far));
  if (!is_near && !is_wide) return;
  if (is_wide && thread.fenced == Among::system && is_seen_by_host(address)) {
    KnowledgeOf all;
    add_knowledge(all, thread);
    note_phase(all);
    publish_to_host(address, all);
  }
  blocks().last_release[key_of(b.launch->operation, b.number)] = b.clock;
  record().kernels[b.launch->record].releases = true;
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
  const Fence now{b.clock, thread.warp->epoch > 0 ? thread.warp->clock : 0, b.barrier_clock,
                  known_to(c, thread)};
  last_release = b.clock++;
  for (const Width width : {in_block, wide}) {
    if (width == wide && among == Among::block) break;
    if (c.fences[width].size() <= thread.rank) c.fences[width].resize(b.launch->threads);
    c.fences[width][thread.rank] = now;
    c.fenced[width] = true;
  }
}

std::shared_ptr<const Inheritance> inheritance(const Thread& thread) {
  Block& b = *block;
  const std::scoped_lock lock(knowledge_mutex());
  const auto older = inheritances().find(b.launch->operation);
  auto made = older == inheritances().end() ? std::make_shared<Inheritance>()
                                            : std::make_shared<Inheritance>(*older->second);
  add_knowledge(made->known, thread);
  if (b.gang != nullptr)
    made->gangs.push_back({b.launch->operation, b.launch->configuration,
                           gang_of(b.launch->configuration, b.number),
                           static_cast<std::uint16_t>(b.gang->phase())});
  ++b.clock;
  return made;
}

void child_begins(std::uint32_t operation, std::shared_ptr<const Inheritance> inheritance) {
  const std::scoped_lock lock(knowledge_mutex());
  inheritances()[operation] = std::move(inheritance);
}

void child_ends(std::uint32_t operation) {
  const std::scoped_lock lock(knowledge_mutex());
  inheritances().erase(operation);
}

void forget_releases_before(Launch& launch) {
  struct Begun {
    std::uint32_t operation;
    int device;
  };
  static auto& begun = immortal<std::vector<Begun>>();
  forget_old_lessons();
  std::erase_if(
      begun, [&](const Begun& other) { return happens_before(other.operation, launch.operation); });
  const auto is_elsewhere = [&](const Begun& other) { return other.device != launch.device; };
  // What its ancestors and their kin published may still be asked for.
  const bool is_child = has_parent(launch.operation);
  if (!is_child && std::none_of(begun.begin(), begun.end(), is_elsewhere)) {
    begun.clear();
    variables().wide.clear();
    arrivals().clear();
    gang_clocks().clear();
    clocks_of_operations().clear();
    variables().all.clear();
    blocks().last_release.clear();
  }
  for (const Begun& other : begun)
    if (is_elsewhere(other)) launch.beside.push_back(other.operation);
  if (!is_child) begun.push_back({launch.operation, launch.device});
}

void block_knows_nothing(bool runs) {
  BlockClocks& c = clocks();
  for (const std::uint16_t rank : c.changed) c.threads[rank].clear();
  c = {.all = {}, .threads = std::move(c.threads)};
  last_release = 0;
  keeps_each_warp = false;
  const std::scoped_lock lock(knowledge_mutex());
  std::erase_if(arrivals(),
                [](const auto& arrival) { return is_shared_of(arrival.first, block->gang_rank); });
  if (!runs) return;
  const Launch& launch = *block->launch;
  keeps_each_warp = record().kernels[launch.record].releases;
  blocks().running.push_back(key_of(launch.operation, block->number));
}

void block_runs_no_more() {
  const std::scoped_lock lock(knowledge_mutex());
  const BlockClocks& c = clocks();
  if (block->launch->beside.size() > 1 && any_is_known(c)) {
    VectorClock& all = clocks_of_operations()[block->launch->operation];
    all.join(c.all);
    for (const std::uint16_t rank : c.changed) all.join(c.threads[rank]);
    for (const auto& warp : c.warps) all.join(warp.clock);
  }
  std::erase(blocks().running, key_of(block->launch->operation, block->number));
}

/// A release of all accesses of a thread so far, which requires no fence.
static Release release_of_all(const Thread& thread) {
  const Block& b = *block;
  return {.own = b.clock,
          .warp = thread.warp->epoch > 0 ? thread.warp->clock : 0,
          .block = b.barrier_clock,
          .itself = b.clock,
          .thread = static_cast<std::uint16_t>(thread.rank),
          .phase = static_cast<std::uint16_t>(b.gang == nullptr ? 0 : b.gang->phase())};
}

/// The key of the running block's gang.
static std::uint64_t key_of_gang() {
  const Launch& launch = *block->launch;
  return key_of(launch.operation, gang_of(launch.configuration, block->number));
}

void arrives_at_gang() {
  BlockClocks& c = clocks();
  if (!is_in_gang() || !any_is_known(c)) return;
  const std::scoped_lock lock(knowledge_mutex());
  VectorClock& all = gang_clocks()[{key_of_gang(), block->gang->phase()}];
  all.join(c.all);
  for (const std::uint16_t rank : c.changed) all.join(c.threads[rank]);
  for (const auto& warp : c.warps) all.join(warp.clock);
}

void has_waited_for_gang(std::uint32_t phase) {
  if (!is_in_gang()) return;
  const std::scoped_lock lock(knowledge_mutex());
  const std::uint64_t key = key_of_gang();
  const auto found = gang_clocks().find({key, phase});
  if (found == gang_clocks().end()) return;
  clocks().all.join(found->second);
  if (phase > 1) gang_clocks().erase({key, phase - 2});  // no block is farther behind
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
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    acquire(*variable, c, warp.threads[std::countr_zero(rest)]);
  note_release();
}

void arrives_at(const void* barrier) {
  end_trial();
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  BlockClocks& c = updated_clocks(thread);
  Arrivals& at = [&]() -> Arrivals& {
    const std::scoped_lock lock(knowledge_mutex());  // blocks that begin forget arrivals
    return arrivals()[barrier];
  }();
  if (at.variable == nullptr) at.variable = variables().add();
  release(*at.variable, known_to(c, thread), release_of_all(thread));
  note_release();
}

void phase_ends(const void* barrier) {
  end_trial();
  const DeviceAtWork at_work;
  const std::scoped_lock lock(knowledge_mutex());
  Arrivals& at = arrivals()[barrier];
  if (at.variable == nullptr) return;  // nothing but bytes arrived
  at.before = at.variable->releases();
  at.known_before = at.variable->known;
}

void has_waited_at(const void* barrier) {
  end_trial();
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  BlockClocks& c = updated_clocks(thread);
  const std::scoped_lock lock(knowledge_mutex());
  const auto found = arrivals().find(barrier);
  if (found == arrivals().end() || found->second.before == 0) return;
  VectorClock& mine = clock_of(c, thread);
  mine.join(found->second.known_before);
  mine.raise(found->second.variable, found->second.before);
}

}  // namespace cuda_on_cpu::analysis
