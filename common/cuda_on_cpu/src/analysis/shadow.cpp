#include "shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../diagnostics.hpp"
#include "../indestructible.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"
#include "../runtime/generations.hpp"
#include "../runtime/images.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "clock_map.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "shared_bytes.hpp"
#include "values.hpp"

namespace cuda_on_cpu::analysis {

namespace {

/// The names of operations that are neither kernels nor copies nor memsets.
std::unordered_map<std::uint32_t, const char*>& names() {
  static auto& names = indestructible<std::unordered_map<std::uint32_t, const char*>>();
  return names;
}

/// The text that names the thread or operation that made an access.
/// \param with_kernel whether the text includes the name of the kernel
std::string name_of(const Event& event, bool with_kernel) {
  if (event.block == no_block) {
    if (const auto named = names().find(event.operation); named != names().end())
      return named->second;
    return is_host_operation(event.operation) ? "the host" : "a copy or a memset";
  }
  const std::scoped_lock lock(clock_mutex());
  const auto kernel = record().kernel_of.find(event.operation);
  const bool is_known = with_kernel && kernel != record().kernel_of.end();
  return "thread " + std::to_string(event.thread) + " of block " + std::to_string(event.block) +
         (is_known ? " of " + record().kernels[kernel->second].name : "");
}

}  // namespace

void note_name(std::uint32_t operation, const char* name) { names()[operation] = name; }

/// The instruction of the plain read, if one of two accesses is a plain read and the other is
/// atomic; otherwise 0.
static Place plain_read_of(const Event& then, const Event& now) {
  const auto is_plain_read = [](const Event& e) { return !e.writes && e.atomic == Reach::none; };
  if (is_plain_read(now) && then.atomic != Reach::none) return now.place;
  return is_plain_read(then) && now.atomic != Reach::none ? then.place : 0;
}

/// Reports a race between two accesses.
/// \param who text for the thread or operation of the earlier access
static void report_race(const Event& then, const std::string& who, const Event& now,
                        const char* what, Region region, const Thread* thread) {
  const bool other_operation = then.operation != now.operation;
  const bool of_host = is_host_operation(then.operation) || is_host_operation(now.operation);
  const char* kind = !other_operation ? "race" : of_host ? "host race" : "stream race";
  const std::string memory = region == Region::shared ? "shared memory: " : "";
  const std::string order = other_operation ? ", and nothing makes the one wait for the other"
                                            : ", with no barrier between them";
  add_race(kind, now.place, then.place, thread,
           memory + name_of(now, other_operation) + ' ' + what + ' ' + who + order,
           plain_read_of(then, now));
}

__attribute__((noinline, cold)) void report_race(const Event& then, const Event& now,
                                                 const char* what, Region region,
                                                 const Thread* thread) {
  report_race(then, name_of(then, then.operation != now.operation), now, what, region, thread);
}

namespace {

std::uint8_t mask_of(std::size_t offset, std::size_t bytes) {
  if (bytes >= 4) return 0xF;
  return static_cast<std::uint8_t>(((1u << bytes) - 1) << offset % 4);
}

/// Whether a group includes ended blocks of the launch that makes the access `now`. Accesses of
/// these blocks cannot happen before `now`.
bool has_unordered_blocks(const Group& group, const Event& now) {
  return group.many_blocks && now.block != no_block && group.last.operation == now.operation;
}

bool is_done(const Group& group, const Event& now, const void* address) {
  if (has_unordered_blocks(group, now)) return false;
  if (group.many_blocks && group.last.operation != now.operation) {
    Event of_launch = group.last;  // only the end of the launch orders the blocks that have ended
    of_launch.clock = ~0u;
    return is_ordered(of_launch, now, address);
  }
  return is_ordered(group.last, group.lanes, group.warps, now, address);
}

/// The mask of the bytes on which the access `now` races with accesses of a group.
unsigned racy_bytes(const Group& group, const Event& now, const void* address) {
  Event then = group.last;
  if (has_unordered_blocks(group, now)) then.block = no_block;  // the group includes other blocks
  if (!conflict(then, now) || is_done(group, now, address)) return 0;
  return then.bytes & now.bytes;
}

/// Whether the earlier access `then` is an atomic operation in the same launch as the access `now`.
/// Through such an operation, a thread may have released its accesses.
bool is_atomic_of(const Event& then, const Event& now) {
  return then.atomic != Reach::none && then.operation == now.operation && now.block != no_block;
}

const void* word_of(const void* address) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) / 4 * 4);
}

