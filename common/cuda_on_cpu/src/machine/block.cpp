#include "block.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <utility>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "../settings.hpp"
#include "builtins.hpp"
#include "gang.hpp"
#include "illegal_access.hpp"
#include "launch.hpp"
#include "side_by_side.hpp"
#include "switch.hpp"

// The dynamic shared memory of the block that this operating-system thread executes.
extern "C" {
alignas(1024) __thread char cuda_on_cpu_dynamic_shared[cuda_on_cpu::most_dynamic_shared];
}

extern __thread uint3 current_thread_index __asm__("threadIdx");

namespace cuda_on_cpu {

__thread Block* block = nullptr;
__thread Block* cuda_on_cpu_tried = nullptr;

namespace {

constexpr unsigned spins_before_yield = 32;
constexpr std::uint64_t most_idle_yields = 1 << 16;
constexpr std::uint64_t idle_yields_before_others = 1 << 10;
constexpr std::uint64_t idle_yields_before_host = 1 << 6;
constexpr std::uint64_t idle_yields_of_system = 1 << 6;
constexpr std::uint64_t stack_end_mark = 0x5374'6169'7243'6173;

/// Protects the lowest whole page of a stack, so that an overflow causes a fault. A process can
/// protect only a limited number of pages separately. Every stack therefore has a mark at its end
/// as well.
void protect_end(char* stack) {
  constexpr std::uintptr_t page = 4096;
  constexpr unsigned most = 8192;
  static std::atomic<unsigned> protected_pages = 0;
  if (protected_pages++ >= most) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(stack) + page) / page * page;
  mprotect(reinterpret_cast<void*>(first), page, PROT_NONE);
}

void free_all_stacks(Block& b) {
  b.stacks.clear();
  for (std::size_t i = most_threads + 1; i-- > 0;)
    b.stacks.push_back(b.stack_pool + i * stack_bytes);
}

char* free_stack() {
  if (block->stack_pool == nullptr) {
    const std::size_t bytes = stack_bytes * (most_threads + 1);
    void* pool = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED) throw std::bad_alloc();
    block->stack_pool = static_cast<char*>(pool);
    block->used_stacks = 0;
    free_all_stacks(*block);
  }
  char* stack = block->stacks.back();
  block->stacks.pop_back();
  if (stack == block->stack_pool + block->used_stacks * stack_bytes) {
    ++block->used_stacks;
    protect_end(stack);
  }
  return stack;
}

void run_threads();

void* start_stack() {
  char* stack = free_stack();
  *reinterpret_cast<std::uint64_t*>(stack) = stack_end_mark;
  const auto top = reinterpret_cast<std::uintptr_t>(stack + stack_bytes) & ~std::uintptr_t{63};
  return fresh_stack(reinterpret_cast<char*>(top), run_threads);
}

void make_current(Thread* thread) {
  thread->state = State::ready;
  block->current = thread;
  current_thread_index = thread->index;
}

/// Prefetches the stack top of `thread`, which will run soon, and the next thread in the
/// queue.
void fetch_stack(const Thread& thread) {
  constexpr std::size_t line = 64, lines = 4;
  __builtin_prefetch(thread.next);
  for (std::size_t i = 0; i < lines; ++i)
    __builtin_prefetch(static_cast<const char*>(thread.stack_pointer) + i * line);
}

/// Switches from the current stack to a ready thread, to a new thread, or to the host side.
void leave(void** stack_pointer) {
  Block& b = *block;
  if (!b.ready.empty()) {
    Thread* next = b.ready.pop();
    if (!b.ready.empty()) fetch_stack(*b.ready.head);
    make_current(next);
    if (stack_pointer != &next->stack_pointer)
      cuda_on_cpu_switch(stack_pointer, next->stack_pointer);
  } else if (b.started < b.launch->threads) {
    b.current = nullptr;
    cuda_on_cpu_switch(stack_pointer, start_stack());
  } else {
    b.current = nullptr;
    cuda_on_cpu_switch(stack_pointer, b.host);
  }
}

