#include "values.hpp"

#include <cstring>
#include <optional>

#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "log.hpp"

namespace cuda_on_cpu::analysis {

__thread unsigned overwritings = 0;

namespace {

/// A pending write of the running thread that replaces a value of another thread.
struct Overwriting {
  Event then, now;
  Region region;
  const Thread* thread;
  Place read = 0;  ///< instruction of the read in an update of a volatile variable; 0: no update
  bool is_stale = false;  ///< whether the other write came between this read and the write
  const void* address = nullptr;
  std::size_t bytes = 0;
  char before[16] = {};
  NotedAccess access = {};
};

/// The pending writes, by the rank of the thread in its block. Analysed blocks run one at a time.
struct Open {
  std::optional<Overwriting> by_rank[most_threads];
};

Open& open() {
  thread_local auto& open = indestructible<Open>();
  return open;
}

void close(const Thread& thread) {
  open().by_rank[thread.rank].reset();
  --overwritings;
}

void report(const Overwriting& o) {
  if (o.access.address != nullptr) note_accessed(o.access.address, o.access.bytes);
  report_race(
      o.then, o.now,
      o.is_stale
          ? "overwrites an update of a volatile variable: it read the variable before the write by"
      : o.read != 0 ? "updates a volatile variable without an atomic operation, as does"
                    : "writes what was written by",
      o.region, o.thread);
}

/// The number of writes of a volatile variable, and the last write.
struct Writes {
  std::uint64_t count = 0;
  Event last;
  bool is_store = false;    ///< whether the last write was not atomic
  bool is_update = false;   ///< whether the last writer had read the variable before
  bool has_waited = false;  ///< whether the last writer had waited for a volatile variable before
};

std::unordered_map<const void*, Writes>& writes() {
  static auto& writes = indestructible<std::unordered_map<const void*, Writes>>();
  return writes;
}

/// Whether a thread orders its accesses to volatile variables by fences, or by loops that wait for
/// values of other threads.
bool takes_care(const Thread& thread) {
  return thread.fenced != Among::nobody || details_of(thread).has_waited;
}

/// Whether a thread relies on lockstep execution: the thread reads a value that another lane of its
/// warp has stored by the same instruction as the thread's own last store.
bool relies_on_lockstep(const Writes& known, const Event& now, const Thread& thread) {
  const Event& then = known.last;
  return known.is_store && then.place == details_of(thread).last_volatile_store &&
         then.operation == now.operation && then.block == now.block &&
         then.thread / warp_size == now.thread / warp_size && !is_ordered(then, now, nullptr) &&
         !takes_care(thread) && !takes_care(block->threads[then.thread]);
}

void report_lockstep(const Event& then, const Event& now, const Thread& thread) {
  add_finding(
      "race", now.place, then.place, &thread,
      "shared memory: thread " + std::to_string(now.thread) + " of block " +
          std::to_string(now.block) + " reads what thread " + std::to_string(then.thread) +
          " of its warp wrote, with no __syncwarp() between them: since Volta, lanes of a warp "
          "need not run in lockstep, and volatile does not synchronise them");
}

void expect(const Overwriting& overwriting) {
  auto& mine = open().by_rank[overwriting.thread->rank];
  // An access to several cells is one write.
  if (mine.has_value() && mine->address == nullptr && mine->now.place == overwriting.now.place)
    return;
  if (mine.has_value()) {
    report(*mine);  // a part of a structure; the time of its write is unknown
    close(*overwriting.thread);
  }
  mine = overwriting;
  ++overwritings;
}

}  // namespace

void expect_value(const Event& then, const Event& now, Region region, const Thread& thread) {
  expect({.then = then, .now = now, .region = region, .thread = &thread, .access = noted_access()});
  note_accessed(nullptr, 0);
}

void note_volatile(const void* address, const Event& now, Kind kind, Region region,
                   Thread& thread) {
  Details& details = changed_details_of(thread);
  if (kind == atomic_read) return;
  Writes& known = writes()[address];
  if (kind == volatile_read) {
    // A thread that reads the same variable again, without a write in between, waits for this
    // variable.
    const bool again = details.last_volatile == address && details.last_volatile_load == now.place;
    details.has_waited = details.has_waited || details.waits || again;
    details.last_volatile_waits = details.waits || again;
    if (region == Region::shared && relies_on_lockstep(known, now, thread))
      report_lockstep(known.last, now, thread);
    details.last_volatile = address;
    details.last_volatile_load = details.last_volatile_read = now.place;
    details.last_volatile_writes = known.count;
    return;
  }
  // A thread that waits for a value and then stores another value does not update the variable.
  const bool has_read = kind == volatile_write && details.last_volatile == address;
  const bool is_stale = has_read && details.last_volatile_writes != known.count;
  const bool is_update =
      has_read && details.last_volatile_load != 0 && !details.last_volatile_waits;
  // Threads that wait for each other may alternate. Their updates are lost only if the updates
  // interleave.
  const bool may_take_turns = details.has_waited || known.has_waited;
  const bool may_be_lost = is_stale || (is_update && known.is_update && !may_take_turns);
  if (may_be_lost && known.last.operation == now.operation && !is_ordered(known.last, now, nullptr))
    expect({.then = known.last,
            .now = now,
            .region = region,
            .thread = &thread,
            .read = details.last_volatile_read,
            .is_stale = is_stale});
  details.last_volatile_load = 0;
  if (kind == volatile_write) details.last_volatile_store = now.place;
  ++known.count;
  known.last = now;
  known.is_store = kind == volatile_write;
  known.is_update = is_update;
  known.has_waited = details.has_waited;
}

void note_late_load(const void* address, const Thread& thread) {
  Details& details = changed_details_of(thread);
  if (details.last_volatile == address) details.last_volatile_writes = writes()[address].count;
}

void forget_overwritings() {
  if (overwritings == 0) return;
  for (auto& each : open().by_rank) each.reset();
  overwritings = 0;
}

void note_overwritten(const void* address, std::size_t bytes) {
  auto& mine = open().by_rank[block->current->rank];
  if (!mine.has_value() || mine->address != nullptr || bytes > sizeof mine->before) return;
  mine->address = address;
  mine->bytes = bytes;
  std::memcpy(mine->before, address, bytes);
}

void compare_overwritten() {
  const Thread& thread = *block->current;
  const auto& mine = open().by_rank[thread.rank];
  if (!mine.has_value()) return;
  const DeviceAtWork at_work;
  settle(thread,
         mine->address == nullptr || std::memcmp(mine->address, mine->before, mine->bytes) != 0);
}

void settle(const Thread& thread, bool changed) {
  const auto& mine = open().by_rank[thread.rank];
  if (!mine.has_value()) return;
  if (changed)
    report(*mine);
  else
    add_same_value(
        mine->now.place, mine->then.place, &thread,
        mine->read != 0
            ? "several threads read a volatile variable and then store the same value; if the "
              "variable is a counter, all but one of the increments are lost"
            : "threads store the same value to the same address, and nothing orders them",
        mine->read);
  close(thread);
}

void stops(const Thread& thread) {
  compare_values();
  thread.warp->log->note_after(thread.lane);
}

}  // namespace cuda_on_cpu::analysis