Group group_of(const Cell& cell) { return {cell.latest, cell.lanes, cell.warps, cell.many_blocks}; }

Group group_of(Shadow& shadow, const Cell& cell) {
  Group group = group_of(cell);
  if (group.many_blocks) group.ended = shadow.ended(cell);
  return group;
}

Group group_of(const Event& event) {
  return {event, 1u << event.thread % warp_size, 1u << event.thread / warp_size};
}

/// Whether two accesses are of the same kind: both read or both write, with the same atomic scope.
bool are_alike(const Event& a, const Event& b) {
  return a.atomic == b.atomic && a.writes == b.writes;
}

bool is_plain_write(const Event& event) { return event.writes && event.atomic == Reach::none; }

bool has_one_thread(const Group& group) {
  return std::has_single_bit(group.lanes) && std::has_single_bit(group.warps);
}

/// An access in a group, if possible by a thread other than the one that makes the access `now`. If
/// the last access of the group belongs to the running block, an access by an ended block is
/// preferred, because accesses of the running block may be ordered.
Event other_than(const Group& group, const Event& now) {
  Event other = group.last;
  if (has_unordered_blocks(group, now) && other.block == now.block) {
    other.block = group.ended.block;
    other.place = group.ended.place;
    other.thread = group.ended.thread;
    return other;
  }
  if (other.operation != now.operation || other.block != now.block || other.thread != now.thread)
    return other;
  const unsigned warp = now.thread / warp_size, lane = now.thread % warp_size;
  if (const unsigned lanes = group.lanes & ~(1u << lane); lanes != 0)
    other.thread = static_cast<std::uint16_t>(warp * warp_size +
                                              static_cast<unsigned>(std::countr_zero(lanes)));
  else if (const unsigned warps = group.warps & ~(1u << warp); warps != 0)
    other.thread =
        static_cast<std::uint16_t>(static_cast<unsigned>(std::countr_zero(warps)) * warp_size);
  return other;
}

/// Reports that the access `now` races with an access in a group.
/// \param address address of the word
/// \param racy mask of the bytes on which the accesses race
__attribute__((noinline, cold)) void report_conflict(const Group& group, const Event& now,
                                                     const void* address, unsigned racy, Kind kind,
                                                     Region region, const Thread* thread) {
  note_racy_bytes({address, now.block, static_cast<std::uint8_t>(racy)});
  note_accessed(address, 0);
  const Event then = other_than(group, now);
  if (kind == write && then.writes && thread != nullptr)
    return expect_value(then, now, region, *thread);
  const bool is_own = then.operation == now.operation && then.block == now.block &&
                      then.thread == now.thread && now.block != no_block;
  report_race(then, is_own ? "the same thread" : name_of(then, then.operation != now.operation),
              now,
              !now.writes   ? "reads what is written by"
              : then.writes ? "writes what was written by"
                            : "writes what is read by",
              region, thread);
}

/// Whether the access `then` belongs to the same block as the access `now` and follows the last
/// barrier of this block.
bool is_recent(const Event& then, const Event& now) {
  return then.operation == now.operation && then.block == now.block &&
         (now.block == no_block || then.clock > block->barrier_clock);
}

/// Adds the access `now` to a group of accesses of the same kind.
/// \returns false, without effect, if the group cannot represent the access
bool join(Group& group, const Event& now) {
  const unsigned warp = now.thread / warp_size, lane = now.thread % warp_size;
  if (!is_recent(group.last, now)) return false;
  const bool is_same = has_one_thread(group) && group.last.thread == now.thread;
  if (!is_same && now.block != no_block) {
    if (group.last.clock <= last_release) return false;  // some accesses may have been released
    if (group.last.phase != now.phase) return false;
    if (keeps_each_warp && group.warps != 1u << warp) return false;
  }
  if (group.last.thread / warp_size != warp || group.last.warp_epoch != now.warp_epoch)
    group.lanes = 0;
  group.warps |= 1u << warp;
  group.lanes |= 1u << lane;
  group.last = now;
  return true;
}

/// Whether the access `then` belongs to an ended block of the running launch, and no later release
/// can order it.
bool is_over(const Event& then, const Event& now) {
  return then.operation == now.operation && then.block != now.block &&
         (block->gang == nullptr || block->gang->size() == 1) && never_releases(then);
}

