/// \file
/// Shadow memory: the access history of each four bytes of memory.

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

/// An instruction, as the distance of what stands behind it from the start of the program; modules
/// are loaded where no two instructions have the same.
using Place = std::uint32_t;

inline Place place_of(const void* address) {
  return address == nullptr
             ? 0
             : static_cast<Place>(static_cast<const char*>(address) - &__executable_start);
}
const void* address_of(Place place);

/// Among whom an access is atomic.
enum class Reach : std::uint8_t { none, block, all };

/// One access: which operation, block and thread made it, and what it was ordered by.
struct Event {
  std::uint32_t operation = 0;  ///< of a stream, or of the host
  std::uint32_t block = 0;      ///< number in the grid
  std::uint32_t clock = 0;      ///< of the block: increases at barriers, fences and releases
  Place place = 0;
  std::uint16_t thread = 0;      ///< rank in the block
  std::uint16_t warp_epoch = 0;  ///< operations that ordered the warp's accesses
  std::uint16_t phase = 0;       ///< of the thread at the barriers of its gang
  std::uint8_t bytes : 4 = 0;    ///< mask of the bytes of the word; 0: no access
  bool writes : 1 = false;
  Reach atomic = Reach::none;
};

/// The block number of accesses that no kernel makes.
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

/// Accesses to the same bytes that do not conflict with each other: plain reads or atomic
/// operations by threads of one block since its last barrier, or a single access.
struct Group {
  Event last;
  std::uint32_t lanes = 0;  ///< mask of lanes of the last warp, since its last collective
  std::uint32_t warps = 0;
  bool many_blocks = false;  ///< whether the group includes blocks that have ended and whose
                             ///< accesses stay unordered until the launch ends
  EndedAccess ended = {};    ///< one of these accesses
};

/// The access history of a word. As in FastTrack (Flanagan and Freund, PLDI 2009), a plain write
/// replaces all earlier accesses. One epoch represents several reads as long as they are ordered,
/// or as long as they belong to threads of one block between two barriers.
struct alignas(64) Cell {
  static constexpr std::uint32_t most_histories = (1u << 23) - 1;

  Event earlier;            ///< usually the last plain write
  Event latest;             ///< the last access of the group that followed
  std::uint32_t lanes = 0;  ///< of this group
  std::uint32_t warps = 0;
  std::uint32_t owner = 0;         ///< shared memory: the block or gang that owns it, or 0
  std::uint32_t history : 23 = 0;  ///< index of the history that replaces this one, or 0
  std::uint32_t carried : 4 = 0;   ///< mask of the bytes to which a thread copied unwritten bytes
  bool many_blocks : 1 = false;    ///< of this group
  std::uint32_t written : 4 = 0;   ///< mask of the initialised bytes
};
static_assert(sizeof(Cell) == 64, "a cell fills one line of the cache");

/// The history of a word that does not fit into a cell.
struct History {
  std::vector<Group> groups = {};
  std::size_t most = 16;  ///< number of groups at which obsolete groups are removed
};

/// Which block on trial touches a word of global memory: the number of the trial, that of the block
/// in it, or 0 for several that read, and whether it wrote.
using Claim = std::atomic<std::uint64_t>;

/// Bytes of a word that a block which is left out wrote. They count as written for blocks behind it
/// in turn, and not for one that runs beside it.
struct Mark {
  std::uint8_t* word;
  std::uint8_t bytes;  ///< as a mask
};

/// Makes them count as written.
void count_as_written(std::span<const Mark> marks);

/// Cells for a stretch of memory. As long as those of a kilobyte are all alike, as after a copy or
/// a fill, or if nobody was there, one is kept for all of them, and the others cost nothing.
class Shadow {
 public:
  static constexpr std::size_t stretch_bytes = 1024;