uint3 index_of(unsigned rank, const dim3& extent) {
  return {rank % extent.x, rank / extent.x % extent.y, rank / (extent.x * extent.y)};
}

/// Abandons the block: switches to the host side and never returns.
[[noreturn]] void give_up() {
  Block& b = *block;
  b.failed = true;
  b.current = nullptr;
  void* nobody = nullptr;
  cuda_on_cpu_switch(&nobody, b.host);
  __builtin_unreachable();
}

/// The threads that synchronise at a barrier: the threads of the block or of its whole gang.
enum class Scope : unsigned { block, gang };

/// Lets the block arrive at the barrier of its gang, after all threads of the block have arrived.
void arrive_at_gang() {
  Block& b = *block;
  b.gang_arrivals = 0;
  b.has_arrived = true;
  analysis::arrives_at_gang();
  if (b.gang != nullptr) b.gang_phase = b.gang->arrive(b.gang_rank);
}

/// Begins the next phase of the gang's barrier, after the threads of the block have waited.
void begin_next_phase() {
  Block& b = *block;
  analysis::has_waited_for_gang();
  ++b.gang_waits;
  b.has_arrived = false;
  if (!std::exchange(b.arrives_split, false)) return;
  for (unsigned rank = 0; rank < b.launch->threads; ++rank) b.threads[rank].has_arrived = false;
}

/// Resumes the threads at the barrier. The caller ensures that all living threads have arrived.
void open_barrier(Thread* last) {
  Block& b = *block;
  const Thread& any = last != nullptr ? *last : *b.at_barrier.head;
  const bool is_of_gang = static_cast<Scope>(any.mask) == Scope::gang;
  if (is_of_gang) {
    if (!b.has_arrived) arrive_at_gang();
    if (b.gang != nullptr && !b.gang->wait(b.gang_rank, b.gang_phase)) {
      const DeviceAtWork at_work;
      if (!b.gang->is_told())
        report_diagnostic({.kind = "deadlock",
                           .place = any.place,
                           .thread = &any,
                           .sentence = "a block waits for a block that has ended"});
      give_up();
    }
  }
  // All living threads have arrived, so every lane that has not finished now runs.
  for (unsigned first = 0; first < b.launch->threads; first += warp_size) {
    Warp& warp = b.warps[first / warp_size];
    warp.running = static_cast<unsigned>(std::popcount(warp.lanes & ~warp.finished));
  }
  b.at_barrier_count = 0;
  // Threads that arrived early may have accessed memory since then. In this case, the phase of the
  // gang's barrier orders the accesses instead.
  if (!is_of_gang || !b.arrives_split) b.barrier_clock = b.clock++;
  if (is_of_gang) begin_next_phase();
  ++b.barriers;
  if (!is_of_gang) analysis::barrier_opens(any.place, b.living < b.launch->threads);
  b.predicates_sum = b.predicates;
  b.predicates = 0;
  b.ready.append(b.at_barrier);
}

/// Counts a thread that has arrived at a barrier.
/// \returns whether it is the last one
bool count_arrival(const Thread& thread) {
  Block& b = *block;
  if (!b.at_barrier.empty() && b.at_barrier.head->place != thread.place)
    analysis::different_barriers(thread, *b.at_barrier.head);
  return ++b.at_barrier_count == b.living;
}

void barrier(Scope scope, const void* place) {
  Block& b = *block;
  if (b.counts_late) count_ended();
  Thread* thread = b.current;
  Warp& warp = *thread->warp;
  thread->place = place;
  thread->mask = static_cast<unsigned>(scope);
  const unsigned me = 1u << thread->lane;
  if ((warp.pending & me) != 0) {
    warp.arriving |= me;
    wait_in(thread, State::at_block_barrier);
  } else if (count_arrival(*thread)) {
    open_barrier(thread);
  } else {
    b.at_barrier.push(thread);
    wait_in(thread, State::at_block_barrier);
  }
}

/// Lets a thread arrive at a barrier after the check of its accesses.
void arrive_late(Thread* thread) {
  const bool is_last = count_arrival(*thread);
  block->at_barrier.push(thread);
  if (is_last) open_barrier(nullptr);
}