/// Whether each later access that conflicts with `first` also conflicts with `second`. If `first`
/// also happens before `second`, the history needs only `second`: a later access that is ordered
/// after `second` is then also ordered after `first`. Two atomic operations must also belong to the
/// same block, or to two operations that are ordered.
bool covers(const Event& second, const Event& first) {
  if ((first.bytes & ~second.bytes) != 0) return false;
  if (second.atomic == Reach::none) return second.writes || !first.writes;
  return first.atomic == second.atomic && first.writes <= second.writes &&
         (first.operation != second.operation
              ? happens_before_operation(first.operation, second.operation)
              : first.block == second.block);
}

/// Whether no later access can race with the access `then`. This holds if `then` is to shared
/// memory and precedes the running block's last barrier, and no other block belongs to the block's
/// gang.
bool is_obsolete(const Event& then, const Event& now, Region region) {
  return region == Region::shared && then.operation == now.operation && then.block == now.block &&
         (block->gang == nullptr || block->gang->size() == 1) && then.clock <= block->barrier_clock;
}

/// Stores a read or an atomic operation in a cell.
/// \param ended receives an access of a block that has ended; null for the common cell of a stretch
/// \returns false, without effect, if the cell cannot represent the access
bool remember(Cell& cell, const Event& now, const void* address, Region region,
              EndedAccess* ended) {
  Group group = group_of(cell);
  const Event& then = group.last;
  if (then.bytes == 0) {
    group = group_of(now);
  } else if (are_alike(then, now) && then.bytes == now.bytes && join(group, now)) {
  } else if (are_alike(then, now) && then.bytes == now.bytes && is_over(then, now) &&
             now.atomic != Reach::block) {
    if (ended != nullptr && !group.many_blocks) *ended = ended_access(then);
    group = group_of(now);
    group.many_blocks = true;
  } else if (is_obsolete(then, now, region)) {
    group = group_of(now);
  } else if (covers(now, then) && is_ordered(then, group.lanes, group.warps, now, address) &&
             (!has_unordered_blocks(group, now) ||
              (are_alike(then, now) && then.bytes == now.bytes))) {
    const bool many_blocks = has_unordered_blocks(group, now);
    group = group_of(now);
    group.many_blocks = many_blocks;
  } else {
    const Event& first = cell.earlier;
    const bool is_free = first.bytes == 0 || is_obsolete(first, now, region) ||
                         (covers(now, first) && is_ordered(first, now, address));
    if (!is_free || !has_one_thread(group) || group.many_blocks) return false;
    cell.earlier = then;
    group = group_of(now);
  }
  cell.latest = group.last;
  cell.lanes = group.lanes;
  cell.warps = group.warps;
  cell.many_blocks = group.many_blocks;
  return true;
}

/// Stores a plain write in a cell.
/// \returns false, without effect, if the cell cannot represent the write
bool remember_write(Cell& cell, const Event& now) {
  const unsigned others = (cell.earlier.bytes | cell.latest.bytes) & ~now.bytes;
  if (others != 0) {  // bytes that earlier accesses touched and this write does not
    const Event& then = cell.earlier;
    const bool is_same_write = cell.latest.bytes == 0 && is_plain_write(then) &&
                               then.operation == now.operation && then.block == now.block &&
                               then.thread == now.thread && then.clock == now.clock &&
                               then.warp_epoch == now.warp_epoch && then.phase == now.phase;
    if (!is_same_write) return false;
  }
  cell.earlier = now;
  cell.earlier.bytes = (now.bytes | others) & 0xF;
  cell.latest = {};
  cell.lanes = cell.warps = 0;
  cell.many_blocks = false;
  return true;
}

/// Searches the history of a word for accesses that race with a new access, and adds the new access
/// to the history.
class HistoryCheck {
 public:
  HistoryCheck(History& history, const Event& now, const void* address)
      : history_(history), now_(now), address_(address) {}

  /// Calls `report(group, bytes)` for each group that races with the new access. Each racy byte is
  /// contained in the mask of exactly one call.
  template <typename Report>
  void for_each_race(const Report& report) const {
    unsigned all = 0;
    for (const Group& group : history_.groups)
      if (const unsigned racy = racy_bytes(group, now_, address_) & ~all; racy != 0) {
        report(group, racy);
        all |= racy;
      }
  }

