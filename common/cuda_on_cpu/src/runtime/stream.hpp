/// \file
/// Streams, events and graphs: operations that run when something depends on them.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cuda_on_cpu/runtime_api.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {

struct Allocation;
struct GraphAllocation;
struct Operation;
struct SharedEvent;
using OperationPointer = std::shared_ptr<Operation>;

/// Whether the process has but one thread, beside those that run blocks.
bool is_alone();

/// A function of the host that a stream calls, on a thread of its own.
struct HostCall {
  std::function<void()> function;
  std::atomic<bool> done = false;
  std::thread thread = {};

  explicit HostCall(std::function<void()> f) : function(std::move(f)) {}
  ~HostCall() {
    if (thread.joinable()) thread.join();
  }
  bool is_running(const Operation& operation);  ///< starts it if need be
  void wait(const Operation& operation);
};

/// Calls of other threads of the host that an operation needs, and that may not have come yet.
class Awaited {
 public:
  virtual ~Awaited() = default;
  virtual bool is_there() const = 0;
  virtual std::vector<std::thread::id> callers() const = 0;  ///< who is expected to make them
  virtual std::string sentence() const = 0;                  ///< who waits for whom
};

/// A call of one rank of a communicator, which meets those of others whenever it is done.
class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Tells the others that the stream has an operation for it, behind `arrival`, the marker that is
  /// done when the stream has come there.
  virtual void join(const OperationPointer& arrival, const OperationPointer& operation) const = 0;
};

/// A kernel as it was launched.
struct Kernel {
  std::string name;
  Configuration configuration;
  Invocation invocation;
};

/// What an operation does to memory by itself.
enum class Moves { nothing, copy, fill };

/// Something that a stream does: a kernel, a copy, a fill, a call of the host, a meeting.
struct Operation {
  std::function<bool(const Operation&)> work;      ///< returns whether it went well
  std::shared_ptr<HostCall> host_call = nullptr;   ///< done before the work
  std::shared_ptr<const Kernel> kernel = nullptr;  ///< in place of the work
  std::shared_ptr<const Meeting> meeting = nullptr;
  std::shared_ptr<const Awaited> awaited = nullptr;  ///< there before the work
  std::vector<OperationPointer> after;               ///< what must be done before
  const void* place = nullptr;                       ///< where the host asked for it
  const char* name = nullptr;  ///< in messages, if it is neither a copy nor a fill
  int device = 0;
  bool marks = false;  ///< whether it does nothing but be waited for
  Moves moves = Moves::nothing;
  std::shared_ptr<GraphAllocation> allocates = nullptr;  ///< for a graph
  Allocation* frees = nullptr;
  cudaEvent_t records = nullptr;  ///< whenever a graph with it is launched
  cudaEvent_t awaits = nullptr;   ///< as it was recorded last when the graph is launched
  bool shared = false;  ///< whether it is of several streams, which learn of each other elsewhere
  bool waits_in_stream = false;  ///< until it is done
  bool done = false;
  std::chrono::steady_clock::time_point when = {};

  std::uint32_t number = 0;  ///< in the order in which they were asked for, from 1; in a graph,
                             ///< the chain of the stream that recorded it
  std::uint32_t search = 0;  ///< the latest search for what to do that came here
};

/// The operations that a stream recorded instead of doing them, and the graph that they become.
struct Capture {
  std::vector<OperationPointer> operations;
  std::size_t built = 0;  ///< how many of them are nodes
  std::unordered_map<const Operation*, cudaGraphNode_t> nodes;
  std::vector<OperationPointer> substitutes;   ///< for nodes that the program added
  std::unique_ptr<CUgraph_st> own_graph;       ///< null: somebody else's
  cudaGraph_t graph = nullptr;                 ///< as far as it is built
  std::vector<cudaGraphNode_t> begins_behind;  ///< nodes of it
  std::vector<cudaGraphNode_t> told;           ///< to the program, the latest nodes
  bool valid = true;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();

  /// Whether the calling thread may not allocate while this is going on.
  bool forbids_allocations() const {
    return mode == cudaStreamCaptureModeGlobal ||
           (mode == cudaStreamCaptureModeThreadLocal && thread == std::this_thread::get_id());
  }
};

}  // namespace cuda_on_cpu

struct CUstream_st {
  int device = 0;
  std::uint32_t context = 0;  ///< with which it ends
  bool non_blocking = false;
  int priority = 0;
  std::uint32_t chain = 0;
  std::deque<cuda_on_cpu::OperationPointer> pending;
  cuda_on_cpu::OperationPointer last;
  std::vector<cuda_on_cpu::OperationPointer> awaited;  ///< by the next operation
  std::shared_ptr<cuda_on_cpu::Capture> capture;
  bool began_capture = false;
  cudaAccessPolicyWindow window = {};
  cudaSynchronizationPolicy policy = cudaSyncPolicyAuto;
};