/// Waits at a barrier of the block.
/// \returns the number of threads whose predicate was true at this barrier
int count_at_barrier(bool predicate, const void* place) {
  block->predicates += predicate;
  barrier(Scope::block, place);
  return block->predicates_sum;
}

/// Lets a thread arrive at the barrier of the gang; the thread waits later.
void arrive_early() {
  end_trial();
  catch_up();
  Block& b = *block;
  analysis::arrives_at_gang(*b.current);
  b.arrives_split = b.current->has_arrived = true;
  if (++b.gang_arrivals == b.living) arrive_at_gang();
}

/// Removes a thread that has ended from its warp and its block.
void leave_warp(Thread* thread) {
  thread->state = State::finished;
  if (thread->has_arrived && !block->has_arrived) --block->gang_arrivals;
  if (!thread->has_arrived && block->arrives_split) analysis::arrives_at_gang(*thread);
  --block->living;
  thread->warp->finished |= 1u << thread->lane;
  if (thread->warp->waiting != 0) lanes_changed(thread->warp);
}

/// After a thread has ended, completes the barriers at which all other threads of the block wait.
void release_others() {
  Block& b = *block;
  if (b.gang_arrivals > 0 && b.gang_arrivals == b.living) arrive_at_gang();
  if (b.at_barrier_count > 0 && b.at_barrier_count == b.living) open_barrier(nullptr);
}

/// Ends a thread. A thread whose accesses are not checked yet gives up its stack and waits.
void finish(Thread* thread) {
  Warp& warp = *thread->warp;
  const unsigned me = 1u << thread->lane;
  if (analysis::enabled && !block->left_out) analysis::stops(*thread);
  if ((warp.pending & me) != 0) {
    thread->state = State::at_access;
    warp.ending |= me;
    return lane_stopped(&warp);
  }
  leave_warp(thread);
  lane_stopped(&warp);
  release_others();
}

void finish_late(Thread* thread) {
  leave_warp(thread);
  release_others();
}

void begin(Thread* thread) {
  thread->spins = 0;
  thread->fenced = analysis::Among::nobody;
  thread->has_arrived = false;
  block->current = thread;
  current_thread_index = thread->index;
}

/// Runs the threads of a block as long as none of them waits. Before the first wait, nothing
/// depends on the number of living threads, so ended threads are not counted.
void run_threads_that_do_not_wait(Block& b) {
  const Launch& launch = *b.launch;
  while (b.started < launch.threads) {
    Thread* thread = &b.threads[b.started++];
    begin(thread);
    launch.invocation.call(launch.invocation.closure.get());
    if (b.counts_late) continue;
    b.idle_yields = 0;
    finish(thread);
    b.current = nullptr;
    return;
  }
  b.living = 0;
  b.counts_late = false;
  b.current = nullptr;
}

void run_thread() {
  Block& b = *block;
  b.start_next = false;
  const unsigned rank = b.order.empty() ? b.started : b.order[b.started];
  ++b.started;
  Thread* thread = &b.threads[rank];
  thread->state = State::ready;
  thread->stack_top =
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  cuda_on_cpu_tried = nullptr;
  begin(thread);
  b.launch->invocation.call(b.launch->invocation.closure.get());
  b.idle_yields = 0;
  finish(thread);
  b.current = nullptr;
}

/// The function that runs on each stack. It starts one thread after another, until an earlier
/// thread is ready to continue or all threads have started. It then frees its stack.
void run_threads() {
  if (block->counts_late) run_threads_that_do_not_wait(*block);
  for (;;) {
    Block& b = *block;
    if ((b.ready.empty() || b.start_next) && b.started < b.launch->threads) {
      run_thread();
    } else {
      const auto offset =
          static_cast<std::size_t>(static_cast<char*>(__builtin_frame_address(0)) - b.stack_pool);
      char* stack = b.stack_pool + offset / stack_bytes * stack_bytes;
      if (*reinterpret_cast<std::uint64_t*>(stack) != stack_end_mark)
        fatal("kernel " + b.launch->kernel + " uses more than " + std::to_string(stack_bytes) +
              " bytes of stack per thread, which is the limit of the CPU device");
      b.stacks.push_back(stack);
      void* nobody = nullptr;
      leave(&nobody);
    }
  }
}