  bool has_atomic() const {
    return std::any_of(history_.groups.begin(), history_.groups.end(),
                       [&](const Group& group) { return is_atomic_of(group.last, now_); });
  }

  void add() {
    std::vector<Group>& groups = history_.groups;
    if (is_plain_write(now_)) {
      for (Group& group : groups) group.last.bytes = group.last.bytes & ~now_.bytes & 0xF;
      std::erase_if(groups, [](const Group& group) { return group.last.bytes == 0; });
      groups.push_back(group_of(now_));
      return;
    }
    constexpr std::size_t near = 40;  // number of latest groups to search, which exceeds the number
                                      // of warps in a block
    const std::size_t all = groups.size();
    for (std::size_t i = all; i > 0 && i + near > all; --i) {
      Group& group = groups[i - 1];
      if (are_alike(group.last, now_) && group.last.bytes == now_.bytes && join(group, now_))
        return;
    }
    if (all >= history_.most) {
      prune();
      history_.most = std::max<std::size_t>(16, 2 * groups.size());
    }
    groups.push_back(group_of(now_));
  }

 private:
  /// Removes groups whose accesses happen before the new access, if the new access represents these
  /// accesses in later checks. Among accesses of ended blocks that stay unordered until the launch
  /// ends, the groups of two blocks represent all others. Among ordered atomic operations of other
  /// blocks, one group is kept: a later operation of block scope may race with it but not with the
  /// new access.
  void prune() {
    std::uint32_t kept[2] = {now_.block, now_.block};
    bool keeps_other = false;
    for (const Group& group : history_.groups)
      if (has_unordered_blocks(group, now_) && are_alike(group.last, now_) &&
          group.last.bytes == 0xF)
        kept[0] = kept[1] = no_block;  // this group represents two blocks
    const auto is_represented = [&](const Group& group) {
      const Event& then = group.last;
      if (covers(now_, then)) return is_done(group, now_, address_);
      if (!are_alike(then, now_) || (then.bytes & ~now_.bytes) != 0) return false;
      if (is_done(group, now_, address_)) return std::exchange(keeps_other, true);
      return false;
    };
    const auto is_represented_by_two = [&](const Group& group) {
      const Event& then = group.last;
      if (!are_alike(then, now_) || then.bytes != 0xF || now_.bytes != 0xF ||
          !is_over(then, now_) || group.many_blocks)
        return false;
      for (std::uint32_t& block : kept) {
        if (block == then.block) return false;
        if (block == now_.block) {
          block = then.block;
          return false;
        }
      }
      return true;
    };
    std::vector<Group>& groups = history_.groups;
    // In this reverse order, the latest groups come first.
    const auto end = std::remove_if(groups.rbegin(), groups.rend(), [&](const Group& group) {
      return is_represented(group) || is_represented_by_two(group);
    });
    groups.erase(groups.begin(), end.base());
  }

  History& history_;
  const Event now_;
  const void* address_;
};

/// Moves the history of a word from its cell to a separate list.
__attribute__((noinline)) History& expand(Shadow& shadow, Cell& cell) {
  History& history = shadow.make_history(cell);
  if (cell.earlier.bytes != 0) history.groups.push_back(group_of(cell.earlier));
  if (cell.latest.bytes != 0) history.groups.push_back(group_of(shadow, cell));
  return history;
}

/// Moves the history of a word, if it is a single plain write, back to the word's cell.
void reduce(Shadow& shadow, Cell& cell, const Event& now) {
  shadow.forget_history(cell);
  cell.latest = {};
  cell.lanes = cell.warps = 0;
  cell.many_blocks = false;
  cell.earlier = now;
}

/// Checks an access against the separate history of its word.
__attribute__((noinline)) void check_history(Shadow& shadow, Cell& cell, std::size_t offset,
                                             const Event& now, Kind kind, Region region,
                                             const Thread* thread) {
  History& history = shadow.history(cell);
  const void* const address = shadow.address_of(offset);
  HistoryCheck check(history, now, address);
  check.for_each_race([&](const Group& group, unsigned racy) {
    report_conflict(group, now, word_of(address), racy, kind, region, thread);
  });
  if (is_plain_write(now) && check.has_atomic()) forget_releases_at(address);
  check.add();
  if (history.groups.size() == 1 && now.bytes == 0xF && is_plain_write(now))
    reduce(shadow, cell, now);
}

