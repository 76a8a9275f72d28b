/// \file
/// The threads of a block: fibers that one thread of the operating system runs one after the other.
///
/// A stack runs the block's threads in a loop. Only when a thread has to wait does the next one
/// start on a stack of its own, so that a kernel without barriers needs one stack and no switch.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "../analysis.hpp"
#include "cuda_on_cpu/threads.hpp"

namespace cuda_on_cpu {

class Gang;
class SideBySide;
struct Launch;
struct Warp;

namespace analysis {
struct AccessLog;
struct Targets;
}  // namespace analysis

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned most_threads = 1024;
inline constexpr std::uint64_t yields_in_step = 64;
inline constexpr std::size_t most_dynamic_shared = 227 << 10;

enum class State : std::uint8_t {
  not_started,
  ready,
  at_block_barrier,
  in_warp_collective,
  at_barrier_object,
  at_tile,
  at_access,
  finished
};

/// A copy that a thread started and has not waited for.
struct PendingCopy {
  void* to;
  const void* from;
  std::size_t bytes;
  std::size_t zeros;  ///< written behind the bytes
  std::size_t batch;
  const void* place;
};

/// A CUDA thread. What a barrier touches comes first and fills one line of the cache.
struct alignas(64) Thread {
  void* stack_pointer;
  Thread* next;  ///< in a queue
  Warp* warp;
  const void* place;  ///< where it waits
  uint3 index;
  unsigned rank;
  unsigned mask;   ///< of the collective it waits in, or the scope of the barrier
  unsigned spins;  ///< rounds of a loop that waits for another thread
  std::uint8_t lane;
  State state;
  analysis::Among fenced;  ///< for whom it ever ordered its accesses
  bool orders_memory : 1;
  bool has_arrived : 1;     ///< at the barrier of the gang, for which it has not waited yet
  std::uint32_t stack_top;  ///< the lower half of the address
};
static_assert(sizeof(Thread) == 64);

/// What a thread waits in.
struct Wait {
  void* record;  ///< of the collective
  Combine combine;
  const void* barrier_object;
};

/// What few threads do, and a thread that begins has not done.
struct Details {
  std::vector<PendingCopy> copies = {};
  std::size_t batches = 0;              ///< of copies that it closed
  bool asked_for_active = false;        ///< whether it ever called __activemask
  const void* last_volatile = nullptr;  ///< that it read, and how often that was written by then
  std::uint64_t last_volatile_writes = 0;
  std::uint32_t last_volatile_read = 0;   ///< the place of that read
  std::uint32_t last_volatile_load = 0;   ///< the same if it wrote none since, or 0
  bool last_volatile_waits = false;       ///< whether that read belonged to a loop that waits
  std::uint32_t last_volatile_store = 0;  ///< that of its last write of a volatile variable, or 0
  bool waits = false;                     ///< whether it asks if a loop that only waits goes on
  bool has_waited = false;                ///< whether it ever waited so, for a volatile variable
  cudaError last_error = {};              ///< of its calls of the runtime
};

struct Warp {
  Thread* threads = nullptr;
  unsigned lanes = 0;     ///< that exist, as a mask
  unsigned finished = 0;  ///< masks of lanes
  unsigned waiting = 0;
  unsigned pending = 0;     ///< whose accesses are not all checked
  unsigned arriving = 0;    ///< of these, who will have come to a barrier of the block then
  unsigned ending = 0;      ///< and who will have finished
  unsigned gathering = 0;   ///< lanes that ask which others have come as far
  unsigned running = 0;     ///< number of lanes that neither wait nor have finished
  std::uint32_t epoch = 0;  ///< number of operations that ordered memory within the warp
  std::uint32_t clock = 0;  ///< of the block, at the last of them
  analysis::AccessLog* log = nullptr;  ///< in a program that is analysed
};

/// Threads in the order in which they wait.
struct Queue {
  Thread* head = nullptr;
  Thread** tail = &head;

  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  bool empty() const { return head == nullptr; }
  void clear() {
    head = nullptr;
    tail = &head;
  }
  void push(Thread* thread) {
    thread->next = nullptr;
    *tail = thread;
    tail = &thread->next;
  }
  Thread* pop() {
    Thread* thread = head;
    head = thread->next;
    if (head == nullptr) tail = &head;
    return thread;
  }
  void append(Queue& other) {
    if (other.empty()) return;
    *tail = other.head;
    tail = other.tail;
    other.clear();
  }
};

/// The block that this thread of the operating system runs, one after the other.
struct Block {
  Thread* current = nullptr;  ///< the CUDA thread that runs, or null on the host's side
  Queue ready;
  Queue at_barrier;
  void* host = nullptr;  ///< the stack pointer of the host's side
  Launch* launch = nullptr;
  Gang* gang = nullptr;  ///< the blocks that this one can wait for, or null
  unsigned gang_rank = 0;
  unsigned number = 0;  ///< in the grid, x fastest
  uint3 index = {};
  dim3 extent = {0, 0, 0};  ///< of the blocks in which its threads have the indices that they have
  unsigned started = 0;
  bool counts_late = false;  ///< whether none has waited, and those that have ended are not counted
  unsigned living = 0;
  unsigned at_barrier_count = 0;
  unsigned gang_arrivals = 0;    ///< threads that have arrived at the barrier of the gang, and wait
                                 ///< later
  bool arrives_split = false;    ///< whether any thread has done so
  bool has_arrived = false;      ///< whether all threads have arrived at this barrier
  std::uint32_t gang_phase = 0;  ///< the phase of the gang that they wait for
  std::uint32_t gang_waits = 0;  ///< number of barriers of the gang for which they have waited
  int predicates = 0;            ///< sum over the threads at the barrier
  int predicates_sum = 0;        ///< of the barrier passed last
  std::uint32_t clock = 0;       ///< grows with all that orders the accesses of its threads
  std::uint32_t barrier_clock = 0;  ///< at the barrier passed last
  std::uint64_t barriers = 0;
  std::uint64_t idle_yields = 0;  ///< since a thread last did anything but wait in a loop
  double idle_since = 0;          ///< when that began, in seconds
  bool start_next = false;        ///< whether a new thread goes before those that are ready
  bool failed = false;
  bool on_trial = false;                 ///< whether it runs beside others, under analysis
  unsigned turn = 0;                     ///< which of the launch's blocks it is to begin
  SideBySide* beside = nullptr;          ///< the others, if it runs beside them and is left out
  bool left_out = false;                 ///< whether the analysis passes over its accesses
  analysis::Targets* targets = nullptr;  ///< where its accesses went, as the analysis knows
  analysis::AccessLog* logs = nullptr;   ///< by warp
  bool uses_tiles = false;               ///< of more than a warp
  bool narrow = false;  ///< whether the access that is made now is atomic in the block only
  analysis::Among releases = {};   ///< among whom this access has release order
  const void* expected = nullptr;  ///< the value with which this access compares
  std::vector<unsigned> order;     ///< of ranks, in which threads begin; empty: as they are counted
  std::vector<char*> stacks;       ///< free ones
  char* stack_pool = nullptr;
  std::size_t used_stacks = 0;   ///< of the pool, from its beginning, that were ever used
  bool details_changed = false;  ///< whether those of a thread are not what they are at first
  std::array<Thread, most_threads> threads;
  std::array<Wait, most_threads> waits;  // by rank, as what follows
  std::array<Details, most_threads> details;
  std::array<Warp, most_threads / warp_size> warps;
};

/// The block of this thread of the operating system; null outside of kernels' threads.
extern __thread Block* block;

/// The same while its current thread is in a kernel, on trial; otherwise null.
extern "C" __thread Block* cuda_on_cpu_tried;

/// While it lives, the device itself works and no thread of a kernel: what it touches is not
/// checked. Of a template that program and runtime share, the linker may keep the instrumented
/// copy.
class DeviceAtWork {
 public:
  DeviceAtWork() : thread_(block->current) { block->current = nullptr; }
  ~DeviceAtWork() { block->current = thread_; }
  DeviceAtWork(const DeviceAtWork&) = delete;
  DeviceAtWork& operator=(const DeviceAtWork&) = delete;