/// The block of this operating-system thread. The block is never freed, because accesses are
/// checked until the last destructor has run.
Block& own_block() {
  if (block == nullptr) {
    block = std::make_unique<Block>().release();
    for (unsigned rank = 0; rank < most_threads; ++rank) {
      Thread& thread = block->threads[rank];
      thread.rank = rank;
      thread.lane = rank % warp_size;
      thread.warp = &block->warps[rank / warp_size];
    }
    catch_illegal_accesses();
  }
  return *block;
}

/// Computes the indices of the threads for a block shape, unless they are already stored. Computing
/// the index at each start of a thread would take longer than the rest of the start.
void lay_out(Block& b, const dim3& extent) {
  if (b.extent.x == extent.x && b.extent.y == extent.y && b.extent.z == extent.z) return;
  b.extent = extent;
  for (unsigned rank = 0; rank < extent.x * extent.y * extent.z; ++rank)
    b.threads[rank].index = index_of(rank, extent);
}

void prepare(Launch& launch, unsigned number, Gang* gang, unsigned gang_rank, unsigned turn) {
  Block& b = own_block();
  b.ready.clear();
  b.at_barrier.clear();
  b.launch = &launch;
  b.gang = gang;
  b.gang_rank = gang_rank;
  b.number = number;
  b.index = index_of(number, launch.configuration.grid);
  b.turn = turn;
  b.on_trial = launch.on_trial;
  lay_out(b, launch.configuration.block);
  b.started = 0;
  b.living = launch.threads;
  b.at_barrier_count = 0;
  b.gang_arrivals = b.gang_waits = 0;
  b.arrives_split = b.has_arrived = false;
  b.predicates = 0;
  b.start_next = false;
  b.failed = false;
  b.idle_yields = 0;
  if (b.uses_tiles) forget_tiles();
  if (settings().schedule.order != Schedule::Order::ascending)
    b.order = settings().schedule.threads(launch.threads, number);
  b.barriers = 0;
  b.barrier_clock = b.clock++;
  for (unsigned first = 0; first < launch.threads; first += warp_size) {
    const unsigned lanes = std::min(warp_size, launch.threads - first);
    b.warps[first / warp_size] = {.threads = &b.threads[first],
                                  .lanes = lanes == 32 ? all_lanes : (1u << lanes) - 1,
                                  .running = lanes};
  }
  const auto builtin = [](dim3 d) { return Builtin{d.x, d.y, d.z}; };
  set_block(builtin(b.index), builtin(launch.configuration.block),
            builtin(launch.configuration.grid));
}

void forget_details(Block& b) {
  for (Details& details : std::span(b.details).first(b.launch->threads)) {
    details.copies.clear();  // the vector keeps its capacity
    details = {.copies = std::move(details.copies)};
  }
  b.details_changed = false;
}

