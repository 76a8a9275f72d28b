/// \file
/// The threads of a block are fibers, which one operating-system thread executes in turn.
///
/// The threads of a block run in a loop on one stack. A thread that has to wait keeps this stack,
/// and the next thread starts on another one. A kernel without barriers therefore needs one stack
/// and no switch.

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

/// A copy that a thread has started and not yet waited for.
struct PendingCopy {
  void* to;
  const void* from;
  std::size_t bytes;
  std::size_t zeros;  ///< number of zero bytes to write after the copied bytes
  std::size_t batch;
  const void* place;
};

/// A CUDA thread. This structure fills one cache line and contains all members that a barrier
/// accesses.
struct alignas(64) Thread {
  void* stack_pointer;
  Thread* next;  ///< the next thread in a queue
  Warp* warp;
  const void* place;  ///< the instruction at which the thread waits
  uint3 index;
  unsigned rank;
  unsigned mask;   ///< lanes of the collective that the thread waits in, or the scope of the
                   ///< barrier
  unsigned spins;  ///< number of consecutive iterations of a loop that waits for another thread
  std::uint8_t lane;
  State state;
  analysis::Among fenced;  ///< the widest scope of the fences that the thread has executed
  bool orders_memory : 1;
  bool has_arrived : 1;     ///< whether the thread has arrived at the gang's barrier and not waited
                            ///< for it yet
  std::uint32_t stack_top;  ///< the lower half of the address of the top of the stack
};
static_assert(sizeof(Thread) == 64);

/// The operation in which a thread waits.
struct Wait {
  void* record;  ///< the thread's record for the collective
  Combine combine;
  const void* barrier_object;
};

/// State that only few threads need. The default values hold for a thread that begins.
struct Details {
  std::vector<PendingCopy> copies = {};
  std::size_t batches = 0;              ///< number of batches of copies that the thread has
                                        ///< committed
  bool asked_for_active = false;        ///< whether the thread has ever called __activemask
  const void* last_volatile = nullptr;  ///< the volatile variable that the thread read last; the
                                        ///< next member counts the writes to this variable before
                                        ///< that read
  std::uint64_t last_volatile_writes = 0;
  std::uint32_t last_volatile_read = 0;   ///< the instruction of the last volatile read
  std::uint32_t last_volatile_load = 0;   ///< `last_volatile_read`, or 0 if a volatile write has
                                          ///< followed
  bool last_volatile_waits = false;       ///< whether the last volatile read belonged to a loop
                                          ///< that waits
  std::uint32_t last_volatile_store = 0;  ///< the instruction of the last write of a volatile
                                          ///< variable, or 0
  bool waits = false;                     ///< whether the thread evaluates the condition of a loop
                                          ///< that only waits
  bool has_waited = false;                ///< whether the thread has ever waited in a loop for a
                                          ///< volatile variable
  cudaError last_error = {};              ///< the last error of the thread's calls of the runtime
};

struct Warp {
  Thread* threads = nullptr;
  unsigned lanes = 0;     ///< mask of the lanes that exist
  unsigned finished = 0;  ///< mask of the lanes that have finished
  unsigned waiting = 0;
  unsigned pending = 0;     ///< mask of the lanes whose accesses are not all checked
  unsigned arriving = 0;    ///< lanes of `pending` that arrive at a barrier of the block once their
                            ///< accesses are checked
  unsigned ending = 0;      ///< lanes of `pending` that finish once their accesses are checked
  unsigned gathering = 0;   ///< mask of the lanes that wait in gathered_lanes()
  unsigned running = 0;     ///< number of lanes that neither wait nor have finished
  std::uint32_t epoch = 0;  ///< number of operations that ordered memory within the warp
  std::uint32_t clock = 0;  ///< `Block::clock` at the last operation counted by `epoch`
  analysis::AccessLog* log = nullptr;  ///< null in a program without analysis
};

/// A first-in, first-out queue of threads.
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

