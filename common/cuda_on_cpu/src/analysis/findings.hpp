/// \file
/// The findings and counts of the analysis, from which the report is written.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
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

/// The moment of the access that this thread of the operating system is checking; null outside the
/// check of a trial.
extern __thread const Moment* moment;

/// The target of an access, if known: bytes of a variable in shared memory, or bytes at an offset
/// from an address that the kernel received as an argument.
struct Accessed {
  std::string variable = {};    ///< name of the variable in shared memory; empty: none
  std::size_t of_bytes = 0;     ///< size of the variable, or number of bytes from the argument to
                                ///< the end of its allocation
  std::ptrdiff_t byte = 0;      ///< offset of the first byte from the beginning of the variable, or
                                ///< from the argument
  std::size_t bytes = 0;        ///< size of the access; 0: unknown
  int pointer = -1;             ///< index of the argument among the arguments that point to
                                ///< allocations; -1: none
  int pointers = 0;             ///< number of arguments that point to allocations
  std::uint64_t words[4] = {};  ///< words that follow the address in the arguments, if they may be
                                ///< extents; otherwise 0
};

Accessed accessed_at(const void* address, std::size_t bytes);

/// The indices of the allocations to which the arguments of a launch point.
std::vector<unsigned> arrays_of(const Launch& launch);

/// An argument of a launch that points to an allocation.
struct Argument {
  const char* base;             ///< first byte of the allocation
  std::size_t bytes;            ///< size of the allocation
  unsigned number;              ///< index of the allocation
  std::size_t offset;           ///< offset of the pointer from the beginning of the allocation
  std::uint64_t words[4] = {};  ///< words that follow the pointer, if they may be extents;
                                ///< otherwise 0
};

/// The arguments of a launch that point to allocations, in order.
std::vector<Argument> pointers_of(const Launch& launch);

/// The other words of eight bytes in the arguments of a launch, with their indices. The bytes of a
/// word that belong to no argument are undefined.
std::vector<std::pair<std::size_t, std::uint64_t>> other_words_of(const Launch& launch);

/// The access that the next finding of this thread may concern; see `note_accessed`.
struct NotedAccess {
  const void* address = nullptr;
  std::size_t bytes = 0;  ///< 0: unknown
};

/// `note_accessed` stores the access that the next finding of this thread concerns. `noted_access`
/// returns this access.
void note_accessed(const void* address, std::size_t bytes);
NotedAccess noted_access();

/// `note_order` stores the position of this thread's next finding in the order in which findings
/// arise. `next_order` returns the next free position in this order.
void note_order(std::uint64_t order);
std::uint64_t next_order();

/// A range of bytes in a copy or an allocation: the offset of its first byte, and its length.
struct ByteRange {
  std::size_t first, bytes;
};

/// Stores the unwritten ranges, in a copy or an allocation of `of_bytes` bytes, that the next
/// finding of this thread concerns.
void note_ranges(std::vector<ByteRange>&& ranges, std::size_t of_bytes);

/// The unwritten ranges of the allocation that contains an address; none if the allocation is
/// larger than 1 MiB. Sets `of_bytes` to the size of the allocation.
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
  /// atomic operation, this access is the plain read. If threads store equal values in a
  /// volatile variable, this access is the read that precedes the store, as in `v = v + 1`. For a
  /// copy of unwritten bytes, this access is the store.
  const void* read = nullptr;
  Accessed accessed = {};
  std::uint64_t order = 0;             ///< position in the order in which findings arose
  std::vector<ByteRange> ranges = {};  ///< unwritten ranges of a copy or an allocation
  std::size_t of_bytes = 0;            ///< size of this copy or allocation
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

/// Logs that a thread reads a variable and then updates it by a compare-and-swap, which fails if
/// the value that was read is out of date.
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

/// All sites by hash key, and a direct-mapped cache of the most recently used sites.
struct Sites {
  std::unordered_map<std::uint64_t, Site> all;
  std::uint64_t last_keys[256] = {};
  Site* last[256] = {};

  Site& at(const Site& empty);
  void add(const Sites& others);
  void clear() { *this = {}; }
};

/// A shape of the launches of a kernel, and the number of launches with this shape.
struct LaunchShape {
  dim3 grid, block;
  std::size_t dynamic_shared;
  std::uint64_t launches = 0;
};

/// A joint operation of threads at an instruction: a barrier of a block or a shuffle of a warp.
struct Joint {
  std::uint32_t kernel;
  Place place;
  std::string kind;  ///< `barrier`, `partial barrier` if threads have ended, or a shuffle's kind
  int distance = 0, width = 0;
  friend auto operator<=>(const Joint&, const Joint&) = default;
};
using Joints = std::map<Joint, std::uint64_t>;

/// Bytes of a shared-memory variable or of an allocation that kernels have stored and nothing has
/// read. For a variable, `first`, `bytes` and `of_bytes` describe the first block that stored such
/// bytes.
struct Unread {
  std::uint64_t blocks = 0;  ///< number of blocks that stored such bytes in a variable
  std::size_t first = 0, bytes = 0, of_bytes = 0;  ///< offset of the first byte, number of bytes,
                                                   ///< and size of the variable or allocation
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
  std::map<std::string, Unread> unread = {};       ///< unread bytes by variable
  std::vector<std::vector<unsigned>> arrays = {};  ///< indices of the allocations to which the
                                                   ///< arguments of launches point
  std::uint64_t looked_through = 0;                ///< number of analysed blocks that have ended;
                                                   ///< the first 64 are searched for unread bytes
};

struct Record {
  std::vector<KernelTotals> kernels;
  std::unordered_map<std::uint32_t, std::uint32_t> kernel_of;  ///< kernel index by operation
  Sites sites;
  Joints joints;
  std::map<unsigned, Unread> unread_arrays;  ///< unread bytes by the index of the freed allocation
  std::uint64_t accesses = 0;                ///< number of accesses by kernels
  std::map<std::string, Finding> findings;
  std::set<const void*> optimistic_reads;  ///< plain reads of variables that the thread then
                                           ///< updates by a compare-and-swap
};

Record& record();

/// Records the bytes on which two accesses race, if a test has called `watch_racy_bytes`.
void note_racy_bytes(const RacyBytes& bytes);

extern __thread std::uint64_t accesses;  ///< number of accesses that the running block has made

/// The size of the thread area in bytes if the running block is not analysed; otherwise 0.
extern __thread std::size_t passes_over;

/// Records that an unanalysed block has written bytes outside its shared memory. For each
/// instruction, the function caches the allocation that the instruction wrote last.
void pass_over_write(const void* address, std::size_t bytes);

/// Whether the running block is not analysed and its shared memory contains an address.
[[gnu::always_inline]] inline bool is_shared_passed_over(const void* address) {
  return static_cast<std::size_t>(thread_area_end() - static_cast<const char*>(address)) - 1 <
         passes_over;
}

/// Writes the report: a table on standard error, and JSON or SARIF in the file that
/// CUDA_ON_CPU_REPORT names.
/// \returns whether there are no errors
bool write_report();

}  // namespace cuda_on_cpu::analysis
