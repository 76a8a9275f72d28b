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

#include "../indestructible.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"
#include "../runtime/generations.hpp"
#include "../runtime/images.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "findings.hpp"
#include "knowledge.hpp"
#include "lessons.hpp"
#include "values.hpp"

namespace cuda_on_cpu::analysis {

__thread bool threads_learned = false;

namespace {

std::unordered_map<std::uintptr_t, KnowledgeOf>& published() {
  static auto& published = indestructible<std::unordered_map<std::uintptr_t, KnowledgeOf>>();
  return published;
}

/// What was published by fences or atomics that reach no farther than their block.
std::unordered_map<std::uintptr_t, KnowledgeOf>& published_in_block() {
  static auto& published = indestructible<std::unordered_map<std::uintptr_t, KnowledgeOf>>();
  return published;
}

using Clocks = std::vector<std::uint32_t>;  // of a block's threads, by rank

/// What each thread of the block that runs knows to be done of the others, beside what barriers
/// order; empty as a rule.
std::vector<Clocks>& threads_know() {
  thread_local auto& know = indestructible<std::vector<Clocks>>();
  return know;
}

Clocks& thread_knows(std::uint16_t thread) {
  auto& know = threads_know();
  threads_learned = true;
  if (know.size() <= thread) know.resize(most_threads);
  if (know[thread].empty()) know[thread].resize(most_threads);
  return know[thread];
}

bool knows_of_others(unsigned thread) {
  const auto& know = threads_know();
  return thread < know.size() && !know[thread].empty();
}

void learn(Clocks& mine, const Clocks& other) {
  for (std::size_t i = 0; i < other.size(); ++i) analysis::learn(mine[i], other[i]);
}

/// What arrived at a cuda::barrier, in this phase and in those that ended.
struct Arrivals {
  Clocks now = Clocks(most_threads), before = Clocks(most_threads);
};

std::unordered_map<const void*, Arrivals>& arrivals() {
  static auto& arrivals = indestructible<std::unordered_map<const void*, Arrivals>>();
  return arrivals;
}

/// The gang that a block of a launch is in.
std::uint32_t gang_of(const Configuration& c, std::uint32_t number) {
  if (c.cooperative) return 0;
  const unsigned x = number % c.grid.x / c.cluster.x;
  const unsigned y = number / c.grid.x % c.grid.y / c.cluster.y;
  const unsigned z = number / (c.grid.x * c.grid.y) / c.cluster.z;
  return (z * (c.grid.y / c.cluster.y) + y) * (c.grid.x / c.cluster.x) + x;
}

/// A flag that a thread has looked at, and when.
struct Look {
  const void* flag;
  std::uint16_t phase;  ///< of its gang
};

/// What a block has learned of others.
struct Learned {
  KnowledgeOf all;
  std::map<std::uint16_t, Look> looks;  ///< the latest of each thread
};

/// What blocks of a gang have learned of the host, by the phase in which they did; each holds those
/// before it.
using LearnedInGang = std::map<std::uint16_t, KnowledgeOf>;

/// What is known in a launch, and in those that run beside it.
struct LearnedInLaunch {
  std::unordered_map<std::uint64_t, Learned> of_blocks;
  std::unordered_map<std::uint64_t, LearnedInGang> of_gangs;
};

LearnedInLaunch& learned_in_launch() {
  static auto& learned = indestructible<LearnedInLaunch>();
  static std::uint32_t launch = 0;
  if (launch != block->launch->beside.front()) {
    learned = {};
    launch = block->launch->beside.front();
  }
  return learned;
}

/// What the block that runs knows, and its gang.
Learned& lessons_of_block() {
  return learned_in_launch().of_blocks[key_of(block->launch->operation, block->number)];
}
LearnedInGang& lessons_of_gang() {
  const std::uint32_t gang = gang_of(block->launch->configuration, block->number);
  return learned_in_launch().of_gangs[key_of(block->launch->operation, gang)];
}

KnowledgeOf& learned() { return lessons_of_block().all; }

bool is_in_gang() { return block->gang != nullptr && block->gang->size() > 1; }

/// The gang of the block that runs learns something behind its barrier at the end of a phase.
void learn_in_gang(std::uint16_t phase, const KnowledgeOf& knowledge) {
  LearnedInGang& phases = lessons_of_gang();
  const auto [here, is_new] = phases.try_emplace(phase);
  if (is_new && here != phases.begin()) here->second = std::prev(here)->second;
  for (auto later = here; later != phases.end(); ++later) learn(later->second, knowledge);
  constexpr std::size_t most = 3;  // no block is farther behind
  if (phases.size() > most) phases.erase(phases.begin());
}

/// A block learns what the host has published where its threads have looked, for the host may have
/// done so just before the look. The mutex is held.
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

/// Whether a block of the gang of the one that runs knew of an access, before the last barrier.
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

/// What was published of the block that runs counts for a thread of it, too: a flag between
/// threads of the block.
void learn_within_block(const KnowledgeOf& publication, const Thread& thread) {
  const auto here = publication.find(key_of(block->launch->operation, block->number));
  if (here == publication.end()) return;
  Clocks& mine = thread_knows(static_cast<std::uint16_t>(thread.rank));
  for (const auto& [other, clock] : here->second.own) analysis::learn(mine[other], clock);
}

/// Whether the block that runs has learned that an access of another one is done.
bool is_learned(const Event& then) {
  const std::scoped_lock lock(knowledge_mutex());
  return is_known(learned(), then);
}

/// Whether an access of another block of the same launch is done before one of this block.
bool is_ordered_across(const Event& then, const Event& now) {
  const Configuration& c = block->launch->configuration;
  if (gang_of(c, then.block) == gang_of(c, now.block) && then.phase != now.phase) return true;
  return is_learned(then);
}

/// Whether an access of another operation is done before one of the block that runs: by the order
/// of the streams, or by flags, if that operation is a grid that runs beside this one, or one
/// before such a grid.
bool is_ordered_beside(const Event& then) {
  const std::vector<std::uint32_t>& beside = block->launch->beside;
  if (std::find(beside.begin(), beside.end(), then.operation) != beside.end())
    return is_learned(then);
  const std::scoped_lock lock(knowledge_mutex());
  learn_from_host(lessons_of_block());
  return is_known_by(learned(), then) || is_known_in_gang(then);
}

/// Whether a thread knows that another thread of its block has done an access.
bool is_known(const Event& then, const Event& now) {
  return knows_of_others(now.thread) && threads_know()[now.thread][then.thread] >= then.clock;
}

/// A gang of a grid, and how many barriers it had passed.
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

/// What the operations that kernels asked for, and that are going on, have behind them.
std::unordered_map<std::uint32_t, std::shared_ptr<const Inheritance>>& inheritances() {
  static auto& all =
      indestructible<std::unordered_map<std::uint32_t, std::shared_ptr<const Inheritance>>>();
  return all;
}

/// Whether an access is done before all that an operation does because the thread that asked for
/// it knew so.
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

bool is_ordered(const Event& then, const Event& now) {
  if (then.operation != now.operation)
    return happens_before_operation(then.operation, now.operation) ||
           is_inherited(then, now.operation) || is_taught(then, now.operation) ||
           (now.block != no_block && is_ordered_beside(then));
  if (now.block == no_block) return true;
  if (then.block != now.block) return is_ordered_across(then, now);
  if (then.clock <= block->barrier_clock || then.thread == now.thread) return true;
  if (is_known(then, now)) return true;
  return then.thread / warp_size == now.thread / warp_size && then.warp_epoch != now.warp_epoch;
}

namespace {

using Readers = std::vector<Event>;  // by the last read of each block

/// Who may still be reading a cell beside its last reader, where the blocks of a grid wait for each
/// other: there a cell is written again when all have told that they are done.
std::unordered_map<const Cell*, Readers>& other_readers() {
  static auto& readers = indestructible<std::unordered_map<const Cell*, Readers>>();
  return readers;
}

/// Keeps a cell's last reader, which will be another block now, unless it is done.
/// \returns whether there was room for it
bool keep_reader(Cell& cell, const Event& now) {
  constexpr std::size_t most = 4;
  if (is_ordered(cell.read, now)) return true;
  Readers& others = other_readers()[&cell];
  std::erase_if(others, [&](const Event& other) {
    return (other.operation == cell.read.operation && other.block == cell.read.block) ||
           is_ordered(other, now);
  });
  if (others.size() == most) return false;
  others.push_back(cell.read);
  return cell.others = true;
}

bool other_readers_are_done(const Cell& cell, const Event& now) {
  const Readers others = [&] {
    const std::scoped_lock lock(knowledge_mutex());
    return other_readers()[&cell];
  }();
  return std::all_of(others.begin(), others.end(), [&](const Event& other) {
    return (other.bytes & now.bytes) == 0 || is_ordered(other, now);
  });
}

/// A cell has been written, and reads before that count no more.
void forget_other_readers(Cell& cell) {
  const std::scoped_lock lock(knowledge_mutex());
  other_readers().erase(&cell);
  cell.others = false;
}

/// Of operations that are neither kernels nor copies nor fills.
std::unordered_map<std::uint32_t, const char*>& names() {
  static auto& names = indestructible<std::unordered_map<std::uint32_t, const char*>>();
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

__attribute__((noinline, cold)) void report_race(const Event& then, const Event& now,
                                                 const char* what, Region region,
                                                 const Thread* thread) {
  const bool other_operation = then.operation != now.operation;
  const bool of_host = is_host_operation(then.operation) || is_host_operation(now.operation);
  const char* kind = !other_operation ? "race" : of_host ? "host race" : "stream race";
  const std::string memory = region == Region::shared ? "shared memory: " : "";
  const std::string order = other_operation ? ", and nothing makes the one wait for the other"
                                            : ", with no barrier between them";
  add_finding(kind, now.place, then.place, thread,
              memory + name_of(now, other_operation) + ' ' + what + ' ' +
                  name_of(then, other_operation) + order);
}

namespace {

std::uint8_t mask_of(std::size_t offset, std::size_t bytes) {
  if (bytes >= 4) return 0xF;
  return static_cast<std::uint8_t>(((1u << bytes) - 1) << offset % 4);
}

bool same_readers(const Event& read, const Event& now) {
  return read.operation == now.operation && read.block == now.block &&
         (now.block == no_block || read.clock > block->barrier_clock);
}

/// Whether just one thread of the block read since its last barrier.
bool has_one_reader(const Cell& cell) {
  return (cell.warps & (cell.warps - 1)) == 0 && (cell.lanes & (cell.lanes - 1)) == 0;
}

/// Whether the block that runs is of a grid whose blocks may wait for each other.
bool may_wait_for_blocks() { return block->launch->configuration.cooperative; }

/// Notes that another block than the last reader's reads, or the same one behind a barrier.
void note_blocks(Cell& cell, const Event& now) {
  const bool was_read = cell.read.bytes != 0 && now.block != no_block;
  const bool same_operation = was_read && cell.read.operation == now.operation;
  const bool same_block = same_operation && cell.read.block == now.block;
  if (was_read && may_wait_for_blocks())
    cell.many_blocks =
        (same_operation && cell.many_blocks) || (!same_block && !keep_reader(cell, now));
  else
    cell.many_blocks =
        same_operation && (cell.many_blocks || (!same_block && cell.read.phase == now.phase));
}

/// Adds a read to those that the cell remembers.
void remember_read(Cell& cell, const Event& now) {
  const unsigned warp = now.thread / warp_size, lane = now.thread % warp_size;
  const bool is_part = now.bytes != 0xF && now.block != no_block;
  cell.parts = is_part || (cell.parts && cell.read.operation == now.operation);
  if (!same_readers(cell.read, now)) {
    note_blocks(cell, now);
    cell.warps = cell.lanes = 0;
  } else if (is_known(cell.read, now) && has_one_reader(cell)) {
    cell.warps = cell.lanes = 0;  // who waits for this thread waits for that one, too
  } else if (cell.read.thread / warp_size != warp || cell.read.warp_epoch != now.warp_epoch) {
    cell.lanes = 0;
  }
  cell.warps |= 1u << warp;
  cell.lanes |= 1u << lane;
  cell.read = now;
}

/// Whether somebody else may still be reading what is written now.
bool readers_are_done(const Cell& cell, const Event& now) {
  if (cell.read.bytes == 0) return true;
  if (cell.others && !other_readers_are_done(cell, now)) return false;
  // Each may have read its own: only of the last one is it known which.
  if (cell.parts) return is_ordered(cell.read, now);
  if (!same_readers(cell.read, now)) {
    if (cell.many_blocks && cell.read.operation == now.operation && cell.read.block == now.block &&
        cell.read.phase == now.phase)
      return false;
    return is_ordered(cell.read, now);
  }
  if (now.block == no_block || is_known(cell.read, now)) return true;
  const unsigned warp = now.thread / warp_size, lane = now.thread % warp_size;
  if ((cell.warps & ~(1u << warp)) != 0) return false;
  if (cell.read.warp_epoch != now.warp_epoch) return true;
  return (cell.lanes & ~(1u << lane)) == 0;
}

/// Forgets who read before a write: who waits for that waits for them, too.
void forget_reads(Cell& cell) {
  cell.read = {};
  cell.warps = cell.lanes = 0;
  cell.many_blocks = cell.parts = false;
}

__attribute__((always_inline)) inline void check_cell(Cell& cell, const Event& now, Kind kind,
                                                      Region region, const Thread* thread) {
  const bool writes = kind != read && kind != volatile_read;
  const bool conflicts_with_write =
      (cell.write.bytes & now.bytes) != 0 && !are_atomic(cell.write, now);
  if (conflicts_with_write && !is_ordered(cell.write, now)) {
    if (kind == write && thread != nullptr)
      expect_value(cell.write, now, region, *thread);
    else
      report_race(cell.write, now,
                  writes ? "writes what was written by" : "reads what is written by", region,
                  thread);
  }
  if (!writes) return remember_read(cell, now);
  if ((cell.read.bytes & now.bytes) != 0 && !are_atomic(cell.read, now) &&
      !readers_are_done(cell, now))
    report_race(cell.read, now, "writes what is read by", region, thread);
  if ((cell.read.bytes & ~now.bytes) == 0 && now.atomic == Reach::none) forget_reads(cell);
  const bool first_write = cell.write.operation != now.operation || cell.write.block != now.block ||
                           cell.write.clock != now.clock || cell.write.thread != now.thread;
  const auto bytes = static_cast<std::uint8_t>(first_write ? 0 : cell.write.bytes);
  cell.write = now;
  cell.write.bytes |= bytes;
  if (cell.others) forget_other_readers(cell);
  if (kind != early_write) cell.written |= now.bytes;
}

/// Whether an access takes what is there.
bool takes_value(Kind kind) {
  return kind == read || kind == volatile_read || kind == atomic || kind == atomic_compare;
}

/// Tells of an access that takes what nobody wrote: all of it, or more than the padding in a
/// structure can be.
__attribute__((noinline, cold)) void report_unwritten(const Event& now, Kind kind, Region region,
                                                      const Thread* thread) {
  const std::string verb = kind == read || kind == volatile_read ? " is read" : " is updated";
  add_finding("uninitialised read", now.place, 0, thread,
              (region == Region::shared ? "shared memory that the block has not written"
                                        : "memory that nothing has written") +
                  verb);
}

/// Whether nothing is to be said of a copy or a fill where it touches a cell.
bool has_no_objection(const Cell& cell, const Event& now, Kind kind, Region region) {
  if (cell.write.bytes != 0 && !is_ordered(cell.write, now)) return false;
  if (kind == read) return region == Region::host || cell.written == 0xF;
  return readers_are_done(cell, now);
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
    now.bytes = whole ? 0xF : mask_of(at, here);
    Cell& cell = shadow.cell(at);
    if (region == Region::shared && cell.owner != owner) {
      cell = Cell{};  // what a block before this one left
      cell.owner = owner;
    }
    if (reads && (cell.written & now.bytes) != now.bytes) cell.written |= shadow.written_unseen(at);
    // Padding may be read along; what an atomic adds to is a number.
    const int written = cell.written & now.bytes;
    const bool lacks = kind == atomic ? written != now.bytes : written == 0;
    unwritten.in_row = reads && lacks ? unwritten.in_row + here : 0;
    if (unwritten.in_row >= 16 || (unwritten.in_row > 0 && unwritten.in_row == unwritten.all)) {
      report_unwritten(now, kind, region, thread);
      unwritten.in_row = 0;
    }
    check_cell(cell, now, kind, region, thread);
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

Shadow::Shadow(std::size_t bytes)
    : stretches_(bytes / stretch_bytes + 1),
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

void Shadow::forget() {
  madvise(cells_, stretches_ * stretch_bytes / 4 * sizeof(Cell), MADV_DONTNEED);
  madvise(common_, stretches_ * sizeof(Cell), MADV_DONTNEED);
  madvise(divided_, stretches_, MADV_DONTNEED);
  madvise(claims_, stretches_ * stretch_bytes / 4 * sizeof(Claim), MADV_DONTNEED);
  madvise(unseen_, stretches_ * stretch_bytes / 4, MADV_DONTNEED);
}

void Shadow::note_written(std::uint8_t mask) {
  for (std::size_t stretch = 0; stretch < stretches_; ++stretch) {
    common_[stretch].written = mask;
    if (!divided_[stretch]) continue;
    Cell* const first = &cells_[stretch * stretch_bytes / 4];
    for (Cell* cell = first; cell != first + stretch_bytes / 4; ++cell) cell->written = mask;
  }
}

void Shadow::divide(std::size_t stretch) {
  divided_[stretch] = true;
  const Cell& common = common_[stretch];
  if (common.write.bytes == 0 && common.read.bytes == 0 && common.written == 0)
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
  cell = Cell{};
  cell.owner = owner;
  return cell;
}

void note_received(Shadow& shadow, std::size_t offset, std::size_t bytes) {
  for (std::size_t done = 0, here = 0; done < bytes; done += here) {
    here = std::min(bytes - done, 4 - (offset + done) % 4);
    cell_of_block(shadow, offset + done, current_owner()).written |= mask_of(offset + done, here);
  }
}

void check_thread(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                  const Event& event, Region region, const Thread& thread) {
  Unwritten unwritten{bytes};
  check_cells(shadow, offset, bytes, kind, event, region, &thread, unwritten);
}

void check_operation(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                     std::uint32_t operation, Place place, Region region) {
  const bool is_plain = kind == read || kind == write || kind == early_write;
  Event now{.operation = operation,
            .block = no_block,
            .place = place,
            .bytes = 0xF,
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
    if (common != nullptr && has_no_objection(*common, now, kind, region)) {
      check_cell(*common, now, kind, region, nullptr);
      unwritten.in_row = 0;
    } else {
      check_cells(shadow, at, here, kind, now, region, nullptr, unwritten);
    }
    done += here;
  }
}

/// Adds what a thread of the block that runs has done, and knows to be done by others of the block.
static void learn_of_block(Knowledge& here, const Thread& thread) {
  const Block& b = *block;
  learn(here, {b.barrier_clock, {{static_cast<std::uint16_t>(thread.rank), b.clock}}});
  if (knows_of_others(thread.rank))
    for (std::uint16_t other = 0; other < b.launch->threads; ++other)
      if (const std::uint32_t clock = threads_know()[thread.rank][other]; clock != 0)
        learn(here.own[other], clock);
  if (const Warp& warp = *thread.warp; warp.epoch > 0)  // for its warp, up to where the warp met
    for (std::uint32_t rest = thread.rank / warp_size * warp_size, last = rest + warp_size;
         rest < std::min(last, b.launch->threads); ++rest)
      learn(here.own[static_cast<std::uint16_t>(rest)], warp.clock);
}

/// Adds what the barriers of its gang make known to the block that runs.
static void note_phase(KnowledgeOf& all) {
  if (!is_in_gang()) return;
  const Launch& launch = *block->launch;
  const std::uint32_t gang = gang_of(launch.configuration, block->number);
  for (std::uint32_t other = 0; other < launch.blocks; ++other)
    if (gang_of(launch.configuration, other) == gang)
      all[key_of(launch.operation, other)].phase = static_cast<std::uint16_t>(block->gang->phase());
}

/// Whether the host may look at an address.
static bool is_seen_by_host(const void* address) {
  const Allocation* allocation = find_allocation(address);
  return allocation != nullptr && allocation->on_host();
}

void synchronise_at(const void* address, Kind kind, bool in_block) {
  Block& b = *block;
  const Thread& thread = *b.current;
  const DeviceAtWork at_work;
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  if (kind != volatile_write) {
    const auto found = published().find(key), near = published_in_block().find(key);
    if (found != published().end()) {
      if (!in_block) learn(learned(), found->second);
      learn_within_block(found->second, thread);
    }
    if (near != published_in_block().end()) learn_within_block(near->second, thread);
    if (!in_block && host_sees_memory()) {
      const std::scoped_lock lock(knowledge_mutex());
      Learned& mine = lessons_of_block();
      const Look now{address, static_cast<std::uint16_t>(b.gang == nullptr ? 0 : b.gang->phase())};
      const auto [last, is_first] =
          mine.looks.try_emplace(static_cast<std::uint16_t>(thread.rank), now);
      if (!is_first) learn_from_host(mine, std::exchange(last->second, now));
    }
  }
  if (kind == volatile_read || thread.fenced == Among::nobody) return;
  const bool for_all = thread.fenced > Among::block && !in_block;
  const auto publish = [&](KnowledgeOf& publication) {
    if (for_all) learn(publication, learned());
    learn_of_block(publication[key_of(b.launch->operation, b.number)], thread);
  };
  publish((for_all ? published() : published_in_block())[key]);
  if (for_all && thread.fenced == Among::system && is_seen_by_host(address)) {
    KnowledgeOf all;
    publish(all);
    note_phase(all);
    publish_to_host(address, all);
  }
  ++b.clock;
}

std::shared_ptr<const Inheritance> inheritance(const Thread& thread) {
  Block& b = *block;
  const std::scoped_lock lock(knowledge_mutex());
  const auto older = inheritances().find(b.launch->operation);
  auto made = older == inheritances().end() ? std::make_shared<Inheritance>()
                                            : std::make_shared<Inheritance>(*older->second);
  learn(made->known, learned());
  learn_of_block(made->known[key_of(b.launch->operation, b.number)], thread);
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

void forget_publications_before(Launch& launch) {
  struct Begun {
    std::uint32_t operation;
    int device;
  };
  static auto& begun = indestructible<std::vector<Begun>>();
  forget_old_lessons();
  std::erase_if(
      begun, [&](const Begun& other) { return happens_before(other.operation, launch.operation); });
  const auto is_elsewhere = [&](const Begun& other) { return other.device != launch.device; };
  // What its ancestors and their kin published may still be asked for.
  const bool is_child = has_parent(launch.operation);
  if (!is_child && std::none_of(begun.begin(), begun.end(), is_elsewhere)) {
    begun.clear();
    published().clear();
    published_in_block().clear();
  }
  for (const Begun& other : begun)
    if (is_elsewhere(other)) launch.beside.push_back(other.operation);
  if (!is_child) begun.push_back({launch.operation, launch.device});
}

void forget_threads() {
  threads_know().clear();
  threads_learned = false;
  const std::scoped_lock lock(knowledge_mutex());
  std::erase_if(arrivals(),
                [](const auto& arrival) { return is_shared_of(arrival.first, block->gang_rank); });
}

void lanes_ordered(Warp& warp, unsigned lanes) {
  end_trial();
  const DeviceAtWork at_work;
  Clocks all(most_threads);
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const auto rank = static_cast<std::uint16_t>(warp.threads[std::countr_zero(rest)].rank);
    learn(all, thread_knows(rank));
    all[rank] = block->clock;
  }
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    learn(thread_knows(static_cast<std::uint16_t>(warp.threads[std::countr_zero(rest)].rank)), all);
  ++block->clock;
}

void arrives_at(const void* barrier) {
  end_trial();
  Block& b = *block;
  const auto rank = static_cast<std::uint16_t>(b.current->rank);
  const Warp& warp = *b.current->warp;
  const DeviceAtWork at_work;
  const std::scoped_lock lock(knowledge_mutex());  // blocks that begin forget arrivals
  Clocks& now = arrivals()[barrier].now;
  if (!threads_know().empty()) learn(now, thread_knows(rank));
  if (warp.epoch > 0)  // who arrives does so for its warp, up to where the warp met
    for (unsigned lane = 0; lane < warp_size; ++lane)
      learn(now[rank / warp_size * warp_size + lane], warp.clock);
  now[rank] = b.clock++;
}

void phase_ends(const void* barrier) {
  end_trial();
  const DeviceAtWork at_work;
  const std::scoped_lock lock(knowledge_mutex());
  Arrivals& at = arrivals()[barrier];
  learn(at.before, at.now);
}

void has_waited_at(const void* barrier) {
  end_trial();
  const auto rank = static_cast<std::uint16_t>(block->current->rank);
  const DeviceAtWork at_work;
  const std::scoped_lock lock(knowledge_mutex());
  const auto found = arrivals().find(barrier);
  if (found != arrivals().end()) learn(thread_knows(rank), found->second.before);
}

}  // namespace cuda_on_cpu::analysis
