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

#include "../immortal.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"
#include "../runtime/generations.hpp"
#include "../runtime/images.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "knowledge.hpp"
#include "values.hpp"

namespace cuda_on_cpu::analysis {

namespace {

/// Of operations that are neither kernels nor copies nor fills.
std::unordered_map<std::uint32_t, const char*>& names() {
  static auto& names = immortal<std::unordered_map<std::uint32_t, const char*>>();
  return names;
}

/// Who made an access; with its kernel, where two may be meant.
std::string name_of(const Event& event, bool with_kernel) {
  if (event.block == no_block) {
    if (const auto named = names().find(event.operation); named != names().end())
      return named->second;
    return is_host_operation(event.operation) ? "the host" : "a copy or a fill";
  }
  const std::scoped_lock lock(knowledge_mutex());
  const auto kernel = record().kernel_of.find(event.operation);
  const bool is_known = with_kernel && kernel != record().kernel_of.end();
  return "thread " + std::to_string(event.thread) + " of block " + std::to_string(event.block) +
         (is_known ? " of " + record().kernels[kernel->second].name : "");
}

}  // namespace

void note_name(std::uint32_t operation, const char* name) { names()[operation] = name; }

/// The same with a description of the earlier access.
static void report_race(const Event& then, const std::string& who, const Event& now,
                        const char* what, Region region, const Thread* thread) {
  const bool other_operation = then.operation != now.operation;
  const bool of_host = is_host_operation(then.operation) || is_host_operation(now.operation);
  const char* kind = !other_operation ? "race" : of_host ? "host race" : "stream race";
  const std::string memory = region == Region::shared ? "shared memory: " : "";
  const std::string order = other_operation ? ", and nothing makes the one wait for the other"
                                            : ", with no barrier between them";
  add_finding(kind, now.place, then.place, thread,
              memory + name_of(now, other_operation) + ' ' + what + ' ' + who + order);
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

bool is_done(const Group& group, const Event& now, const void* address) {
  return is_ordered(group.last, group.lanes, group.warps, now, address);
}

Group group_of(const Event& event) {
  return {event, 1u << event.thread % warp_size, 1u << event.thread / warp_size};
}

/// Whether two accesses conflict with the same accesses, and not with each other.
bool are_alike(const Event& a, const Event& b) {
  return a.atomic == b.atomic && a.writes == b.writes;
}

bool is_plain_write(const Event& event) { return event.writes && event.atomic == Reach::none; }

bool has_one_thread(const Group& group) {
  return std::has_single_bit(group.lanes) && std::has_single_bit(group.warps);
}

/// An access of the group by another thread than the current one.
Event other_than(const Group& group, const Event& now) {
  Event other = group.last;
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

/// Reports a race of two accesses.
__attribute__((noinline, cold)) void report_conflict(const Group& group, const Event& now,
                                                     Kind kind, Region region,
                                                     const Thread* thread) {
  const Event then = other_than(group, now);
  if (kind == write && then.writes && thread != nullptr)
    return expect_value(then, now, region, *thread);
  const bool is_own = then.operation == now.operation && then.block == now.block &&
                      then.thread == now.thread && now.block != no_block;
  report_race(then, is_own ? "a thread of another block" : name_of(then, then.operation != now.operation),
              now,
              !now.writes   ? "reads what is written by"
              : then.writes ? "writes what was written by"
                            : "writes what is read by",
              region, thread);
}

/// Whether an access belongs to the running block, after its last barrier.
bool is_recent(const Event& then, const Event& now) {
  return then.operation == now.operation && then.block == now.block &&
         (now.block == no_block || then.clock > block->barrier_clock);
}

/// Adds an access to a group of its kind.
/// \returns false, without effect, if the group cannot represent it
bool join(Group& group, const Event& now) {
  const unsigned warp = now.thread / warp_size, lane = now.thread % warp_size;
  if (!is_recent(group.last, now)) return false;
  const bool is_same = has_one_thread(group) && group.last.thread == now.thread;
  if (!is_same && now.block != no_block) {
    if (group.last.clock <= last_release) return false;  // some of them may have been released
    if (keeps_each_warp && group.warps != 1u << warp) return false;
  }
  if (group.last.thread / warp_size != warp || group.last.warp_epoch != now.warp_epoch)
    group.lanes = 0;
  group.warps |= 1u << warp;
  group.lanes |= 1u << lane;
  group.last = now;
  return true;
}

/// Whether an access belongs to an ended block of this launch, and no later release can order it.
bool is_over(const Event& then, const Event& now) {
  return then.operation == now.operation && then.block != now.block &&
         (block->gang == nullptr || block->gang->size() == 1) && never_releases(then);
}

/// Stores a read or an atomic operation in a cell.
/// \returns false, without effect, if the cell cannot represent it
bool remember(Cell& cell, const Event& now, const void* address) {
  Group group{cell.latest, cell.lanes, cell.warps};
  bool many_blocks = cell.many_blocks;
  if (group.last.bytes == 0) {
    group = group_of(now);
    many_blocks = false;
  } else if (are_alike(group.last, now)) {
    if (group.last.bytes != now.bytes) return false;
    if (join(group, now)) {
    } else if (is_over(group.last, now) && now.atomic != Reach::block) {
      group = group_of(now);
      many_blocks = true;
    } else if (is_done(group, now, address)) {
      many_blocks = many_blocks && group.last.operation == now.operation;
      group = group_of(now);
    } else {
      return false;
    }
  } else {
    // Who conflicts with a write before both conflicts with one of them: it need not be known.
    const bool is_known_by_operation = group.last.operation != now.operation;
    const bool replaces = (cell.earlier.bytes & ~(group.last.bytes & now.bytes)) == 0 &&
                          (is_known_by_operation || (has_one_thread(group) && !many_blocks)) &&
                          is_done(group, now, address);
    if (!replaces) return false;
    cell.earlier = group.last;
    group = group_of(now);
    many_blocks = false;
  }
  cell.latest = group.last;
  cell.lanes = group.lanes;
  cell.warps = group.warps;
  cell.many_blocks = many_blocks;
  return true;
}

/// The same for a plain write.
bool remember_write(Cell& cell, const Event& now) {
  const unsigned others = (cell.earlier.bytes | cell.latest.bytes) & ~now.bytes;
  if (others != 0) {  // bytes that others access
    const Event& then = cell.earlier;
    const bool is_same_write = cell.latest.bytes == 0 && is_plain_write(then) &&
                               then.operation == now.operation && then.block == now.block &&
                               then.thread == now.thread && then.clock == now.clock &&
                               then.warp_epoch == now.warp_epoch;
    if (!is_same_write) return false;
  }
  cell.earlier = now;
  cell.earlier.bytes = (now.bytes | others) & 0xF;
  cell.latest = {};
  cell.lanes = cell.warps = 0;
  cell.many_blocks = false;
  return true;
}

/// Searches the history of a word for races with an access, and adds the access.
class HistoryCheck {
 public:
  HistoryCheck(History& history, const Event& now, const void* address)
      : history_(history), now_(now), address_(address) {}

  /// An earlier access that races with this one, or null.
  const Group* find_conflict() const {
    const bool many =
        history_.many_blocks && history_.operation == now_.operation && now_.block != no_block;
    for (const Group& group : history_.groups)
      if (conflict(group.last, now_) &&
          ((many && !is_plain_write(group.last)) || !is_done(group, now_, address_)))
        return &group;
    return nullptr;
  }

  void add() {
    std::vector<Group>& groups = history_.groups;
    if (is_plain_write(now_)) {
      for (Group& group : groups) group.last.bytes = group.last.bytes & ~now_.bytes & 0xF;
      std::erase_if(groups, [](const Group& group) { return group.last.bytes == 0; });
      if (groups.empty()) history_.many_blocks = false;
      groups.push_back(group_of(now_));
      return;
    }
    constexpr std::size_t near = 40;  // as many warps as a block has are among these
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
  /// Removes groups that this access represents, because they happen before it. Of the blocks that
  /// can never be ordered in this launch, two remain.
  void prune() {
    std::uint32_t kept[2] = {now_.block, now_.block};
    std::erase_if(history_.groups, [&](const Group& group) {
      if (!are_alike(group.last, now_) || (group.last.bytes & ~now_.bytes) != 0) return false;
      if (is_done(group, now_, address_)) return true;
      if (group.last.bytes != 0xF || !is_over(group.last, now_)) return false;
      for (std::uint32_t& block : kept) {
        if (block == group.last.block) return false;
        if (block == now_.block) {
          block = group.last.block;
          return false;
        }
      }
      return true;
    });
  }

  History& history_;
  const Event now_;
  const void* address_;
};

/// Moves the history of a cell to a separate list.
__attribute__((noinline)) History& expand(Shadow& shadow, Cell& cell) {
  History& history = shadow.make_history(cell);
  if (cell.earlier.bytes != 0) history.groups.push_back(group_of(cell.earlier));
  if (cell.latest.bytes != 0) history.groups.push_back({cell.latest, cell.lanes, cell.warps});
  history.many_blocks = cell.many_blocks;
  history.operation = cell.latest.operation;
  return history;
}

/// Moves the history back to the cell.
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
  HistoryCheck check(history, now, shadow.address_of(offset));
  if (const Group* then = check.find_conflict(); then != nullptr)
    report_conflict(*then, now, kind, region, thread);
  check.add();
  if (history.groups.size() == 1 && now.bytes == 0xF && is_plain_write(now))
    reduce(shadow, cell, now);
}

/// Checks an access against a cell that contains the whole history, and stores it in the cell.
/// \returns whether the cell can represent it
__attribute__((always_inline)) inline bool check_alone(Cell& cell, const void* address,
                                                       const Event& now, Kind kind, Region region,
                                                       const Thread* thread) {
  if (conflict(cell.earlier, now) && !is_ordered(cell.earlier, now, address)) {
    report_conflict(group_of(cell.earlier), now, kind, region, thread);
  } else if (conflict(cell.latest, now)) {
    const Group group{cell.latest, cell.lanes, cell.warps};
    const bool others = cell.many_blocks && now.block != no_block &&
                        cell.latest.operation == now.operation;
    if (others || !is_done(group, now, address))
      report_conflict(group, now, kind, region, thread);
  }
  return is_plain_write(now) ? remember_write(cell, now) : remember(cell, now, address);
}

__attribute__((always_inline)) inline void check_cell(Shadow& shadow, Cell& cell,
                                                      std::size_t offset, const Event& now,
                                                      Kind kind, Region region,
                                                      const Thread* thread) {
  if (cell.history != 0) {
    check_history(shadow, cell, offset, now, kind, region, thread);
  } else if (!check_alone(cell, shadow.address_of(offset), now, kind, region, thread)) {
    HistoryCheck(expand(shadow, cell), now, shadow.address_of(offset)).add();
  }
  if (now.writes && kind != early_write) cell.written |= now.bytes;
}

/// Whether an access takes what is there.
bool takes_value(Kind kind) {
  return !is_write(kind) || kind == atomic || kind == atomic_compare;
}

/// Tells of an access that takes what nobody wrote: all of it, or more than the padding in a
/// structure can be.
__attribute__((noinline, cold)) void report_unwritten(const Event& now, Kind kind, Region region,
                                                      const Thread* thread) {
  const std::string verb = !is_write(kind) ? " is read" : " is updated";
  add_finding("uninitialised read", now.place, 0, thread,
              (region == Region::shared ? "shared memory that the block has not written"
                                        : "memory that nothing has written") +
                  verb);
}

/// Of the bytes of an access, how many that nobody wrote it has just met in a row.
struct Unwritten {
  std::size_t all;  ///< the bytes of the access
  std::size_t in_row = 0;
};

/// Checks and remembers an access, or a part of one, in each cell that it touches. In line, so that
/// the event stays in registers.
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
    if (region == Region::shared && cell.owner != owner) {  // what a block before this one left
      if (cell.history != 0) shadow.forget_history(cell);
      cell = Cell{};
      cell.owner = owner;
    }
    if (reads && (cell.written & now.bytes) != now.bytes)
      cell.written |= shadow.written_unseen(at) & 0xFu;
    // Padding may be read along; what an atomic adds to is a number.
    const unsigned written = cell.written & now.bytes;
    const bool lacks = kind == atomic ? written != now.bytes : written == 0;
    unwritten.in_row = reads && lacks ? unwritten.in_row + here : 0;
    if (unwritten.in_row >= 16 || (unwritten.in_row > 0 && unwritten.in_row == unwritten.all)) {
      report_unwritten(now, kind, region, thread);
      unwritten.in_row = 0;
    }
    check_cell(shadow, cell, at, now, kind, region, thread);
    done += here;
  }
}

}  // namespace