/// Reports a deadlock of the block, with the number of threads that wait in each operation.
void report_deadlock() {
  Block& b = *block;
  constexpr const char* waits[] = {"not started",        "ready",
                                   "at a block barrier", "in an operation of a warp",
                                   "at a cuda::barrier", "at a barrier of their tile",
                                   "at an access",       "finished"};
  unsigned counts[std::size(waits)] = {b.launch->threads - b.started};
  const Thread* first = nullptr;
  for (unsigned n = 0; n < b.started; ++n) {
    const Thread& thread = b.threads[b.order.empty() ? n : b.order[n]];
    ++counts[static_cast<unsigned>(thread.state)];
    if (first == nullptr && thread.state != State::finished) first = &thread;
  }
  std::string sentence = "the threads of a block wait for each other:";
  for (std::size_t i = 0; i < std::size(waits); ++i)
    if (counts[i] > 0) sentence += ' ' + std::to_string(counts[i]) + ' ' + waits[i] + ',';
  sentence.pop_back();
  report_diagnostic(
      {.kind = "deadlock", .place = first->place, .thread = first, .sentence = sentence});
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Whether host threads may still write a value that the block's threads wait for.
HelpOfHost help_of_host() {
  const Launch& launch = *block->launch;
  if (launch.help_of_host == nullptr) return HelpOfHost::none;
  const DeviceAtWork at_work;
  return launch.help_of_host();
}

/// The number of idle yields after which the block probably waits for something other than its own
/// threads.
std::uint64_t few_idle_yields() {
  return block->launch->is_beside_host ? idle_yields_before_host : idle_yields_before_others;
}

/// Whether a wait of this block's threads can be ended only by these threads themselves or by the
/// host. The block then calls `sched_yield` only now and then, because each call may take a long
/// time on a busy system.
bool is_analysed_alone() { return analysis::enabled && block->gang == nullptr; }

/// Whether, under analysis, the blocks of a non-cooperative launch run in turn, so that only blocks
/// of this launch can end a wait of the block's threads.
bool runs_in_turn() {
  const Block& b = *block;
  return analysis::enabled && b.gang != nullptr && b.gang->size() == 1 &&
         !b.launch->configuration.cooperative && !b.launch->is_beside_host &&
         settings().devices == 1;
}

/// Whether the block's threads have waited in loops for too long. A block that can wait for others
/// or for the host has a time limit. A block that runs alone has a limit on its idle yields.
bool waits_in_vain() {
  constexpr double most_seconds_in_turn = 1;
  Block& b = *block;
  if (++b.idle_yields == 1) b.idle_since = seconds();
  if (b.idle_yields % few_idle_yields() != 0) return false;
  const bool in_turn = runs_in_turn();
  const bool is_alone = is_analysed_alone() || in_turn;
  if (is_alone && b.idle_yields <= most_idle_yields && !b.launch->is_beside_host) return false;
  const bool asks_host = is_alone || b.launch->is_beside_host;
  const HelpOfHost help = asks_host ? help_of_host() : HelpOfHost::none;
  if (help == HelpOfHost::sure) b.idle_since = seconds();
  if (is_alone && help == HelpOfHost::none)
    return !in_turn ||
           seconds() - b.idle_since > std::min<double>(most_seconds_in_turn, settings().patience);
  return seconds() - b.idle_since > settings().patience;
}

/// Whether the block has waited so long that more blocks of its launch, the host, or other devices
/// may have to run.
bool calls_others() {
  const Block& b = *block;
  const bool may_need_device = settings().devices > 1 || b.launch->is_beside_host;
  const std::uint64_t few = may_need_device ? few_idle_yields() : 8 * idle_yields_before_others;
  return b.idle_yields % few == 0 && b.launch->call_others;
}

/// Whether a thread waits at a barrier at which another block of the gang may arrive.
bool may_get_parcels() {
  const Block& b = *block;
  const auto waits = [](const Thread& t) { return t.state == State::at_barrier_object; };
  return b.gang != nullptr && b.living > 0 && !b.failed &&
         std::any_of(b.threads.begin(), b.threads.begin() + b.launch->threads, waits);
}

/// Waits for parcels from other blocks of the gang. Call this function only if no thread of the
/// block can continue without a parcel.
/// \returns whether a thread can continue afterwards
bool wait_for_parcels() {
  Block& b = *block;
  if (!may_get_parcels()) return false;
  const double since = seconds();
  for (;;) {
    const bool is_last = b.gang->has_one_left();
    receive_parcels();
    if (!b.ready.empty()) return true;
    if (is_last || b.gang->failed() || seconds() - since > settings().patience) return false;
    b.gang->take_turns(b.gang_rank);
  }
}

}  // namespace

bool is_on_device() { return block != nullptr && block->current != nullptr; }
void count_ended() {
  Block& b = *block;
  b.counts_late = false;
  b.current->state = State::ready;
  const unsigned ended = b.started - 1;
  b.living -= ended;
  for (unsigned rank = 0; rank < ended; ++rank) {
    Thread& thread = b.threads[rank];
    thread.state = State::finished;
    thread.warp->finished |= 1u << thread.lane;
    --thread.warp->running;
  }
}