/// Checks an access against a cell that contains the whole history of a word, and stores the access
/// in the cell.
/// \returns whether the cell can represent the access
__attribute__((always_inline)) inline bool check_alone(Shadow& shadow, Cell& cell,
                                                       const void* address, const Event& now,
                                                       Kind kind, Region region,
                                                       const Thread* thread) {
  unsigned racy = 0;
  if (conflict(cell.earlier, now) && !is_ordered(cell.earlier, now, address)) {
    racy = cell.earlier.bytes & now.bytes;
    report_conflict(group_of(cell.earlier), now, word_of(address), racy, kind, region, thread);
  }
  if (cell.latest.bytes != 0) {
    const Group group = group_of(cell);
    if (const unsigned more = racy_bytes(group, now, address) & ~racy; more != 0)
      report_conflict(group_of(shadow, cell), now, word_of(address), more, kind, region, thread);
  }
  if (is_plain_write(now) && (is_atomic_of(cell.earlier, now) || is_atomic_of(cell.latest, now)))
    forget_releases_at(address);
  return is_plain_write(now) ? remember_write(cell, now)
                             : remember(cell, now, address, region, &shadow.ended(cell));
}

__attribute__((always_inline)) inline void check_cell(Shadow& shadow, Cell& cell,
                                                      std::size_t offset, const Event& now,
                                                      Kind kind, Region region,
                                                      const Thread* thread) {
  if (cell.history != 0) {
    check_history(shadow, cell, offset, now, kind, region, thread);
  } else if (!check_alone(shadow, cell, shadow.address_of(offset), now, kind, region, thread)) {
    HistoryCheck(expand(shadow, cell), now, shadow.address_of(offset)).add();
  }
  if (now.writes && kind != early_write) {
    cell.written |= now.bytes;
    cell.carried &= ~now.bytes & 0xFu;
  }
}

/// Whether an access of this kind uses the old value.
bool takes_value(Kind kind) { return !is_write(kind) || kind == atomic || kind == atomic_compare; }

std::string unwritten_memory(Region region) {
  return region == Region::shared ? "shared memory that the block has not written"
                                  : "memory that nothing has written";
}

/// Reports a use of a byte of the block's shared memory that no thread has written.
/// \param offset offset of the byte in the shadow
__attribute__((noinline, cold)) void report_unwritten_shared(const Event& now, Kind kind,
                                                             std::size_t offset,
                                                             const Thread* thread) {
  add_finding("uninitialised read", now.place, 0, thread,
              unwritten_memory(Region::shared) + (!is_write(kind) ? " is read" : " is updated") +
                  shared_byte_text(offset));
}

/// The state of a search for unwritten bytes in an access.
struct Unwritten {
  std::size_t all;      ///< number of bytes of the access
  bool reports = true;  ///< whether unwritten bytes are an error
  std::size_t in_row = 0;
  Found found = Found::written;
};

/// Checks an access, or a part of one, against each cell that it touches, and stores the access in
/// the cells. Inlining keeps the event in registers.
__attribute__((always_inline)) inline void check_cells(Shadow& shadow, std::size_t offset,
                                                       std::size_t bytes, Kind kind, Event now,
                                                       Region region, const Thread* thread,
                                                       Unwritten& unwritten) {
  const std::uint32_t owner = region == Region::shared ? current_owner() : 0;
  const bool whole = (offset | bytes) % 4 == 0;
  const bool reads = region != Region::host && takes_value(kind);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t at = offset + done;
    const std::size_t here = whole ? 4 : std::min(bytes - done, 4 - at % 4);
    now.bytes = (whole ? 0xFu : mask_of(at, here)) & 0xF;
    Cell& cell = shadow.cell(at);
    if (region == Region::shared && cell.owner != owner) {  // left by an earlier block
      if (cell.history != 0) shadow.forget_history(cell);
      cell = Cell{};
      cell.owner = owner;
    }
    if (reads && (cell.written & now.bytes) != now.bytes)
      cell.written |= shadow.written_unseen(at) & 0xFu;
    // A read may include padding. An atomic operation uses a number, which has no padding.
    const unsigned written = cell.written & now.bytes;
    const bool lacks = kind == atomic ? written != now.bytes : written == 0;
    unwritten.in_row = reads && lacks ? unwritten.in_row + here : 0;
    if (reads && written != now.bytes && unwritten.found == Found::written)
      unwritten.found = Found::partly_written;
    if (unwritten.in_row >= 16 || (unwritten.in_row > 0 && unwritten.in_row == unwritten.all)) {
      // The thread may only copy the bytes that it reads, which is not known yet.
      const bool may_copy = thread != nullptr && kind == read &&
                            (region != Region::shared || (cell.carried & now.bytes) != 0);
      if (may_copy) {
        unwritten.found = Found::unwritten;
      } else if (unwritten.reports) {
        note_accessed(shadow.address_of(offset), thread == nullptr ? 0 : bytes);
        if (region == Region::shared)
          report_unwritten_shared(now, kind, at, thread);
        else
          report_unwritten(now, kind, region, thread);
      }
      unwritten.in_row = 0;
    }
    check_cell(shadow, cell, at, now, kind, region, thread);
    done += here;
  }
}

}  // namespace

