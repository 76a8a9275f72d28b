/// \file
/// The short way of an access: where the instruction went last time.
///
/// As a rule it goes to the same allocation, or to the block's shared memory. Then all that a
/// thread does before it waits for the other lanes of its warp is to note the address.

#pragma once

#include <vector>

#include "callbacks.hpp"
#include "findings.hpp"
#include "log.hpp"
#include "values.hpp"

namespace cuda_on_cpu {

struct Allocation;

namespace analysis {

/// What becomes of an access: none to arguments; to stacks, the thread must own the stack; of those
/// to built-in variables and constants it is known that they happened.
enum class Treatment : std::uint8_t { none, stack, count, request };

/// Memory to which an instruction goes, and nothing has to be said of a single address in it.
struct Target {
  std::uint64_t key = 0;  ///< the launch and the instruction
  std::uintptr_t begin = 0;
  std::size_t last = 0;     ///< where the last access of this form may begin, from there
  Claim* claims = nullptr;  ///< of its words, if the block has to claim them
  AccessForm form = {};
  Treatment treatment = Treatment::none;
};

/// Memory to which an instruction of a block that is left out writes.
struct Written {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  const bool* living = nullptr;  ///< whether the allocation does
  Shadow* shadow = nullptr;
};

/// The targets of the launch whose block runs.
struct Targets {
  static constexpr std::uint32_t none = ~0u;

  std::uint32_t operation = none;  ///< the launch's; none if its accesses are passed over
  std::uint64_t claimant = 0;      ///< by whom a block on trial claims what it reads, or 0
  Target all[1024];  ///< by address of the instruction: a call has four bytes at least
  Allocation* allocations[1024] = {};  ///< where instructions went last
  Written written[256] = {};           ///< the same of blocks that are left out
  std::vector<Mark> marks = {};        ///< what such a block has been the first to write

  void forget() {
    for (Target& target : all) target = {};
  }

  Target& at(Place place) { return all[place / 4 % 1024]; }
  std::uint64_t key_of(Place place) const { return std::uint64_t{operation} << 32 | place; }
};

inline std::uint64_t order_of(Place place, std::uint32_t depth) {
  return std::uint64_t{depth} << 32 | (~place & ~0u);
}
inline Place place_in(std::uint64_t order) { return ~static_cast<Place>(order); }

/// Whether a claim allows a block to read, or to write, without a further claim.
constexpr std::uint64_t claim_of_writer = 1;
constexpr unsigned trial_shift = 24;
inline bool may_read(std::uint64_t claim, std::uint64_t claimant) {
  return (claim | claim_of_writer) == (claimant | claim_of_writer) ||
         claim == claimant >> trial_shift << trial_shift;
}
inline bool may_write(std::uint64_t claim, std::uint64_t claimant) {
  return claim == (claimant | claim_of_writer);
}

/// Claims a word of a target, or ends the trial.
void claim_word(const Target& target, std::size_t word, Kind kind, std::uint64_t claimant);

/// Claims what an access is about to touch.
[[gnu::always_inline]] inline void claim(const Target& target, const void* address,
                                         std::size_t bytes, Kind kind, std::uint64_t claimant) {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - target.begin;
  for (std::size_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    const std::uint64_t known = target.claims[word].load(std::memory_order_relaxed);
    if (!(kind == read ? may_read(known, claimant) : may_write(known, claimant)))
      claim_word(target, word, kind, claimant);
  }
}

/// Notes an access of the current thread, for which there is room in the log. It becomes part of a
/// request when the warp has come so far.
[[gnu::always_inline]] inline void note_access(Thread& thread, const void* address, AccessForm form,
                                               Place place, const void* frame) {
  AccessLog& log = *thread.warp->log;
  const unsigned lane = thread.lane;
  Accesses& row = log.rows[log.end[lane]++];
  const auto depth =
      thread.stack_top - static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame));
  row.address[lane] = reinterpret_cast<std::uintptr_t>(address);
  row.order[lane] = order_of(place, depth);
  row.number[lane] = accesses;
  row.form[lane] = form;
  thread.warp->pending |= 1u << lane;
}

/// The same where there may be no room, or where the thread wrote just before.
void note_next_access(Thread& thread, const void* address, const Target& target, Place place,
                      const void* frame);

/// An access at an instruction; the short way, where that is known.
[[gnu::always_inline]] inline void check_access(const void* address, std::size_t bytes, Kind kind,
                                                const void* instruction, const void* frame) {
  Block* const b = block;
  if (b == nullptr || b->current == nullptr)
    return check_access_of_host(address, bytes, kind, instruction);
  if (kind > write || overwritings != 0)
    return check_closely(address, bytes, kind, instruction, frame);
  const auto place =
      static_cast<Place>(static_cast<const char*>(instruction) - &__executable_start);
  const Target& target = b->targets->at(place);
  if (target.key != b->targets->key_of(place) || !target.form.has(bytes, kind) ||
      reinterpret_cast<std::uintptr_t>(address) - target.begin > target.last)
    return check_closely(address, bytes, kind, instruction, frame);
  if (target.treatment <= Treatment::stack) {
    if (target.treatment == Treatment::stack &&
        !is_on_own_stack(*b->current, reinterpret_cast<std::uintptr_t>(address)))
      check_closely(address, bytes, kind, instruction, frame);
    return;
  }
  ++accesses;
  if (target.treatment == Treatment::count) return;
  if (target.claims != nullptr) claim(target, address, bytes, kind, b->targets->claimant);
  Thread& thread = *b->current;
  if (!thread.warp->log->is_open(thread.lane, kind))
    return note_next_access(thread, address, target, place, frame);
  note_access(thread, address, target.form, place, frame);
  if (kind == write) thread.warp->log->note_before(thread.lane, address, bytes);
}

/// Neighbouring lanes of a request: each goes right behind the one before, or all to the same
/// place.
struct Row {
  unsigned first, end;
  bool same;

  unsigned lanes() const { return all_lanes >> (warp_size - (end - first)) << first; }
};

/// The lanes of a request, row by row.
struct Request {
  Request(const Accesses& all, unsigned lanes, bool alike);

  const Accesses& all;  ///< those of other lanes among them
  unsigned lanes;
  bool alike;  ///< whether all wait with the same at the same instruction
  unsigned count = 0;
  Row rows[warp_size];

  const Row* begin() const { return rows; }
  const Row* end() const { return rows + count; }
};

/// Memory to which a warp makes a request, with its shadow.
struct RequestedMemory {
  Shadow* shadow = nullptr;  ///< null where lanes may go to different places
  std::uintptr_t base = 0;
  std::size_t last = 0;  ///< where the last access may begin
  Region region = Region::global;
};

RequestedMemory requested_memory(Space space, const char* address, std::size_t bytes, Place place);

/// Checks accesses of lanes of a warp that it makes together.
void check_request(const Warp& warp, const Request& request);

/// Checks what the lanes of a warp have accessed and nobody has checked: its block has failed.
void check_rest(Warp& warp);

}  // namespace analysis
}  // namespace cuda_on_cpu
