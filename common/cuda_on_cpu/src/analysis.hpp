/// \file
/// The interface between the analysis and the rest of the CPU device. A program that is not
/// analysed links analysis/no_analysis.cpp, whose functions do nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cuda_on_cpu {

struct Allocation;
struct Block;
struct LoadedImage;
struct Launch;
struct Operation;
struct ShuffleForm;
struct Thread;
struct Warp;

namespace analysis {

extern const bool enabled;

/// Registers a module that has been loaded.
/// \param shared size in bytes of the module's shared memory
void image_loaded(const LoadedImage& image, std::size_t shared);

/// The CPU device calls these functions at the beginning and at the end of a launch.
void launch_begins(Launch& launch);
void launch_ends(Launch& launch);

/// `leaves_out` returns whether CUDA_ON_CPU_BLOCKS excludes some blocks of a launch from the
/// analysis. `is_left_out` returns whether the block with index `number` is excluded.
bool leaves_out(const Launch& launch);
bool is_left_out(const Launch& launch, unsigned number);

/// A trial runs blocks of a launch speculatively in parallel, beginning with block `first`.
/// `may_be_tried` returns whether a launch allows a trial. `trial_is_full` returns whether the logs
/// are full, so that no further block may begin. If blocks have conflicted, `trial_ends` restores
/// the memory that the blocks have written and returns false. If no blocks have conflicted, `size`
/// threads call `check_trial`, and each thread checks a part of the logs.
bool may_be_tried(const Launch& launch);
void trial_begins(Launch& launch, unsigned first);
bool trial_is_full();
bool trial_ends(Launch& launch);
void check_trial(Launch& launch, unsigned rank, unsigned size);

/// The CPU device calls these functions when a thread of the operating system begins or ends a
/// block.
void block_begins(Block& block);
void block_ends(Block& block);

/// Groups the pending accesses of a warp into requests and checks them. No lane of the warp runs
/// during the call.
void resolve(Warp& warp);

/// Compares the old value with the last value that a thread has written. The thread ends or waits
/// for other threads, so its last write is complete.
void stops(const Thread& thread);

/// Logs that some lanes of a warp, but not all live lanes, have synchronised with each other.
void lanes_ordered(Warp& warp, unsigned lanes);

/// These functions log the synchronisation at a cuda::barrier: the current thread arrives, the
/// phase ends, and the current thread has waited.
void arrives_at(const void* barrier);
void phase_ends(const void* barrier);
void has_waited_at(const void* barrier);

/// These functions log the synchronisation at the barrier of the running block's gang: a thread has
/// arrived and will wait later, all threads of the block have arrived, and all have waited. A gang
/// is a cluster or a cooperative grid.
void arrives_at_gang(const Thread& thread);
void arrives_at_gang();
void has_waited_for_gang();

/// Reports lanes of a warp that wait for each other in collectives at different instructions.
void different_operations(const Thread& thread, const Thread& other);

/// Reports that two lanes used different masks in one collective. The lane `other` has already
/// ended.
void different_masks(const Thread& thread, const Thread& other);

/// Reports a shuffle that reads from a lane outside the mask: the value is undefined.
void asks_outside_mask(const Thread& thread, unsigned absent);

/// Reports threads of one block that wait at different barriers.
void different_barriers(const Thread& thread, const Thread& other);

/// Counts a barrier at which all living threads of the running block have arrived.
/// \param some_have_ended whether other threads of the block had already ended
void barrier_opens(const void* place, bool some_have_ended);

/// Counts a shuffle by the lanes of a warp.
void shuffled(const Thread& thread, const ShuffleForm& form);

/// The kind of an access. An `atomic_write` does not depend on the old value. An `early_write`
/// belongs to an asynchronous copy, which may write at any time after its start.
enum Kind : std::uint8_t {
  read,
  write,
  atomic,
  atomic_compare,
  atomic_write,
  volatile_read,
  volatile_write,
  atomic_read,
  atomic_store,
  early_write
};

/// Checks an access that the code of the CPU device makes for the current thread. The access is
/// divided into pieces of a width that a GPU can access.
/// \param frame stack frame of the function that the kernel called
void access(const void* address, std::size_t bytes, Kind kind, const void* place,
            const void* frame);

/// Checks the bytes in shared memory that an asynchronous copy of the current thread will write.
/// The access itself is made and counted when the thread waits for the copy.
void copy_starts(const void* to, std::size_t bytes, const void* place);

/// Checks the destination of bytes that the current thread sends to the shared memory of another
/// block.
void sends(const void* to, std::size_t bytes, const void* place);

/// Logs that bytes from another block have been stored in the shared memory of the running block.
void received(const void* address, std::size_t bytes);

/// The purpose for which an operation of a stream reads memory. A copy from device memory to the
/// host may contain unwritten bytes if some of its bytes have been written. In a copy within the
/// device, the copies of unwritten bytes count as unwritten.
enum class Purpose : std::uint8_t { use, copy_to_host, copy_within_device };

/// Checks an access by a copy or a memset in a stream.
void copy_access(const void* address, std::size_t bytes, Kind kind, const Operation& operation,
                 Purpose purpose = Purpose::use);

/// Marks the copies of unwritten bytes as unwritten, after a copy within the device. The caller
/// must already have called `copy_access` for both sides of the copy.
void carry_unwritten(const void* to, const void* from, std::size_t bytes);

/// Adds a note to the report that a block waits for another block, although the launch is not
/// cooperative.
void blocks_wait_for_each_other(const Thread& thread);

/// These functions search the bytes that a copy has transferred to the host or to the device for
/// addresses of functions. A function address that the host has read from the device is valid on
/// the device; the host's own function addresses are not.
void copied_to_host(const void* bytes, std::size_t count);
void copied_to_device(const void* bytes, std::size_t count, const Operation& operation);

/// The scope of a fence. Each scope includes the scopes before it. `nobody` means that there is no
/// fence.
enum class Among : std::uint8_t { nobody, block, device, system };

/// Logs that the current thread executes a fence. A later atomic operation of this thread releases
/// the accesses before the fence, in the scope of the fence.
void fence(Among among);

/// Logs that the host is about to request an operation. The operation happens after the releases
/// that the host has acquired from flags.
void host_asks();

/// `error_dropped` logs the error of a call or a launch whose result the source ignores.
/// `errors_looked_at` discards the logged errors of the calling thread, which has queried the last
/// error.
/// \param thread thread of a kernel that made the call; null for a call of the host
void error_dropped(const void* place, const Thread* thread, const std::string& sentence);
void errors_looked_at();

/// The clock that an operation, such as a child launch, inherits from the kernel thread that
/// requests it. From `child_begins` to `child_ends`, the operation counts as happening after all
/// accesses that the thread has made or acquired.
struct Inheritance;
std::shared_ptr<const Inheritance> inheritance(const Thread& thread);
void child_begins(std::uint32_t operation, std::shared_ptr<const Inheritance> inheritance);
void child_ends(std::uint32_t operation);

/// The number of operating-system threads that the analysis has started.
int own_threads();

/// Logs that memory has been allocated or freed.
void allocated(const void* address, std::size_t bytes);
void freed(const void* address, std::size_t bytes, const void* place);

/// Logs that an operation of a stream allocates memory that a graph has reserved. Each launch of
/// the graph allocates the same memory again.
void allocated_again(Allocation& allocation, const Operation& operation);

/// For tests of the race detector: `races_found` returns the number of races found, including
/// stores of equal values. `forget_findings` discards all findings.
std::uint64_t races_found();
void forget_findings();

/// The bytes of one four-byte word on which two accesses race.
struct RacyBytes {
  const void* address;  ///< address of the word
  std::uint32_t block;  ///< index of the block that makes the later access
  std::uint8_t mask;
};

/// For tests of the race detector: `watch_racy_bytes` starts to record the bytes of all races.
/// `racy_bytes` returns the bytes recorded since `forget_findings`.
void watch_racy_bytes();
std::vector<RacyBytes> racy_bytes();

/// Marks all bytes of an allocation as written, because other processes may write to the
/// allocation.
void written_by_others(Allocation& allocation);

}  // namespace analysis
}  // namespace cuda_on_cpu