/// Reports an access that uses unwritten bytes: all its bytes, or more consecutive bytes than the
/// padding in a structure can have.
__attribute__((noinline, cold)) void report_unwritten(const Event& now, Kind kind, Region region,
                                                      const Thread* thread) {
  add_finding("uninitialised read", now.place, 0, thread,
              unwritten_memory(region) + (!is_write(kind) ? " is read" : " is updated"));
}

__attribute__((noinline, cold)) void report_copy_of_unwritten(const Event& now, Place place,
                                                              Region region, const Thread& thread) {
  add_race("uninitialised read", now.place, place, &thread, unwritten_memory(region) + " is read",
           place);
}

/// Reserves zero-filled memory. The system provides each page when the page is first accessed.
template <typename T>
static T* reserve(std::size_t count) {
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

const void* address_of(Place place) {
  if (place == 0) return nullptr;
  for (const LoadedImage& image : loaded_images()) {
    const Place offset = place - place_of(image.begin);
    if (offset <= image.end - image.begin) return image.begin + offset;
  }
  return &__executable_start + place;
}

Shadow::Shadow(const void* memory, std::size_t bytes)
    : memory_(static_cast<const char*>(memory)),
      stretches_(bytes / stretch_bytes + 1),
      cells_(reserve<Cell>(stretches_ * stretch_bytes / 4)),
      common_(reserve<Cell>(stretches_)),
      divided_(reserve<bool>(stretches_)),
      complete_(reserve<bool>(stretches_)),
      ended_(reserve<EndedAccess>(stretches_ * stretch_bytes / 4)),
      claims_(reserve<Claim>(stretches_ * stretch_bytes / 4)),
      unseen_(reserve<std::uint8_t>(stretches_ * stretch_bytes / 4)) {}

Shadow::~Shadow() {
  munmap(cells_, stretches_ * stretch_bytes / 4 * sizeof(Cell));
  munmap(common_, stretches_ * sizeof(Cell));
  munmap(divided_, stretches_);
  munmap(complete_, stretches_);
  munmap(ended_, stretches_ * stretch_bytes / 4 * sizeof(EndedAccess));
  munmap(claims_, stretches_ * stretch_bytes / 4 * sizeof(Claim));
  munmap(unseen_, stretches_ * stretch_bytes / 4);
}

History& Shadow::history(const Cell& cell) {
  const std::scoped_lock lock(histories_->mutex);
  return histories_->all[cell.history - 1];
}

History& Shadow::make_history(Cell& cell) {
  Histories& h = *histories_;
  const std::scoped_lock lock(h.mutex);
  if (h.free.empty()) {
    if (h.all.size() == Cell::most_histories)
      fatal("the analysis of one allocation needs the access histories of more than " +
            std::to_string(Cell::most_histories) + " words; analyse a smaller problem");
    h.all.emplace_back();
    h.free.push_back(static_cast<std::uint32_t>(h.all.size()));
  }
  cell.history = h.free.back() & Cell::most_histories;
  h.free.pop_back();
  return h.all[cell.history - 1];
}

void Shadow::forget_history(Cell& cell) {
  Histories& h = *histories_;
  const std::scoped_lock lock(h.mutex);
  History& history = h.all[cell.history - 1];
  history = {.groups = std::move(history.groups)};  // keeps the capacity of the vector
  history.groups.clear();
  h.free.push_back(cell.history);
  cell.history = 0;
}

void Shadow::forget() {
  histories_ = std::make_unique<Histories>();

  madvise(cells_, stretches_ * stretch_bytes / 4 * sizeof(Cell), MADV_DONTNEED);
  madvise(common_, stretches_ * sizeof(Cell), MADV_DONTNEED);
  madvise(divided_, stretches_, MADV_DONTNEED);
  madvise(complete_, stretches_, MADV_DONTNEED);
  madvise(ended_, stretches_ * stretch_bytes / 4 * sizeof(EndedAccess), MADV_DONTNEED);
  madvise(claims_, stretches_ * stretch_bytes / 4 * sizeof(Claim), MADV_DONTNEED);
  madvise(unseen_, stretches_ * stretch_bytes / 4, MADV_DONTNEED);
}

void Shadow::note_written(std::uint8_t mask) {
  for (std::size_t stretch = 0; stretch < stretches_; ++stretch) {
    complete_[stretch] = false;
    common_[stretch].written = mask & 0xFu;
    if (!divided_[stretch]) continue;
    Cell* const first = &cells_[stretch * stretch_bytes / 4];
    for (Cell* cell = first; cell != first + stretch_bytes / 4; ++cell) cell->written = mask & 0xFu;
  }
}

void Shadow::divide(std::size_t stretch) {
  divided_[stretch] = true;
  const Cell& common = common_[stretch];
  if (common.earlier.bytes == 0 && common.latest.bytes == 0 && common.written == 0)
    return;  // the separate cells are untouched as well
  std::fill_n(&cells_[stretch * stretch_bytes / 4], stretch_bytes / 4, common);
}

void Shadow::note_written(std::size_t byte, std::size_t bytes, std::vector<Mark>& marks) const {
  const auto known = [&](std::size_t at) {
    return std::atomic_ref(unseen_[at / 4]).load(std::memory_order_relaxed);
  };
  if (byte % 4 + bytes <= 4 && known(byte) == 0xF) return;
  for (std::size_t done = 0, here = 0; done < bytes; done += here) {
    here = std::min(bytes - done, 4 - (byte + done) % 4);
    const std::uint8_t mask = mask_of(byte + done, here);
    if ((known(byte + done) & mask) != mask) marks.push_back({&unseen_[(byte + done) / 4], mask});
  }
}

void count_as_written(std::span<const Mark> marks) {
  for (const Mark& mark : marks)
    std::atomic_ref(*mark.word).fetch_or(mark.bytes, std::memory_order_relaxed);
}

bool Shadow::is_written_unseen(std::size_t stretch) const {
  constexpr std::size_t words = stretch_bytes / 4;
  const std::uint8_t* first = unseen_ + stretch * words;
  return std::all_of(first, first + words, [](std::uint8_t mask) { return mask == 0xF; });
}

bool Shadow::is_complete(std::size_t byte) {
  const std::size_t stretch = byte / stretch_bytes;
  const std::atomic_ref<bool> complete(complete_[stretch]);
  if (complete.load(std::memory_order_relaxed)) return true;
  // A pass over the stretch performs this check only at the beginning of the stretch.
  if (byte % stretch_bytes >= 16) return false;
  const bool is_divided = divided_[stretch];
  const Cell* const first = is_divided ? &cells_[stretch * stretch_bytes / 4] : &common_[stretch];
  const Cell* const end = first + (is_divided ? stretch_bytes / 4 : 1);
  if (!is_written_unseen(stretch) &&
      !std::all_of(first, end, [](const Cell& cell) { return cell.written == 0xF; }))
    return false;
  complete.store(true, std::memory_order_relaxed);
  return true;
}

std::uint8_t Shadow::written(std::size_t byte) {
  const std::size_t stretch = byte / stretch_bytes;
  const Cell& cell = divided_[stretch] ? cells_[byte / 4] : common_[stretch];
  return static_cast<std::uint8_t>(cell.written | written_unseen(byte));
}

bool Shadow::is_any_written(std::size_t byte, std::size_t bytes) {
  for (std::size_t done = 0, here = 0; done < bytes; done += here) {
    const std::size_t at = byte + done;
    here = std::min(bytes - done, 4 - at % 4);
    if (is_complete(at) || (written(at) & mask_of(at, here)) != 0) return true;
  }
  return false;
}

bool Shadow::lacks(std::size_t byte) {
  return !is_complete(byte) && (written(byte) & mask_of(byte, 1)) == 0;
}

std::size_t Shadow::longest_unwritten(std::size_t byte, std::size_t bytes) {
  std::size_t longest = 0, in_row = 0;
  for (std::size_t done = 0, here = 0; done < bytes; done += here) {
    const std::size_t at = byte + done;
    here = std::min(bytes - done, stretch_bytes - at % stretch_bytes);
    const bool is_written = is_complete(at);
    if (!is_written) here = std::min(here, 4 - at % 4);
    in_row = is_written || (written(at) & mask_of(at, here)) != 0 ? 0 : in_row + here;
    longest = std::max(longest, in_row);
  }
  return longest;
}

bool Shadow::is_unwritten(std::size_t byte, std::size_t bytes) {
  return !is_any_written(byte, bytes);
}

void Shadow::carry_unwritten(std::size_t to, Shadow& from, std::size_t from_byte,
                             std::size_t bytes) {
  for (std::size_t done = 0, here = 0; done < bytes; done += here) {
    const std::size_t source = from_byte + done, target = to + done;
    here = std::min(bytes - done, stretch_bytes - source % stretch_bytes);
    if (from.is_complete(source)) continue;
    here = std::min({here, 4 - source % 4, 4 - target % 4});
    const unsigned mask = mask_of(source, here) >> source % 4;
    const unsigned lacks = ~(from.written(source) >> source % 4) & mask;
    if (lacks == 0) continue;
    complete_[target / stretch_bytes] = false;
    Cell& copy = cell(target);
    copy.written &= ~(lacks << target % 4) & 0xFu;
    copy.carried |= lacks << target % 4 & 0xFu;
  }
}

/// The cell of a byte in the block's shared memory. A cell of an earlier block is cleared first.
static Cell& cell_of_block(Shadow& shadow, std::size_t byte, std::uint32_t owner) {
  Cell& cell = shadow.cell(byte);
  if (cell.owner == owner) return cell;
  if (cell.history != 0) shadow.forget_history(cell);
  cell = Cell{};
  cell.owner = owner;
  return cell;
}

void note_received(Shadow& shadow, std::size_t offset, std::size_t bytes) {
  for (std::size_t done = 0, here = 0; done < bytes; done += here) {
    here = std::min(bytes - done, 4 - (offset + done) % 4);
    cell_of_block(shadow, offset + done, current_owner()).written |=
        mask_of(offset + done, here) & 0xFu;
  }
}

Found check_thread(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                   const Event& event, Region region, const Thread& thread) {
  Unwritten unwritten{bytes};
  check_cells(shadow, offset, bytes, kind, event, region, &thread, unwritten);
  return kind == read ? unwritten.found : Found::written;
}

/// Checks a copy or a memset that accesses a whole stretch against the common cell of the stretch.
/// \returns whether there is nothing to report and one cell suffices; if not, nothing has changed
static bool check_stretch(Cell& common, const Event& now, Kind kind, Region region, bool reports) {
  if (reports && !now.writes && region != Region::host && common.written != 0xF) return false;
  if (conflict(common.earlier, now) && !is_ordered(common.earlier, now, nullptr)) return false;
  if (racy_bytes(group_of(common), now, nullptr) != 0) return false;
  if (!(is_plain_write(now) ? remember_write(common, now)
                            : remember(common, now, nullptr, region, nullptr)))
    return false;
  if (now.writes && kind != early_write) common.written = 0xF;
  return true;
}

void check_operation(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                     std::uint32_t operation, Place place, Region region, bool reports) {
  const bool is_plain = kind == read || kind == write || kind == early_write;
  Event now{.operation = operation,
            .block = no_block,
            .place = place,
            .bytes = 0xF,
            .writes = is_write(kind),
            .atomic = is_plain ? Reach::none : Reach::all};
  Unwritten unwritten{bytes, reports};
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t at = offset + done;
    const std::size_t here =
        std::min(bytes - done, Shadow::stretch_bytes - at % Shadow::stretch_bytes);
    Cell* common = here == Shadow::stretch_bytes ? shadow.common_cell(at) : nullptr;
    if (common != nullptr && common->written != 0xF &&
        shadow.is_written_unseen(at / Shadow::stretch_bytes))
      common->written = 0xF;
    if (common != nullptr && check_stretch(*common, now, kind, region, reports))
      unwritten.in_row = 0;
    else
      check_cells(shadow, at, here, kind, now, region, nullptr, unwritten);
    done += here;
  }
}

}  // namespace cuda_on_cpu::analysis
