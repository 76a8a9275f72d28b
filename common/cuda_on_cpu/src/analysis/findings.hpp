/// \file
/// The findings and counts of the analysis, from which the report is written.

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

/// The position of an access in the sequential order of a trial. Of several equal findings, the
/// report shows the one with the smallest moment.
struct Moment {
  std::uint64_t trial = 0;
  unsigned turn = 0;
  std::size_t request = 0;
  unsigned lane = 0;

  auto operator<=>(const Moment&) const = default;
};

/// The moment of the access that this thread of the operating system checks; null outside the check
/// of a trial.
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
  bool is_note;                           ///< whether the finding is a note and not an error
  std::vector<const void*> callers = {};  ///< return addresses of the calls that led to the launch,
                                          ///< innermost first
  Moment moment;
  /// The access on which the classification in `judged` (report.cpp) depends. In a race with an
  /// atomic operation, this access is the plain read. For equal values, it is the read in an update
  /// of a volatile variable. For a copy of unwritten bytes, it is the store.
  const void* read = nullptr;
};

/// Adds an error. Findings of one kind between the same two instructions are counted as one
/// finding.
void add_finding(const char* kind, Place place, Place other_place, const Thread* thread,
                 const std::string& sentence);

/// Adds a note: something worth knowing that is not an error.
void add_note(const char* kind, Place place, Place other_place, const Thread* thread,
              const std::string& sentence);

/// Adds a race or a store of equal values. The instruction `read` decides whether the finding is
/// reported as an error or as a note.
void add_race(const char* kind, Place place, Place other_place, const Thread* thread,
              const std::string& sentence, Place read);
void add_same_value(Place place, Place other_place, const Thread* thread,
                    const std::string& sentence, Place read);

/// Logs that a thread reads a variable and then updates it by a compare-and-swap. The
/// compare-and-swap fails if the value is out of date.
/// \param read instruction of the read
void note_optimistic_read(Place read);

/// The memory space of an access.
enum class Space : std::uint8_t { global, shared };

/// The requests of one instruction in one kernel.
struct Site {
  std::uint32_t kernel;
  Place place;
  Kind kind;
  Space space;
  std::uint8_t bytes;
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t cost = 0;   ///< number of sectors (global memory) or wavefronts (shared memory)
  std::uint64_t ideal = 0;  ///< smallest possible cost for the same number of bytes
};

/// All sites by hash key, and a direct-mapped cache of the sites that were used last.
struct Sites {
  std::unordered_map<std::uint64_t, Site> all;
  std::uint64_t last_keys[256] = {};
  Site* last[256] = {};

  Site& at(const Site& empty);
  void add(const Sites& others);
  void clear() { *this = {}; }
};

/// The counts of a kernel over all its launches.
struct KernelTotals {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t left_out = 0;  ///< number of blocks that were not analysed (CUDA_ON_CPU_BLOCKS)
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;
  bool releases = false;  ///< whether a thread has ever released accesses by an atomic operation
};

struct Record {
  std::vector<KernelTotals> kernels;
  std::unordered_map<std::uint32_t, std::uint32_t> kernel_of;  ///< kernel index by operation
  Sites sites;
  std::uint64_t accesses = 0;  ///< number of accesses by kernels
  std::map<std::string, Finding> findings;
  std::set<const void*> optimistic_reads;  ///< plain reads of variables that the thread then
                                           ///< updates by a compare-and-swap
};

Record& record();

/// Records bytes that race, if a test has called `watch_racy_bytes`.
void note_racy_bytes(const RacyBytes& bytes);

extern __thread std::uint64_t accesses;  ///< number of accesses that the running block has made

/// The size of the thread area in bytes if the running block is not analysed; otherwise 0.
extern __thread std::size_t passes_over;

/// Records that an unanalysed block has written bytes outside its shared memory. Calls from one
/// instruction usually write to the same allocation.
void pass_over_write(const void* address, std::size_t bytes);

/// Whether the running block is not analysed and its shared memory contains an address.
[[gnu::always_inline]] inline bool is_shared_passed_over(const void* address) {
  return static_cast<std::size_t>(thread_area_end() - static_cast<const char*>(address)) - 1 <
         passes_over;
}

/// Writes the report: a table on standard error, and JSON or SARIF in the user's file.
/// \returns whether there are no errors
bool write_report();

}  // namespace cuda_on_cpu::analysis
