/// \file
/// What the analysis remembers of each four bytes of memory: who wrote last and who read last.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  std::uint32_t clock = 0;      ///< of the block: grows with barriers and publications
  Place place = 0;
  std::uint16_t thread = 0;      ///< rank in the block
  std::uint16_t warp_epoch = 0;  ///< operations that ordered the warp's accesses
  std::uint16_t phase = 0;       ///< barriers of the gang
  std::uint8_t bytes = 0;        ///< of the four, as a mask; none: there was no access
  Reach atomic = Reach::none;
};

/// The block number of accesses that no kernel makes.
inline constexpr std::uint32_t no_block = ~0u;

struct alignas(64) Cell {
  Event write;
  Event read;                ///< the last one, for all its siblings
  std::uint32_t lanes = 0;   ///< that read in the last reader's warp since its last collective
  std::uint32_t warps = 0;   ///< that read in the last reader's block since its last barrier
  std::uint32_t owner = 0;   ///< shared memory: whose bytes these are, or 0
  bool many_blocks = false;  ///< whether several blocks of the operation read
  bool parts = false;        ///< whether its readers read parts of it, of which the last is known
  bool others = false;       ///< whether more readers are kept elsewhere
  std::uint8_t written = 0;  ///< bytes that were ever written, as a mask
};
static_assert(sizeof(Cell) == 64, "a cell fills one line of the cache");

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

  explicit Shadow(std::size_t bytes);
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

  /// The claims of its words, from the first on.
  Claim* claims() { return claims_; }

  /// A block that is left out writes these bytes: notes those that nobody of its kind has written.
  void note_written(std::size_t byte, std::size_t bytes, std::vector<Mark>& marks) const;

  /// What counts as written by such blocks of a byte's word, as a mask; and whether they wrote all
  /// of a stretch.
  std::uint8_t written_unseen(std::size_t byte) const { return unseen_[byte / 4]; }
  bool is_written_unseen(std::size_t stretch) const;

  /// All is as if nobody had been there.
  void forget();

  /// Of all words, these bytes were written, as a mask, by whom it may be.
  void note_written(std::uint8_t mask);

  /// The one cell that stands for those of a stretch, or null if each stands for itself.
  Cell* common_cell(std::size_t byte) {
    const std::size_t stretch = byte / stretch_bytes;
    return divided_[stretch] ? nullptr : &common_[stretch];
  }

 private:
  void divide(std::size_t stretch);

  std::size_t stretches_;
  Cell* cells_;
  Cell* common_;   ///< of each stretch
  bool* divided_;  ///< whether its cells stand for themselves
  Claim* claims_;
  std::uint8_t* unseen_;  ///< of each word, the bytes that blocks which are left out wrote
};

/// Memory that a kernel writes, or that the host's uninstrumented code may have written.
enum class Region : std::uint8_t { shared, global, host };

/// How far an access of the current thread is atomic.
inline Reach reach_of(Kind kind) {
  if (kind == read || kind == write || kind == early_write) return Reach::none;
  return block->narrow ? Reach::block : Reach::all;
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
          .phase = static_cast<std::uint16_t>(b.gang == nullptr ? 0 : b.gang->phase()),
          .bytes = 0xF,
          .atomic = reach_of(kind)};
}

/// Whether two accesses are atomic for each other.
inline bool are_atomic(const Event& a, const Event& b) {
  if (a.atomic == Reach::none || b.atomic == Reach::none) return false;
  return (a.atomic == Reach::all && b.atomic == Reach::all) ||
         (a.operation == b.operation && a.block == b.block);
}

/// Whether threads of the block that runs know more of each other than barriers order.
extern __thread bool threads_learned;

bool happens_before_operation(std::uint32_t first, std::uint32_t second);

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

/// Compares an access of the current thread with what its cells remember, reports races and reads
/// of what nobody wrote, and makes the cells remember it.
/// \param offset of the first byte in the shadow
void check_thread(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                  const Event& event, Region region, const Thread& thread);

/// The same for an access of the host, or of a copy in a stream.
void check_operation(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind,
                     std::uint32_t operation, Place place, Region region);

/// Whether an access is done before another that came later.
bool is_ordered(const Event& then, const Event& now);

/// Tells of two accesses that nothing orders.
/// \param what the later one does, as in "reads what is written by"
void report_race(const Event& then, const Event& now, const char* what, Region region,
                 const Thread* thread);

/// The current thread's atomic: publishes what came before its last fence, learns what others
/// published at the same address; both within its block, if it is so narrow.
void synchronise_at(const void* address, Kind kind, bool in_block);

/// A launch begins. Forgets what was published before, unless a launch of another device did so
/// that nothing but flags orders: that one, though done, counts as one beside it.
void forget_publications_before(Launch& launch);

/// Forgets what the threads of a block know of each other: the next block begins.
void forget_threads();

}  // namespace cuda_on_cpu::analysis