 private:
  Thread* thread_;
};

inline Wait& wait_of(const Thread& thread) { return block->waits[thread.rank]; }
inline const Details& details_of(const Thread& thread) { return block->details[thread.rank]; }

/// The same to change them: they are forgotten at the end of the block, so that threads begin
/// without a look at them.
inline Details& changed_details_of(const Thread& thread) {
  block->details_changed = true;
  return block->details[thread.rank];
}

/// Bytes of a thread's stack: a GPU allows 512 KiB of local memory, and the rest is for calls of
/// the device's own code. The odd lines keep stacks from sharing sets of the cache.
inline constexpr std::size_t stack_bytes = (544 << 10) + 192;

/// Runs one block of a launch to its end.
/// \param turn which of the launch's blocks it is to begin
/// \returns whether it came to its end; if not, the failure was reported, or its trial is over
bool run_block(Launch& launch, unsigned number, Gang* gang, unsigned gang_rank, unsigned turn = 0);

/// Makes the block of this thread of the operating system one of a launch again that has run, for
/// who looks at what its threads did.
void stand_in(Launch& launch);
void stand_in(unsigned number);

/// Ends the block and its launch, as a GPU does when a kernel fails.
[[noreturn]] void fail_launch(int error);

/// The same from a handler of signals, on whose stack nobody can wait for other threads.
[[noreturn]] void fail_launch_at_once(int error);

/// Makes a thread wait in `state` and runs others until it is woken.
void wait_in(Thread* thread, State state);

/// The same for a thread that waits until the accesses that it has made are checked.
void wait_for_requests(Thread* thread);

/// The same for one that is not in the midst of an access.
void stop_for_requests(Thread* thread);

/// The current thread is the first of its block that may have to wait: counts those that have ended
/// before it.
void count_ended();

/// The current thread is about to do what others may learn of: it waits until the accesses that it
/// has made are checked.
inline void catch_up() {
  if (block->counts_late) count_ended();
  Thread* thread = block->current;
  if ((thread->warp->pending >> thread->lane & 1) != 0) stop_for_requests(thread);
}

/// Lanes whose accesses are all checked run on, or do what they have stopped for.
void go_on(Warp& warp, unsigned lanes);

/// Notes that the current thread may be in a loop that waits for another thread, or that it is not;
/// lets others run after some rounds.
void note_spin(bool idle);

/// Whether the block's threads have done nothing but wait in loops for so long that lanes no longer
/// wait for those of their warp that do.
inline bool waits_in_loops() { return block->idle_yields > yields_in_step; }

/// Lets a waiting thread run again.
inline void wake(Thread* thread) {
  thread->state = State::ready;
  ++thread->warp->running;
  block->ready.push(thread);
}

/// The same for some lanes of a warp.
inline void wake(Warp& warp, unsigned lanes) {
  warp.running += static_cast<unsigned>(std::popcount(lanes));
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    Thread& thread = warp.threads[std::countr_zero(rest)];
    thread.state = State::ready;
    block->ready.push(&thread);
  }
}

/// Takes what other blocks of its gang have stored in the shared memory of the block that runs.
void receive_parcels();

/// Makes the barriers of its tiles as good as new, for the next block.
void forget_tiles();

/// Says that a lane stopped running; its warp's accesses may be complete now.
void lane_stopped(Warp* warp);

/// No lane of a warp runs: those that ask who has come as far as they go on.
void release_gathered(Warp& warp);

/// Completes collectives of a warp whose lanes have changed, if some are all there now.
void lanes_changed(Warp* warp);

inline constexpr std::size_t all_stacks_bytes = stack_bytes * (most_threads + 1);

/// Whether an address lies on the stack of a thread, and not on that of another one.
inline bool is_on_own_stack(const Thread& thread, std::uintptr_t address) {
  return thread.stack_top - static_cast<std::uint32_t>(address) < stack_bytes;
}

/// Whether an address lies on a stack of the threads of this block.
inline bool on_a_stack(std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(block->stack_pool) < all_stacks_bytes;
}

}  // namespace cuda_on_cpu