/// The block that this operating-system thread executes. The object serves one block after the
/// other.
struct Block {
  Thread* current = nullptr;  ///< the CUDA thread that runs; null while code of the CPU device runs
  Queue ready;
  Queue at_barrier;
  void* host = nullptr;  ///< the stack pointer of the host side: run_block() on the original stack
  Launch* launch = nullptr;
  Gang* gang = nullptr;  ///< the blocks with which this block can synchronise, or null
  unsigned gang_rank = 0;
  unsigned number = 0;  ///< linear index of the block in the grid, x fastest
  uint3 index = {};
  dim3 extent = {0, 0, 0};  ///< the block shape from which the indices of the threads were computed
  unsigned started = 0;
  bool counts_late = false;  ///< whether the counting of ended threads is deferred until the
                             ///< first thread waits
  unsigned living = 0;
  unsigned at_barrier_count = 0;
  unsigned gang_arrivals = 0;    ///< number of threads that have arrived at the barrier of the gang
                                 ///< and wait for it later
  bool arrives_split = false;    ///< whether any thread has arrived early, to wait later
  bool has_arrived = false;      ///< whether all threads have arrived at the gang's current barrier
  std::uint32_t gang_phase = 0;  ///< the phase of the gang for which the threads wait
  std::uint32_t gang_waits = 0;  ///< number of barriers of the gang for which the threads have
                                 ///< waited
  int predicates = 0;            ///< sum of the predicates of the threads that have arrived at the
                                 ///< barrier
  int predicates_sum = 0;        ///< sum of the predicates at the last barrier that the threads
                                 ///< have passed
  std::uint32_t clock = 0;       ///< incremented by each operation that orders the accesses of the
                                 ///< block's threads
  std::uint32_t barrier_clock = 0;  ///< value of `clock` at the last barrier that the threads have
                                    ///< passed
  std::uint64_t barriers = 0;
  std::uint64_t idle_yields = 0;  ///< number of yields since a thread last did anything but wait in
                                  ///< a loop
  double idle_since = 0;          ///< time of the first yield counted by `idle_yields`, in seconds
  bool start_next = false;        ///< whether a new thread runs before the threads that are ready
  bool failed = false;
  bool on_trial = false;                 ///< whether the block runs speculatively, concurrently
                                         ///< with others, under analysis
  unsigned turn = 0;                     ///< position of the block in the order in which the
                                         ///< launch's blocks begin
  SideBySide* beside = nullptr;          ///< schedules the concurrent blocks of the launch; null
                                         ///< unless the analysis leaves this block out
  bool left_out = false;                 ///< whether the analysis ignores the block's accesses
  analysis::Targets* targets = nullptr;  ///< memory that the block has accessed, as logged by the
                                         ///< analysis
  analysis::AccessLog* logs = nullptr;   ///< access logs, one per warp
  bool uses_tiles = false;               ///< whether the threads use tiles of more than one warp
  bool narrow = false;             ///< whether the current access is atomic in block scope only
  analysis::Among releases = {};   ///< the scope in which the current access has release order
  const void* expected = nullptr;  ///< address of the value with which the current access compares
  std::vector<unsigned> order;     ///< ranks in the order in which the threads begin; empty for
                                   ///< ascending order
  std::vector<char*> stacks;       ///< unused stacks
  char* stack_pool = nullptr;
  std::size_t used_stacks = 0;   ///< number of stacks, from the beginning of the pool, that have
                                 ///< been used at least once
  bool details_changed = false;  ///< whether any thread's details differ from their initial values
  std::array<Thread, most_threads> threads;
  std::array<Wait, most_threads> waits;  // indexed by rank, as are `threads` and `details`
  std::array<Details, most_threads> details;
  std::array<Warp, most_threads / warp_size> warps;
};

/// The block of this operating-system thread; null on threads that execute no kernels.
extern __thread Block* block;

/// Equal to `block` while its current thread is in a kernel that runs speculatively; otherwise
/// null.
extern "C" __thread Block* cuda_on_cpu_tried;

/// During the lifetime of this object, the analysis does not check accesses, because code of the
/// CPU device runs instead of a kernel. Even code of the runtime may be instrumented, because the
/// linker may keep the program's copy of a template.
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

/// The details of a thread, which the caller is about to change. At the end of the block, all
/// details are reset if any were changed. A thread that begins therefore need not reset them.
inline Details& changed_details_of(const Thread& thread) {
  block->details_changed = true;
  return block->details[thread.rank];
}

