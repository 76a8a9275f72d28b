/// \file
/// What the analysis found, and what it counted, until the report is written.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "../diagnostics.hpp"
#include "../machine/thread_area.hpp"
#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// Where a check of what was noted on trial stands. What is told comes in this order.
struct Moment {
  std::uint64_t trial = 0;
  unsigned turn = 0;
  std::size_t request = 0;
  unsigned lane = 0;

  auto operator<=>(const Moment&) const = default;
};

/// Of the check that this thread of the operating system makes; null if there is none.
extern __thread const Moment* moment;

struct Finding {
  std::string kind;
  std::string kernel;
  const void* place;
  const void* other_place;
  uint3 block;
  uint3 thread;
  std::string sentence;
  std::uint64_t count;
  bool is_note;                           ///< and no mistake
  std::vector<const void*> callers = {};  ///< who asked a library for the kernel, innermost first
  Moment moment;
  const void* read = nullptr;  ///< a race with an atomic operation: the plain read; equal values:
                               ///< the read of an update of a volatile variable
};

/// Adds a finding; those of one kind between the same instructions are counted.
void add_finding(const char* kind, Place place, Place other_place, const Thread* thread,
                 const std::string& sentence);

/// The same for what is worth knowing and no mistake.
void add_note(const char* kind, Place place, Place other_place, const Thread* thread,
              const std::string& sentence);

/// The same for a race or for equal values, with the read that decides which of them it is.
void add_race(const char* kind, Place place, Place other_place, const Thread* thread,
              const std::string& sentence, Place read);
void add_same_value(Place place, Place other_place, const Thread* thread,
                    const std::string& sentence, Place read);

/// A thread has read a variable at an instruction and then compares and swaps this variable. The
/// swap fails if the value that it read is out of date.
void note_optimistic_read(Place read);

/// What an access of a kernel is counted as.
enum class Space : std::uint8_t { global, shared };

/// Requests of one instruction in one kernel.
struct Site {
  std::uint32_t kernel;
  Place place;
  Kind kind;
  Space space;
  std::uint8_t bytes;
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t cost = 0;   ///< sectors or wavefronts
  std::uint64_t ideal = 0;  ///< what the same bytes would cost at best
};

/// Sites by what tells them apart, and where those are that were asked for last.
struct Sites {
  std::unordered_map<std::uint64_t, Site> all;
  std::uint64_t last_keys[256] = {};
  Site* last[256] = {};

  Site& at(const Site& empty);
  void add(const Sites& others);
  void clear() { *this = {}; }
};

/// What a kernel did, over all its launches.
struct KernelTotals {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t left_out = 0;  ///< of the blocks, by CUDA_ON_CPU_BLOCKS
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;
  bool releases = false;  ///< whether a thread has ever made a release by an atomic operation
};

struct Record {
  std::vector<KernelTotals> kernels;
  std::unordered_map<std::uint32_t, std::uint32_t> kernel_of;  ///< by operation
  Sites sites;
  std::uint64_t accesses = 0;  ///< that kernels made
  std::map<std::string, Finding> findings;
  std::set<const void*> optimistic_reads;  ///< that a compare-and-swap of the same variable follows
};

Record& record();

/// Records bytes that race, for tests that ask for them.
void note_racy_bytes(const RacyBytes& bytes);

extern __thread std::uint64_t accesses;  ///< that the block which runs made

/// If the block that runs is left out, the bytes of its shared memory and of what lies beside it;
/// otherwise 0.
extern __thread std::size_t passes_over;

/// A write of such a block beside its shared memory, of which others may read the result. Calls
/// that come from one place, as a rule, write to one allocation.
void pass_over_write(const void* address, std::size_t bytes);

/// Whether an address lies in the shared memory of such a block, which ends with it.
[[gnu::always_inline]] inline bool is_shared_passed_over(const void* address) {
  return static_cast<std::size_t>(thread_area_end() - static_cast<const char*>(address)) - 1 <
         passes_over;
}

/// Writes the report: a table on standard error, JSON into the file that the user named.
/// \returns whether nothing was wrong
bool write_report();

}  // namespace cuda_on_cpu::analysis