/// Memory that is all zero, and there when it is touched.
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
      claims_(reserve<Claim>(stretches_ * stretch_bytes / 4)),
      unseen_(reserve<std::uint8_t>(stretches_ * stretch_bytes / 4)) {}

Shadow::~Shadow() {
  munmap(cells_, stretches_ * stretch_bytes / 4 * sizeof(Cell));
  munmap(common_, stretches_ * sizeof(Cell));
  munmap(divided_, stretches_);
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
    h.all.emplace_back();
    h.free.push_back(static_cast<std::uint32_t>(h.all.size()));
  }
  cell.history = h.free.back() & 0x7FF'FFFFu;
  h.free.pop_back();
  return h.all[cell.history - 1];
}

void Shadow::forget_history(Cell& cell) {
  Histories& h = *histories_;
  const std::scoped_lock lock(h.mutex);
  History& history = h.all[cell.history - 1];
  history = {.groups = std::move(history.groups)};  // and keeps its room
  history.groups.clear();
  h.free.push_back(cell.history);
  cell.history = 0;
}

void Shadow::forget() {
  histories_ = std::make_unique<Histories>();

  madvise(cells_, stretches_ * stretch_bytes / 4 * sizeof(Cell), MADV_DONTNEED);
  madvise(common_, stretches_ * sizeof(Cell), MADV_DONTNEED);
  madvise(divided_, stretches_, MADV_DONTNEED);
  madvise(claims_, stretches_ * stretch_bytes / 4 * sizeof(Claim), MADV_DONTNEED);
  madvise(unseen_, stretches_ * stretch_bytes / 4, MADV_DONTNEED);
}

