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

/// What an access goes to, as far as it is known: bytes of a variable in shared memory, or bytes
/// behind an address that the kernel got as an argument.
struct Accessed {
  std::string variable = {};    ///< in shared memory; empty: none
  std::size_t of_bytes = 0;     ///< of the variable, or from the argument to the end of its
                                ///< allocation
  std::ptrdiff_t byte = 0;      ///< the first one, from the variable or from the argument on
  std::size_t bytes = 0;        ///< of the access; 0: unknown
  int pointer = -1;             ///< index of the argument among those that are addresses of the
                                ///< device's memory; -1: none
  int pointers = 0;             ///< number of these
  std::uint64_t words[4] = {};  ///< that follow the address in the arguments: extents, perhaps
};

Accessed accessed_at(const void* address, std::size_t bytes);

/// The numbers of the allocations that a launch gets as arguments.
std::vector<unsigned> arrays_of(const Launch& launch);

/// An access, of which the next finding of this thread may be: see note_accessed.
struct NotedAccess {
  const void* address = nullptr;
  std::size_t bytes = 0;  ///< 0: unknown
};

/// The next finding of this thread is about this access. The second function returns the note.
void note_accessed(const void* address, std::size_t bytes);
NotedAccess noted_access();

/// The next finding of this thread arose at this position of the order in which findings arise. The
/// second function returns such a position.
void note_order(std::uint64_t order);
std::uint64_t next_order();

/// Bytes of a copy or of an allocation: the first one, and their number.
struct ByteRange {
  std::size_t first, bytes;
};

/// The next finding of this thread is about these bytes of a copy of so many.
void note_ranges(std::vector<ByteRange>&& ranges, std::size_t of_bytes);

/// The bytes of the allocation at an address that nothing has written; none if it is large. Sets
/// `of_bytes` to its bytes.
std::vector<ByteRange> unwritten_of_array(const void* address, std::size_t& of_bytes);

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
  Accessed accessed = {};
  std::uint64_t order = 0;             ///< in which findings arose
  std::vector<ByteRange> ranges = {};  ///< that nothing has written, of a copy or an allocation
  std::size_t of_bytes = 0;            ///< of the copy or the allocation
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

/// The shape of launches, and how many launches had it.
struct LaunchShape {
  dim3 grid, block;
  std::size_t dynamic_shared;
  std::uint64_t launches = 0;
};

/// What threads do together: a barrier of a block or a shuffle of a warp, at an instruction.
struct Joint {
  std::uint32_t kernel;
  Place place;
  std::string kind;  ///< `barrier`, `partial barrier` if threads have ended, or a shuffle's kind
  int distance = 0, width = 0;
  friend auto operator<=>(const Joint&, const Joint&) = default;
};
using Joints = std::map<Joint, std::uint64_t>;

/// A variable in shared memory of which a block has stored bytes that no thread read.
struct Unread {
  std::uint64_t blocks = 0;                        ///< that did so
  std::size_t first = 0, bytes = 0, of_bytes = 0;  ///< in the first of these blocks
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
  std::vector<LaunchShape> shapes = {};
  std::map<std::string, Unread> unread = {};       ///< by variable
  std::vector<std::vector<unsigned>> arrays = {};  ///< which allocations launches got as arguments
  std::uint64_t looked_through = 0;                ///< blocks whose variables were looked through
};

struct Record {
  std::vector<KernelTotals> kernels;
  std::unordered_map<std::uint32_t, std::uint32_t> kernel_of;  ///< kernel index by operation
  Sites sites;
  Joints joints;
  std::map<unsigned, Unread> unread_arrays;  ///< by the number of the freed allocation
  std::uint64_t accesses = 0;                ///< number of accesses by kernels
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
