/// \file
/// What the machine and the runtime tell the analysis, and all that they know of it: its own
/// headers see theirs. Programs that are not analysed link analysis/no_analysis.cpp.

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
struct Thread;
struct Warp;

namespace analysis {

extern const bool enabled;

/// A module was loaded, whose shared memory takes so many bytes in the thread area.
void image_loaded(const LoadedImage& image, std::size_t shared);

/// A launch begins and ends.
void launch_begins(Launch& launch);
void launch_ends(Launch& launch);

/// Whether the user wants some blocks of a launch to be run only, and not analysed; and whether one
/// is such a block.
bool leaves_out(const Launch& launch);
bool is_left_out(const Launch& launch, unsigned number);

/// Blocks of a launch run side by side, on trial: whether that may be, from which block on, and
/// whether there is no room for more of them. When all that began have ended, either their order
/// does not matter, and several threads check what was noted; or what they wrote is taken back.
bool may_be_tried(const Launch& launch);
void trial_begins(Launch& launch, unsigned first);
bool trial_is_full();
bool trial_ends(Launch& launch);
void check_trial(Launch& launch, unsigned rank, unsigned size);

/// A block begins and ends on this thread of the operating system.
void block_begins(Block& block);
void block_ends(Block& block);

/// No lane of the warp runs: the accesses that they wait with form requests.
void resolve(Warp& warp);

/// A thread ends, or waits for others: what it wrote last is there now.
void stops(const Thread& thread);

/// Some lanes of a warp, but not all that live, ordered their accesses.
void lanes_ordered(Warp& warp, unsigned lanes);

/// Some threads of a block passed a cuda::barrier: one arrives, its phase ends, one has waited.
void arrives_at(const void* barrier);
void phase_ends(const void* barrier);
void has_waited_at(const void* barrier);

/// At the barrier of the gang of the running block: a thread arrives there and will wait later, all
/// threads of the block have arrived, and they have waited.
void arrives_at_gang(const Thread& thread);
void arrives_at_gang();
void has_waited_for_gang();

/// Lanes of a warp met in one operation from different places.
void different_operations(const Thread& thread, const Thread& other);

/// A lane that has ended took part in the same operation with another mask.
void different_masks(const Thread& thread, const Thread& other);

/// A shuffle by a distance reads a lane outside of its mask, so the value is undefined.
void asks_outside_mask(const Thread& thread, unsigned absent);

/// Threads of one block met at barriers in different places.
void different_barriers(const Thread& thread, const Thread& other);

/// What an access does. An atomic write does not ask what was there; an early write is what a copy
/// may do from its start on.
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

/// An access that the device's own code makes for a thread, in pieces as wide as a GPU could move
/// them; `frame` is that of the function that the kernel called.
void access(const void* address, std::size_t bytes, Kind kind, const void* place,
            const void* frame);

/// The current thread starts a copy into shared memory and will wait for it later: the bytes are
/// checked, but the access is made and counted when the thread waits.
void copy_starts(const void* to, std::size_t bytes, const void* place);

/// The current thread sends bytes to the shared memory of another block: only the place is checked.
void sends(const void* to, std::size_t bytes, const void* place);

/// Bytes came into the shared memory of the block that runs, from another one.
void received(const void* address, std::size_t bytes);

/// Why an operation of a stream reads memory. A copy to the host makes bytes that nothing has
/// written visible to the host. A copy within the device marks its destination as unwritten.
enum class Purpose : std::uint8_t { use, copy_to_host, copy_within_device };

/// An access of a copy or of a fill, as operation of a stream.
void copy_access(const void* address, std::size_t bytes, Kind kind, const Operation& operation,
                 Purpose purpose = Purpose::use);

/// A copy within the device has been noted: bytes that nothing has written at its source count as
/// unwritten at its destination.
void carry_unwritten(const void* to, const void* from, std::size_t bytes);

/// A block of a plain launch waits in a loop, and other blocks start beside it.
void blocks_wait_for_each_other(const Thread& thread);

/// A copy has transferred bytes to the host, or to the device. The analysis searches them for
/// addresses of functions: the host may pass on addresses that it got from the device, but its own
/// addresses are not valid on the device.
void copied_to_host(const void* bytes, std::size_t count);
void copied_to_device(const void* bytes, std::size_t count, const Operation& operation);

/// For whom a fence orders accesses: those threads that it names, and all before them.
enum class Among : std::uint8_t { nobody, block, device, system };

/// A fence of the current thread; an atomic behind it publishes what came before, among those for
/// whom it is.
void fence(Among among);

/// The host is about to have something done: what it saw in memory before comes before that.
void host_asks();

/// A call, or a launch, failed, and the source does not look at what it returned; and the program
/// asks for the last error, which counts for all of that thread of the host, or of the kernel.
/// \param thread of a kernel that called; null: the host did
void error_dropped(const void* place, const Thread* thread, const std::string& sentence);
void errors_looked_at();

/// What a thread of a kernel has done, and knows to be done, where it asks for an operation that
/// others do later: what they do comes behind that, while the operation lasts.
struct Inheritance;
std::shared_ptr<const Inheritance> inheritance(const Thread& thread);
void child_begins(std::uint32_t operation, std::shared_ptr<const Inheritance> inheritance);
void child_ends(std::uint32_t operation);

/// The number of threads of the operating system that belong to the analysis.
int own_threads();

/// Memory was allocated or given back.
void allocated(const void* address, std::size_t bytes);
void freed(const void* address, std::size_t bytes, const void* place);

/// Memory that a graph had reserved is allocated, once more perhaps, by an operation of a stream.
void allocated_again(Allocation& allocation, const Operation& operation);

/// The number of races that were found, including stores of equal values. `forget_findings`
/// discards all findings. Both functions are for tests of the race detector.
std::uint64_t races_found();
void forget_findings();

/// Bytes of a word to which two accesses race.
struct RacyBytes {
  const void* address;  ///< of the word
  std::uint32_t block;  ///< number of the block of the later access
  std::uint8_t mask;
};

/// Records the bytes of all races from now on; the second function returns those since
/// `forget_findings`. Both functions are for tests of the race detector.
void watch_racy_bytes();
std::vector<RacyBytes> racy_bytes();

/// Other processes write to memory, unseen.
void written_by_others(Allocation& allocation);

}  // namespace analysis
}  // namespace cuda_on_cpu
