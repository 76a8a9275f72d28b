/// \file
/// Shadow memory: the access history of each four-byte word of memory.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../analysis.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"

extern "C" const char __executable_start;

namespace cuda_on_cpu::analysis {

/// The identifier of an instruction: the address of the following instruction, relative to the
/// start of the program and modulo 2^32. Modules are loaded so that no two instructions have the
/// same place.
using Place = std::uint32_t;

inline Place place_of(const void* address) {
  return address == nullptr
             ? 0
             : static_cast<Place>(static_cast<const char*>(address) - &__executable_start);
}
const void* address_of(Place place);

/// The scope in which an access is atomic.
enum class Reach : std::uint8_t { none, block, all };

/// One access: the operation, block and thread that made the access, and the clocks that order it.
struct Event {
  std::uint32_t operation = 0;  ///< number of an operation of a stream or of the host
  std::uint32_t block = 0;      ///< index of the block in the grid
  std::uint32_t clock = 0;      ///< clock of the block: increases at barriers, fences and releases
  Place place = 0;
  std::uint16_t thread = 0;      ///< rank in the block
  std::uint16_t warp_epoch = 0;  ///< number of earlier operations that ordered the warp's accesses
  std::uint16_t phase = 0;       ///< phase of the thread at the barriers of its gang
  std::uint8_t bytes : 4 = 0;    ///< mask of the accessed bytes of the word; 0: no access
  bool writes : 1 = false;
  Reach atomic = Reach::none;
};

/// The value of `Event::block` for accesses that no kernel makes.
inline constexpr std::uint32_t no_block = ~0u;

/// An access by a block that has ended.
struct EndedAccess {
  std::uint32_t block = 0;
  Place place = 0;
  std::uint16_t thread = 0;
};
inline EndedAccess ended_access(const Event& event) {
  return {event.block, event.place, event.thread};
}

/// A group of accesses to the same bytes that do not conflict with each other. The group is a
/// single access, or plain reads or atomic operations by threads of one block since its last
/// barrier.
struct Group {
  Event last;
  std::uint32_t lanes = 0;  ///< mask of the lanes of the last warp that have made such accesses
                            ///< since the warp's last collective
  std::uint32_t warps = 0;
  bool many_blocks = false;  ///< whether the group includes blocks that have ended and whose
                             ///< accesses stay unordered until the launch ends
  EndedAccess ended = {};    ///< an access by one of these blocks
};

/// The access history of a word. As in FastTrack (Flanagan and Freund, PLDI 2009), a plain write
/// replaces all earlier accesses. One epoch represents several reads if the reads are ordered, or
/// if they belong to threads of one block between two barriers.
struct alignas(64) Cell {
  static constexpr std::uint32_t most_histories = (1u << 23) - 1;

  Event earlier;            ///< an access before the group of `latest`; usually the last plain
                            ///< write
  Event latest;             ///< last access of the group of accesses after `earlier`
  std::uint32_t lanes = 0;  ///< mask of the lanes in the group of `latest`
  std::uint32_t warps = 0;
  std::uint32_t owner = 0;         ///< shared memory: the block or gang that owns the word, or 0
  std::uint32_t history : 23 = 0;  ///< index of the separate history of the word, or 0
  std::uint32_t carried : 4 = 0;   ///< mask of the bytes to which a thread copied unwritten bytes
  bool many_blocks : 1 = false;    ///< whether the group of `latest` includes ended blocks
  std::uint32_t written : 4 = 0;   ///< mask of the initialised bytes
};
static_assert(sizeof(Cell) == 64, "a cell fills one line of the cache");

/// The access history of a word if it does not fit into a cell.
struct History {
  std::vector<Group> groups = {};
  std::size_t most = 16;  ///< obsolete groups are removed at this number of groups
};

/// The claim on a word of global memory by blocks of a trial. A claim contains the number of the
/// trial, the position of the block in the trial (0: several blocks read), and whether the block
/// writes.
using Claim = std::atomic<std::uint64_t>;

/// Bytes of a word that an unanalysed block has written. These bytes count as written for blocks
/// that start later, but not for blocks that run at the same time.
struct Mark {
  std::uint8_t* word;
  std::uint8_t bytes;  ///< mask of the bytes
};

/// Records the bytes of all `marks` as written in the shadow memory.
void count_as_written(std::span<const Mark> marks);

/// The cells of a range of memory. As long as all cells of a stretch (1 KiB) are equal, for example
/// after a memset, one common cell represents the stretch. The other cells then use no memory.
class Shadow {
 public:
  static constexpr std::size_t stretch_bytes = 1024;

