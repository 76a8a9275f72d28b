/// \file
/// The fast path of an access, for an instruction that accesses the same memory as before.
///
/// An instruction usually accesses the same allocation again, or the shared memory of its block. A
/// thread then only logs the address before it waits for the other lanes of its warp.

#pragma once

#include <vector>

#include "callbacks.hpp"
#include "findings.hpp"
#include "log.hpp"
#include "values.hpp"

namespace cuda_on_cpu {

struct Allocation;

namespace analysis {

/// The treatment of an access. `none`: an argument of the kernel, not checked. `stack`: the thread
/// must own the stack. `count`: a built-in variable or a constant, only counted. `request`: logged
/// for a request of the warp.
enum class Treatment : std::uint8_t { none, stack, count, request };

/// Memory that an instruction may access without a separate check of each address.
struct Target {
  std::uint64_t key = 0;  ///< launch and instruction, see `Targets::key_of`
  std::uintptr_t begin = 0;
  std::size_t last = 0;     ///< largest offset from `begin` at which an access of this form may
                            ///< start
  Claim* claims = nullptr;  ///< claims of the words of this memory; null if the block does not
                            ///< claim them
  AccessForm form = {};
  Treatment treatment = Treatment::none;
};

/// Memory to which an instruction of an unanalysed block writes.
struct Written {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  const bool* living = nullptr;  ///< points to whether the allocation is still living
  Shadow* shadow = nullptr;
};

/// The targets of the instructions in the running block's launch.
struct Targets {
  static constexpr std::uint32_t none = ~0u;

  std::uint32_t operation = none;  ///< operation of the launch; `none` if the block is not analysed
  std::uint64_t claimant = 0;      ///< claim of a trial's block on the words that it reads; 0
                                   ///< outside of trials
  Target all[1024];                ///< indexed by the instruction's place
  Allocation* allocations[1024] = {};  ///< allocation that each instruction accessed last
  Written written[256] = {};           ///< memory that each instruction wrote last, for unanalysed
                                       ///< blocks
  std::vector<Mark> marks = {};        ///< bytes that no unanalysed block had written before

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

/// The claims of blocks. The functions may_read() and may_write() return whether the current claim
/// on a word already allows a block to read or to write the word.
constexpr std::uint64_t claim_of_writer = 1;
constexpr unsigned trial_shift = 24;
inline bool may_read(std::uint64_t claim, std::uint64_t claimant) {
  return (claim | claim_of_writer) == (claimant | claim_of_writer) ||
         claim == claimant >> trial_shift << trial_shift;
}
inline bool may_write(std::uint64_t claim, std::uint64_t claimant) {
  return claim == (claimant | claim_of_writer);
}

/// Claims a word of a target. Ends the trial if the claim of another block conflicts.
void claim_word(const Target& target, std::size_t word, Kind kind, std::uint64_t claimant);

/// Claims the words that an access is about to touch.
[[gnu::always_inline]] inline void claim(const Target& target, const void* address,
                                         std::size_t bytes, Kind kind, std::uint64_t claimant) {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - target.begin;
  for (std::size_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    const std::uint64_t known = target.claims[word].load(std::memory_order_relaxed);
    if (!(kind == read ? may_read(known, claimant) : may_write(known, claimant)))
      claim_word(target, word, kind, claimant);
  }
}

/// Logs an access of the current thread. The log must have room for the access. The access later
/// becomes part of a request of the warp.
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

/// Logs an access if the log may be full, or if the thread's previous access was a write.
void note_next_access(Thread& thread, const void* address, const Target& target, Place place,
                      const void* frame);

/// Checks an access at an instruction, by the fast path if the target of the instruction is known.
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

/// Consecutive lanes of a request that access consecutive elements, or that all access one address.
struct Row {
  unsigned first, end;
  bool same;

  unsigned lanes() const { return all_lanes >> (warp_size - (end - first)) << first; }
};

/// The lanes of a request, divided into rows.
struct Request {
  Request(const Accesses& all, unsigned lanes, bool alike);

  const Accesses& all;  ///< accesses of all lanes of the warp
  unsigned lanes;
  bool alike;  ///< whether all lanes make an access of the same form at the same instruction
  unsigned count = 0;
  Row rows[warp_size];

  const Row* begin() const { return rows; }
  const Row* end() const { return rows + count; }
};

/// The memory that a request of a warp accesses, with its shadow.
struct RequestedMemory {
  Shadow* shadow = nullptr;  ///< null if each lane has to be checked separately
  std::uintptr_t base = 0;
  std::size_t last = 0;  ///< largest offset at which an access may start
  Region region = Region::global;
};

RequestedMemory requested_memory(Space space, const char* address, std::size_t bytes, Place place);

/// Checks the accesses of a request.
void check_request(const Warp& warp, const Request& request);

/// Checks the accesses of a warp that are still pending when its block ends. Accesses are pending
/// at that time only if the block has failed.
void check_rest(Warp& warp);

}  // namespace analysis
}  // namespace cuda_on_cpu