void Shadow::note_written(std::uint8_t mask) {
  for (std::size_t stretch = 0; stretch < stretches_; ++stretch) {
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
    return;  // as the others are: untouched
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

/// The cell of a byte of the block's shared memory, fresh if it is a block's before this one.
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

void check_thread(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                  const Event& event, Region region, const Thread& thread) {
  Unwritten unwritten{bytes};
  check_cells(shadow, offset, bytes, kind, event, region, &thread, unwritten);
}

/// Checks a copy or a fill where one cell stands for all of a stretch.
/// \returns whether nothing is to be reported, and one cell still can; if not, nothing is done
static bool check_stretch(Cell& common, const Event& now, Kind kind, Region region) {
  if (!now.writes && region != Region::host && common.written != 0xF) return false;
  if (conflict(common.earlier, now) && !is_ordered(common.earlier, now, nullptr)) return false;
  const Group group{common.latest, common.lanes, common.warps};
  if (conflict(common.latest, now) && !is_done(group, now, nullptr)) return false;
  if (!(is_plain_write(now) ? remember_write(common, now) : remember(common, now, nullptr)))
    return false;
  if (now.writes && kind != early_write) common.written = 0xF;
  return true;
}

void check_operation(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                     std::uint32_t operation, Place place, Region region) {
  const bool is_plain = kind == read || kind == write || kind == early_write;
  Event now{.operation = operation,
            .block = no_block,
            .place = place,
            .bytes = 0xF,
            .writes = is_write(kind),
            .atomic = is_plain ? Reach::none : Reach::all};
  Unwritten unwritten{bytes};
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t at = offset + done;
    const std::size_t here =
        std::min(bytes - done, Shadow::stretch_bytes - at % Shadow::stretch_bytes);
    Cell* common = here == Shadow::stretch_bytes ? shadow.common_cell(at) : nullptr;
    if (common != nullptr && common->written != 0xF &&
        shadow.is_written_unseen(at / Shadow::stretch_bytes))
      common->written = 0xF;
    if (common != nullptr && check_stretch(*common, now, kind, region))
      unwritten.in_row = 0;
    else
      check_cells(shadow, at, here, kind, now, region, nullptr, unwritten);
    done += here;
  }
}

}  // namespace cuda_on_cpu::analysis