/// The size of a thread's stack in bytes. A GPU allows 512 KiB of local memory per thread, and the
/// rest is for functions of the CPU device. Because of the extra 192 bytes (three cache lines), the
/// stacks are spread over all cache sets.
inline constexpr std::size_t stack_bytes = (544 << 10) + 192;

/// Runs one block of a launch to its end.
/// \param turn position of the block in the order in which the launch's blocks begin
/// \returns whether all threads of the block have ended; if not, the failure was reported, or the
/// block ran speculatively and has to be executed again
bool run_block(Launch& launch, unsigned number, Gang* gang, unsigned gang_rank, unsigned turn = 0);

/// Makes a launch that has already run, or one of its blocks, current on this operating-system
/// thread again. The analysis calls these functions to check the accesses of the threads.
void stand_in(Launch& launch);
void stand_in(unsigned number);

/// Ends the block and its launch, as a GPU does when a kernel fails.
[[noreturn]] void fail_launch(int error);

/// Ends the block and its launch from a signal handler, on whose stack a thread cannot wait for
/// others.
[[noreturn]] void fail_launch_at_once(int error);

/// Makes a thread wait in `state` and runs other threads until this thread is woken.
void wait_in(Thread* thread, State state);

/// Makes a thread wait until the accesses that it has made are checked.
void wait_for_requests(Thread* thread);

/// Makes a thread that is not in the middle of an access wait until its accesses are checked.
void stop_for_requests(Thread* thread);

/// Counts the threads of the block that have ended. In each block, the first thread that may have
/// to wait calls this function.
void count_ended();

/// Waits until the accesses of the current thread are checked. A thread calls this function before
/// any operation whose effect other threads can observe.
inline void catch_up() {
  if (block->counts_late) count_ended();
  Thread* thread = block->current;
  if ((thread->warp->pending >> thread->lane & 1) != 0) stop_for_requests(thread);
}

/// Resumes lanes whose accesses are all checked. Lanes that stopped at a barrier arrive there now,
/// and lanes that stopped at their end finish.
void go_on(Warp& warp, unsigned lanes);

/// Records whether the current thread may be in a loop that waits for another thread (`idle`).
/// After several idle iterations, other threads run.
void note_spin(bool idle);

/// Whether, for a long time, no thread of the block has done anything but wait in a loop. The lanes
/// of a warp then no longer wait for the lanes that are in such loops.
inline bool waits_in_loops() { return block->idle_yields > yields_in_step; }

/// Lets a waiting thread run again.
inline void wake(Thread* thread) {
  thread->state = State::ready;
  ++thread->warp->running;
  block->ready.push(thread);
}

/// Lets some waiting lanes of a warp run again.
inline void wake(Warp& warp, unsigned lanes) {
  warp.running += static_cast<unsigned>(std::popcount(lanes));
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    Thread& thread = warp.threads[std::countr_zero(rest)];
    thread.state = State::ready;
    block->ready.push(&thread);
  }
}

/// Stores the parcels that other blocks of the gang have sent to the shared memory of this block.
void receive_parcels();

/// Resets the barriers of the block's tiles for the next block.
void forget_tiles();

/// Counts a lane that has stopped running. When no lane of the warp runs any more, the analysis
/// checks the pending accesses of the warp.
void lane_stopped(Warp* warp);

/// Resumes the lanes that wait in `gathered_lanes`. The caller ensures that no lane of the warp
/// runs.
void release_gathered(Warp& warp);

/// Completes each collective of a warp that all participating lanes have reached. This function
/// must be called when the warp's set of lanes has changed.
void lanes_changed(Warp* warp);

inline constexpr std::size_t all_stacks_bytes = stack_bytes * (most_threads + 1);

/// Whether an address lies on the stack of `thread`.
inline bool is_on_own_stack(const Thread& thread, std::uintptr_t address) {
  return thread.stack_top - static_cast<std::uint32_t>(address) < stack_bytes;
}

/// Whether an address lies on the stack of a thread of the current block.
inline bool on_a_stack(std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(block->stack_pool) < all_stacks_bytes;
}

}  // namespace cuda_on_cpu