unsigned lane() { return block->current->lane; }
unsigned thread_rank() { return block->current->rank; }

void lane_stopped(Warp* warp) {
  if (--warp->running > 0) return;
  if (warp->pending != 0) analysis::resolve(*warp);
  if (warp->running == 0 && warp->gathering != 0) release_gathered(*warp);
}

void wait_in(Thread* thread, State state) {
  thread->state = state;
  if (analysis::enabled && !block->left_out) analysis::stops(*thread);
  thread->spins = 0;
  block->idle_yields = 0;
  lane_stopped(thread->warp);
  leave(&thread->stack_pointer);
}

void wait_for_requests(Thread* thread) {
  thread->state = State::at_access;
  lane_stopped(thread->warp);
  leave(&thread->stack_pointer);
}

void stop_for_requests(Thread* thread) {
  analysis::stops(*thread);
  wait_for_requests(thread);
}

void go_on(Warp& warp, unsigned lanes) {
  const unsigned arriving = lanes & warp.arriving, ending = lanes & warp.ending;
  warp.arriving &= ~lanes;
  warp.ending &= ~lanes;
  wake(warp, lanes & ~(arriving | ending));
  for (unsigned rest = arriving; rest != 0; rest &= rest - 1)
    arrive_late(&warp.threads[std::countr_zero(rest)]);
  for (unsigned rest = ending; rest != 0; rest &= rest - 1)
    finish_late(&warp.threads[std::countr_zero(rest)]);
}

void note_spin(bool idle) {
  Thread& thread = *block->current;
  if (!idle) {
    thread.spins = 0;
    block->idle_yields = 0;
  } else if (++thread.spins > spins_before_yield) {
    thread.spins = 0;
    yield();
  }
}

void wait_begins() {
  if (!is_on_device()) return host_looks();
  Thread& thread = *block->current;
  changed_details_of(thread).waits = true;
  if (analysis::enabled) return;  // the analysis checks the accesses and counts the spins
  thread.place = __builtin_return_address(0);
  note_spin(true);
}

bool wait_ends(bool goes_on) {
  if (!is_on_device()) return goes_on;
  changed_details_of(*block->current).waits = false;
  if (!goes_on) note_spin(false);
  return goes_on;
}

void fail_launch(int error) {
  catch_up();
  fail_launch_at_once(error);
}

void end_trial() {
  if (block == nullptr) return;
  if (SideBySide* others = std::exchange(block->beside, nullptr); others != nullptr)
    if (!others->go_on_alone(block->turn)) give_up();
  if (!block->on_trial) return;
  block->launch->trial_is_over = true;
  give_up();
}

void stand_in(Launch& launch) {
  Block& b = own_block();
  b.launch = &launch;
  b.gang = nullptr;
  lay_out(b, launch.configuration.block);
}

void stand_in(unsigned number) {
  block->number = number;
  block->index = index_of(number, block->launch->configuration.grid);
}

void fail_launch_at_once(int error) {
  end_trial();
  block->launch->failure = static_cast<cudaError_t>(error);
  give_up();
}