  Shadow(const void* memory, std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// The cells of a range of bytes. After the call, the stretches of the range have separate cells.
  Cell* cells(std::size_t byte, std::size_t bytes) {
    for (std::size_t i = byte / stretch_bytes; i <= (byte + bytes - 1) / stretch_bytes; ++i)
      if (!divided_[i]) divide(i);
    return &cells_[byte / 4];
  }
  Cell& cell(std::size_t byte) { return *cells(byte, 1); }

  /// An access by a block that has ended, for a cell whose group includes such blocks.
  EndedAccess& ended(const Cell& cell) { return ended_[&cell - cells_]; }

  /// The claims of all words, in the order of their addresses.
  Claim* claims() { return claims_; }

  /// Adds marks for bytes that an unanalysed block writes, except bytes that unanalysed blocks have
  /// already written.
  void note_written(std::size_t byte, std::size_t bytes, std::vector<Mark>& marks) const;

  /// `written_unseen` returns the mask of the bytes in a word that unanalysed blocks have written.
  /// `is_written_unseen` returns whether unanalysed blocks have written all bytes of a stretch.
  std::uint8_t written_unseen(std::size_t byte) const { return unseen_[byte / 4]; }
  bool is_written_unseen(std::size_t stretch) const;

  /// Whether none of the bytes in a range has been written.
  bool is_unwritten(std::size_t byte, std::size_t bytes);

  /// Whether any byte of a range has been written.
  bool is_any_written(std::size_t byte, std::size_t bytes);

  /// The separate cell of a byte; null if a common cell represents the stretch of the byte.
  const Cell* own_cell(std::size_t byte) const {
    return divided_[byte / stretch_bytes] ? &cells_[byte / 4] : nullptr;
  }

  /// Whether a byte is unwritten.
  bool lacks(std::size_t byte);

  /// The length in bytes of the longest run of unwritten bytes in a range.
  std::size_t longest_unwritten(std::size_t byte, std::size_t bytes);

  /// After a copy of bytes, marks the copies of unwritten bytes as unwritten.
  /// \param to offset of the destination in this shadow
  void carry_unwritten(std::size_t to, Shadow& from, std::size_t from_byte, std::size_t bytes);

  /// Resets all cells to their initial state.
  void forget();

  /// In each word, marks the bytes of a mask as written and all other bytes as unwritten.
  void note_written(std::uint8_t mask);

  /// The address of a byte.
  const void* address_of(std::size_t byte) const { return memory_ + byte; }

  /// These functions return, create and delete the history of a cell.
  History& history(const Cell& cell);
  History& make_history(Cell& cell);
  void forget_history(Cell& cell);

  /// The common cell of a stretch, or null if the stretch has separate cells.
  Cell* common_cell(std::size_t byte) {
    const std::size_t stretch = byte / stretch_bytes;
    return divided_[stretch] ? nullptr : &common_[stretch];
  }

 private:
  void divide(std::size_t stretch);
  bool is_complete(std::size_t byte);
  std::uint8_t written(std::size_t byte);

  struct Histories {
    std::mutex mutex;  // several threads check the logs of a trial
    std::deque<History> all;
    std::vector<std::uint32_t> free;
  };

  const char* memory_;
  std::size_t stretches_;
  std::unique_ptr<Histories> histories_ = std::make_unique<Histories>();
  Cell* cells_;
  Cell* common_;        ///< common cell of each stretch
  bool* divided_;       ///< whether a stretch has separate cells
  bool* complete_;      ///< whether all bytes of a stretch are known to be written
  EndedAccess* ended_;  ///< access by an ended block, for each cell
  Claim* claims_;
  std::uint8_t* unseen_;  ///< mask, for each word, of the bytes that unanalysed blocks have written
};

/// The region of an accessed address. Memory of the region `host` is also accessible to the host.
/// Uninstrumented host code may have written this memory.
enum class Region : std::uint8_t { shared, global, host };

/// Whether an access of this kind may change memory.
inline bool is_write(Kind kind) {
  return kind != read && kind != volatile_read && kind != atomic_read;
}

/// The scope in which an access of the current thread is atomic.
inline Reach reach_of(Kind kind) {
  if (kind == read || kind == write || kind == early_write) return Reach::none;
  return block->narrow ? Reach::block : Reach::all;
}

/// The phase of a thread at the barriers of its gang: twice the number of barriers passed, plus 1
/// if the thread has arrived at the next barrier.
inline std::uint16_t phase_of(const Thread& thread) {
  return static_cast<std::uint16_t>(2 * block->gang_waits + thread.has_arrived);
}

/// The index, from 0, of the first barrier of the gang at which a thread arrives after an access.
/// \param phase phase of the access
constexpr std::uint32_t barriers_until_arrival(std::uint16_t phase) { return (phase + 1u) / 2; }

/// Whether an access happens before code that has waited for `waits` barriers of the same gang. The
/// accessing thread must have arrived at one of these barriers after the access. Phases are known
/// modulo 2^16.
constexpr bool is_before_waits(std::uint16_t phase, std::uint32_t waits) {
  constexpr std::uint32_t mask = 0x7FFF, most_ahead = 2;
  const std::uint32_t more = (waits - barriers_until_arrival(phase)) & mask;
  return more != 0 && more <= mask - most_ahead;
}

/// The event of an access that a thread makes now.
inline Event event_of(Kind kind, Place place, const Thread& thread) {
  const Block& b = *block;
  return {.operation = b.launch->operation,
          .block = b.number,
          .clock = b.clock,
          .place = place,
          .thread = static_cast<std::uint16_t>(thread.rank),
          .warp_epoch = static_cast<std::uint16_t>(thread.warp->epoch),
          .phase = phase_of(thread),
          .bytes = 0xF,
          .writes = is_write(kind),
          .atomic = reach_of(kind)};
}

/// Whether two accesses are atomic with respect to each other: both have a wider scope than a
/// block, or both belong to the same block.
inline bool are_atomic(const Event& a, const Event& b) {
  if (a.atomic == Reach::none || b.atomic == Reach::none) return false;
  return (a.atomic == Reach::all && b.atomic == Reach::all) ||
         (a.operation == b.operation && a.block == b.block);
}

/// Whether two accesses conflict: they share bytes, at least one of them writes, and they are not
/// atomic with respect to each other. Conflicting accesses that are not ordered are a race.
inline bool conflict(const Event& a, const Event& b) {
  return (a.bytes & b.bytes) != 0 && (a.writes || b.writes) && !are_atomic(a, b);
}

/// A nonzero identifier of the running block, or of its gang if the gang has several blocks. The
/// identifier marks the owner of shared memory.
inline std::uint32_t current_owner() {
  const auto gang = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block->gang) >> 4);
  const bool is_alone = block->gang == nullptr || block->gang->size() == 1;
  const std::uint32_t who = is_alone ? block->number : gang;
  return (block->launch->operation * 0x9E37'79B1u ^ who * 0x85EB'CA6Bu) | 1u;
}