  Shadow(const void* memory, std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// The cells of some bytes, each one on its own.
  Cell* cells(std::size_t byte, std::size_t bytes) {
    for (std::size_t i = byte / stretch_bytes; i <= (byte + bytes - 1) / stretch_bytes; ++i)
      if (!divided_[i]) divide(i);
    return &cells_[byte / 4];
  }
  Cell& cell(std::size_t byte) { return *cells(byte, 1); }

  /// If the group of a cell includes blocks that have ended, one of their accesses.
  EndedAccess& ended(const Cell& cell) { return ended_[&cell - cells_]; }

  /// The claims of its words, from the first on.
  Claim* claims() { return claims_; }

  /// A block that is left out writes these bytes: notes those that nobody of its kind has written.
  void note_written(std::size_t byte, std::size_t bytes, std::vector<Mark>& marks) const;

  /// What counts as written by such blocks of a byte's word, as a mask; and whether they wrote all
  /// of a stretch.
  std::uint8_t written_unseen(std::size_t byte) const { return unseen_[byte / 4]; }
  bool is_written_unseen(std::size_t stretch) const;

  /// Whether a read touches no byte that something has written.
  bool is_unwritten(std::size_t byte, std::size_t bytes);

  /// Whether any of some bytes was written.
  bool is_any_written(std::size_t byte, std::size_t bytes);

  /// The largest number of bytes in a row that nothing has written.
  std::size_t longest_unwritten(std::size_t byte, std::size_t bytes);

  /// Bytes were copied: those that nothing had written count as unwritten at their destination.
  void carry_unwritten(std::size_t to, Shadow& from, std::size_t from_byte, std::size_t bytes);

  /// All is as if nobody had been there.
  void forget();

  /// Of all words, these bytes were written, as a mask, by whom it may be.
  void note_written(std::uint8_t mask);

  /// The address of a byte.
  const void* address_of(std::size_t byte) const { return memory_ + byte; }

  /// Return, create and delete the history of a cell.
  History& history(const Cell& cell);
  History& make_history(Cell& cell);
  void forget_history(Cell& cell);

  /// The one cell that stands for those of a stretch, or null if each stands for itself.
  Cell* common_cell(std::size_t byte) {
    const std::size_t stretch = byte / stretch_bytes;
    return divided_[stretch] ? nullptr : &common_[stretch];
  }

 private:
  void divide(std::size_t stretch);
  bool is_complete(std::size_t byte);
  std::uint8_t written(std::size_t byte);

  struct Histories {
    std::mutex mutex;  // several threads check the logs of a speculation
    std::deque<History> all;
    std::vector<std::uint32_t> free;
  };

  const char* memory_;
  std::size_t stretches_;
  std::unique_ptr<Histories> histories_ = std::make_unique<Histories>();
  Cell* cells_;
  Cell* common_;    ///< of each stretch
  bool* divided_;   ///< whether its cells stand for themselves
  bool* complete_;  ///< of each stretch, whether it is known that all its bytes were written
  EndedAccess* ended_;  ///< of each cell
  Claim* claims_;
  std::uint8_t* unseen_;  ///< of each word, the bytes that blocks which are left out wrote
};

/// Memory that a kernel writes, or that the host's uninstrumented code may have written.
enum class Region : std::uint8_t { shared, global, host };

/// Whether an access changes memory.
inline bool is_write(Kind kind) {
  return kind != read && kind != volatile_read && kind != atomic_read;
}

/// How far an access of the current thread is atomic.
inline Reach reach_of(Kind kind) {
  if (kind == read || kind == write || kind == early_write) return Reach::none;
  return block->narrow ? Reach::block : Reach::all;
}

/// The phase of a thread at the barriers of its gang: twice the number of barriers for which it has
/// waited, plus 1 if it has arrived at the next one.
inline std::uint16_t phase_of(const Thread& thread) {
  return static_cast<std::uint16_t>(2 * block->gang_waits + thread.has_arrived);
}

/// The number of barriers of the gang that follow the beginning of the launch up to the first one
/// at which a thread arrives after an access.
constexpr std::uint32_t barriers_until_arrival(std::uint16_t phase) { return (phase + 1u) / 2; }

/// Whether an access in a phase happens before what follows a number of barriers of the same gang:
/// its thread has arrived at one of them after the access. Phases are known modulo 2^16.
constexpr bool is_before_waits(std::uint16_t phase, std::uint32_t waits) {
  constexpr std::uint32_t mask = 0x7FFF, most_ahead = 2;
  const std::uint32_t more = (waits - barriers_until_arrival(phase)) & mask;
  return more != 0 && more <= mask - most_ahead;
}

/// An access that a thread makes now.
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

/// Whether two accesses are atomic for each other.
inline bool are_atomic(const Event& a, const Event& b) {
  if (a.atomic == Reach::none || b.atomic == Reach::none) return false;
  return (a.atomic == Reach::all && b.atomic == Reach::all) ||
         (a.operation == b.operation && a.block == b.block);
}

/// Whether two accesses conflict: they are a race if they are not ordered.
inline bool conflict(const Event& a, const Event& b) {
  return (a.bytes & b.bytes) != 0 && (a.writes || b.writes) && !are_atomic(a, b);
}

/// A number that is not 0 for the block or the gang that runs, to tell whose shared memory it is.
inline std::uint32_t current_owner() {
  const auto gang = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block->gang) >> 4);
  const bool is_alone = block->gang == nullptr || block->gang->size() == 1;
  const std::uint32_t who = is_alone ? block->number : gang;
  return (block->launch->operation * 0x9E37'79B1u ^ who * 0x85EB'CA6Bu) | 1u;
}

/// Bytes came into the shared memory of the block that runs, of which no more is known.
void note_received(Shadow& shadow, std::size_t offset, std::size_t bytes);

/// An operation has a name in messages.
void note_name(std::uint32_t operation, const char* name);

/// What a plain read finds: all bytes written, only some of them, or no more than padding.
enum class Found : std::uint8_t { written, partly_written, unwritten };

/// Compares an access of the current thread with what its cells remember, reports races and
/// updates of what nobody wrote, and makes the cells remember it.
/// \param offset of the first byte in the shadow
Found check_thread(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                   const Event& event, Region region, const Thread& thread);

/// The same for an access of the host, or of a copy in a stream.
/// \param reports whether a read of what nobody wrote is an error
void check_operation(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                     std::uint32_t operation, Place place, Region region, bool reports = true);

/// Reports an access that takes what nobody wrote; and a copy of it, which counts as unwritten.
/// \param place of the store of the copy
void report_unwritten(const Event& now, Kind kind, Region region, const Thread* thread);
void report_copy_of_unwritten(const Event& now, Place place, Region region, const Thread& thread);

/// Tells of two accesses that nothing orders.
/// \param what the later one does, as in "reads what is written by"
void report_race(const Event& then, const Event& now, const char* what, Region region,
                 const Thread* thread);

}  // namespace cuda_on_cpu::analysis