void yield() {
  end_trial();
  catch_up();
  Block& b = *block;
  Thread* thread = b.current;
  if (b.launch->failed || (b.gang != nullptr && b.gang->failed())) give_up();
  if (waits_in_vain()) {
    const DeviceAtWork at_work;
    report_diagnostic(
        {.kind = "deadlock",
         .place = thread->place,
         .thread = thread,
         .sentence = std::string("a thread waits in a loop for a value that no thread stores") +
                     (b.launch->has_children
                          ? "; a child kernel runs only after the blocks of its parent have ended"
                          : "")});
    give_up();
  }
  if (b.gang != nullptr) receive_parcels();
  if (calls_others()) {
    const DeviceAtWork at_work;
    if (b.launch->call_others()) analysis::blocks_wait_for_each_other(*thread);
  }
  // Once all threads that are not at a barrier have yielded, all of them may be waiting in loops.
  // Another block then runs.
  if (b.gang != nullptr && b.idle_yields % (b.living - b.at_barrier_count) == 0)
    b.gang->take_turns(b.gang_rank);
  // At first, the other lanes of the warp wait for this lane, as in lockstep. But this lane may
  // wait for a value that another lane of the warp has to write.
  const bool leaves_warp = waits_in_loops();
  if (leaves_warp) lane_stopped(thread->warp);
  const auto come_back = [&] {
    if (leaves_warp)
      wake(thread);
    else
      b.ready.push(thread);
  };
  if (b.started < b.launch->threads) {  // threads that wait must not starve those that have not
                                        // started
    come_back();
    b.start_next = true;
    b.current = nullptr;
    cuda_on_cpu_switch(&thread->stack_pointer, start_stack());
  } else if (b.ready.empty()) {
    if (leaves_warp) ++thread->warp->running;
    if (b.gang != nullptr)
      b.gang->take_turns(b.gang_rank);
    else if (b.launch->is_beside_host && b.idle_yields > idle_yields_before_host)
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // the host needs a core, too
    else if (!is_analysed_alone() || b.idle_yields % idle_yields_of_system == 0)
      sched_yield();
  } else {
    come_back();
    leave(&thread->stack_pointer);
  }
}

void block_barrier() { barrier(Scope::block, __builtin_return_address(0)); }

int block_count(bool predicate) { return count_at_barrier(predicate, __builtin_return_address(0)); }

/// Ends the launch with an error if it is not cooperative, because its threads then cannot
/// synchronise with the whole grid.
static void expect_cooperative(const void* place) {
  if (block->launch->configuration.cooperative) return;
  report_diagnostic({.kind = "not cooperative",
                     .place = place,
                     .thread = block->current,
                     .sentence = "a thread waits for the whole grid, which was not launched by "
                                 "cudaLaunchCooperativeKernel"});
  fail_launch(cudaErrorLaunchFailure);
}

void grid_barrier() {
  expect_cooperative(__builtin_return_address(0));
  barrier(Scope::gang, __builtin_return_address(0));
}

void grid_arrive() {
  expect_cooperative(__builtin_return_address(0));
  arrive_early();
}

void grid_wait() { barrier(Scope::gang, __builtin_return_address(0)); }

void cluster_barrier() { barrier(Scope::gang, __builtin_return_address(0)); }

void cluster_arrive() { arrive_early(); }

void cluster_wait() { barrier(Scope::gang, __builtin_return_address(0)); }

bool run_block(Launch& launch, unsigned number, Gang* gang, unsigned gang_rank, unsigned turn) {
  prepare(launch, number, gang, gang_rank, turn);
  Block& b = *block;
  analysis::block_begins(b);
  b.counts_late = (!analysis::enabled || b.left_out) && gang == nullptr && b.order.empty();
  do {
    leave(&b.host);
    b.current = nullptr;
  } while (wait_for_parcels());
  if (b.living > 0) {
    const bool is_told = gang != nullptr && gang->is_told();
    if (!b.failed && !b.on_trial && !is_told) report_deadlock();
    free_all_stacks(b);  // also of threads that never end
    if (gang != nullptr) gang->fail();
  }
  analysis::block_ends(b);
  if (b.details_changed) forget_details(b);
  b.on_trial = false;
  b.beside = nullptr;
  launch.barriers += b.barriers;
  return b.living == 0;
}

}  // namespace cuda_on_cpu

void __syncthreads() {
  cuda_on_cpu::barrier(cuda_on_cpu::Scope::block, __builtin_return_address(0));
}
int __syncthreads_count(int predicate) {
  return cuda_on_cpu::count_at_barrier(predicate != 0, __builtin_return_address(0));
}
int __syncthreads_or(int predicate) {
  return cuda_on_cpu::count_at_barrier(predicate != 0, __builtin_return_address(0)) != 0;
}
int __syncthreads_and(int predicate) {
  return cuda_on_cpu::count_at_barrier(predicate == 0, __builtin_return_address(0)) == 0;
}