struct CUevent_st {
  cuda_on_cpu::OperationPointer operation;
  std::shared_ptr<cuda_on_cpu::Capture> capture;
  int device = 0;
  std::uint32_t context = 0;
  bool timing = true;
  std::shared_ptr<cuda_on_cpu::SharedEvent> shared;  ///< with other processes
};

namespace cuda_on_cpu {

/// A recursive mutex of which a thread can let go altogether.
class RuntimeMutex {
 public:
  void lock() {
    mutex_.lock();
    ++depth_;
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    ++depth_;
    return true;
  }
  void unlock() {
    --depth_;
    mutex_.unlock();
  }
  /// Whether the owner has locked the mutex more than once.
  bool is_nested() const { return depth_ > 1; }
  /// Waits for a change, and lets others in meanwhile, however often this thread has locked.
  void wait(std::condition_variable_any& change);

 private:
  std::recursive_mutex mutex_;
  unsigned depth_ = 0;
};

/// Held by every call of the runtime.
RuntimeMutex& runtime_mutex();

/// How often it was asked for, by all threads and by this one.
std::uint64_t calls_of_runtime();
std::uint64_t calls_of_thread();

/// A number for a chain of operations each of which is done after the one before.
std::uint32_t new_chain();

/// The streams that the program made and has not destroyed.
const std::vector<CUstream_st*>& created_streams();

/// Gives a program an event, which lives until it is destroyed, or its context is.
void give_event(cudaEvent_t* event, std::unique_ptr<CUevent_st> made);

/// Destroys the streams and the events of a context.
void end_streams_and_events(int device, std::uint32_t context);

/// The stream that a handle names, null and the special handles included; null if there is none.
CUstream_st* find_stream(cudaStream_t stream);

/// Adds an operation behind all that the stream has, and all that it waits for.
OperationPointer enqueue(CUstream_st& stream, std::function<bool(const Operation&)> work,
                         const void* place, std::shared_ptr<const Kernel> kernel = nullptr);

/// Gives an operation its place in the order of the program, and in a chain.
void number(Operation& operation, std::uint32_t chain);

/// The same for what a kernel asked for, in an operation.
void number_of_child(Operation& operation, std::uint32_t parent);

/// The same for a part of an operation that is under way; and what the whole learns when the part
/// is done.
void number_within(Operation& part, std::uint32_t chain, const Operation& whole);
void acquire_from_part(const Operation& whole, const Operation& part);

/// An operation, or the host, has waited for another process, which may have waited for all that
/// was asked for before.
void acquire_from_others(const Operation& operation);
void host_acquires_from_others();

/// A marker behind all that a stream has, which an event or another stream can wait for.
OperationPointer mark(CUstream_st& stream, const void* place);

/// Adds a meeting behind all that a stream has.
void enqueue_meeting(CUstream_st& stream, std::shared_ptr<const Meeting> meeting,
                     std::function<bool(const Operation&)> work, const void* place);

/// Lets the thread that holds the runtime's mutex wait until something is there that other threads
/// bring. They may do anything meanwhile.
/// \returns whether it is there; if not, nobody will ever bring it, or the devices have failed
bool wait_for(const Awaited& awaited);

/// Lets those who wait for other threads look again.
void tell_all_who_wait();

/// Does an operation, after all that it depends on.
void finish(const OperationPointer& operation);

/// Does everything in a stream, or on a device; the host has waited for it.
void synchronise(CUstream_st& stream);
void synchronise_device(int device);

/// Does the first operation that another one waits for, for a host that asks again and again.
/// \returns whether it is done; if not, it waits for the host, or for other threads
bool advance(const OperationPointer& operation);

/// Whether any stream has something to do. The mutex need not be held.
bool any_is_pending();

/// Does what streams have to do, as far as it need not wait for others, on a thread of the
/// runtime's own: kernels run beside the host, which may call the runtime meanwhile.
void advance_streams();

/// Does what a thread of the host waits to have done so.
void perform_wanted();

/// Whether this thread is the one that does so, and no thread of the host waits for what it does at
/// least until that waits itself; and whether any kernel runs beside the host.
bool runs_beside_host();
bool host_goes_on();

/// The number of the operation that stands for what the host does from now on, until it starts or
/// awaits work; in a function that a stream calls, that of the call.
std::uint32_t host_operation();

/// Whether an operation stands for what the host does.
bool is_host_operation(std::uint32_t number);

/// The host publishes all that it has done, as an operation of a number.
std::uint32_t host_publishes();

/// The number of the next clock that the host acquires from a flag, and of the latest such clock
/// that an operation inherits.
std::uint32_t number_of_host_clock();
std::uint32_t latest_host_clock_of(std::uint32_t operation);

/// Whether what one operation did is done when the other begins, whatever the order in which they
/// really ran.
bool happens_before(std::uint32_t first, std::uint32_t second);

}  // namespace cuda_on_cpu