/// Marks bytes as written after another block has sent them to the running block's shared memory.
void note_received(Shadow& shadow, std::size_t offset, std::size_t bytes);

/// Sets the name that messages use for an operation.
void note_name(std::uint32_t operation, const char* name);

/// The result of a plain read. `unwritten`: all bytes, or at least 16 consecutive bytes, are
/// unwritten. `partly_written`: fewer bytes are unwritten, and they may be padding.
enum class Found : std::uint8_t { written, partly_written, unwritten };

/// Checks an access of the current thread against the history in its cells, and stores the access
/// in the cells. Reports races and updates of unwritten bytes.
/// \param offset offset of the first byte in the shadow
Found check_thread(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                   const Event& event, Region region, const Thread& thread);

/// Checks an access of the host, or of an operation in a stream.
/// \param reports whether a read of unwritten bytes is an error
void check_operation(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                     std::uint32_t operation, Place place, Region region, bool reports = true);

/// `report_unwritten` reports an access that uses unwritten bytes. `report_copy_of_unwritten`
/// reports a read of unwritten bytes whose copy counts as unwritten.
/// \param place instruction that stores the copy
void report_unwritten(const Event& now, Kind kind, Region region, const Thread* thread);
void report_copy_of_unwritten(const Event& now, Place place, Region region, const Thread& thread);

/// Reports two conflicting accesses that are not ordered.
/// \param what action of the later access, as in "reads what is written by"
void report_race(const Event& then, const Event& now, const char* what, Region region,
                 const Thread* thread);

}  // namespace cuda_on_cpu::analysis
