/// \file
/// Streams, events and the capture of graphs. An operation of a stream usually runs only when
/// another operation or the host depends on it.

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

/// Whether the process has only one thread besides the threads of the CPU device.
bool is_alone();

/// A host function that a stream calls on a separate thread.
struct HostCall {
  std::function<void()> function;
  std::atomic<bool> done = false;
  std::thread thread = {};

  explicit HostCall(std::function<void()> f) : function(std::move(f)) {}
  ~HostCall() {
    if (thread.joinable()) thread.join();
  }
  bool is_running(const Operation& operation);  ///< starts the function if necessary
  void wait(const Operation& operation);
};

/// Calls that other host threads must make before an operation can run.
class Awaited {
 public:
  virtual ~Awaited() = default;
  virtual bool is_there() const = 0;
  virtual std::vector<std::thread::id> callers() const = 0;  ///< the threads that are expected to
                                                             ///< make the calls
  virtual std::string sentence() const = 0;                  ///< a sentence with the waiting and
                                                             ///< the awaited ranks
};

/// A call of one rank of a communicator, which is matched with calls of other ranks.
class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Matches the operation of a stream with the operations of other ranks. The marker `arrival` is
  /// complete when the stream has reached the call.
  virtual void join(const OperationPointer& arrival, const OperationPointer& operation) const = 0;
};

/// A kernel as it was launched.
struct Kernel {
  std::string name;
  Configuration configuration;
  Invocation invocation;
};

/// Whether an operation copies memory, fills memory, or does neither.
enum class Moves { nothing, copy, fill };

/// An operation of a stream: a kernel, a copy, a memset, a host call, or a call of a rank.
struct Operation {
  std::function<bool(const Operation&)> work;      ///< returns whether the work succeeded
  std::shared_ptr<HostCall> host_call = nullptr;   ///< executed before the work
  std::shared_ptr<const Kernel> kernel = nullptr;  ///< executed instead of the work
  std::shared_ptr<const Meeting> meeting = nullptr;
  std::shared_ptr<const Awaited> awaited = nullptr;  ///< calls that must be made before the work
  std::vector<OperationPointer> after;               ///< operations that must be complete before
                                                     ///< this one
  const void* place = nullptr;                       ///< the call site on the host
  const char* name = nullptr;  ///< name in messages of an operation that is neither a copy nor a
                               ///< memset
  int device = 0;
  bool is_disabled = false;  ///< whether launches of the graph skip the work of the operation
  bool marks = false;  ///< whether the operation has no effect and only serves as a dependency
  Moves moves = Moves::nothing;
  std::shared_ptr<GraphAllocation> allocates = nullptr;  ///< allocation node of a graph, or null
  Allocation* frees = nullptr;
  cudaEvent_t records = nullptr;  ///< event that each launch of the graph records
  cudaEvent_t awaits = nullptr;   ///< event to await, as last recorded before the launch
  bool shared = false;  ///< whether several streams share the operation; other operations define
                        ///< its order
  bool waits_in_stream = false;  ///< whether the operation is in a stream and not complete
  bool done = false;
  std::chrono::steady_clock::time_point when = {};

  std::uint32_t number = 0;  ///< position in the order of enqueuing, from 1; in a graph, the chain
                             ///< of the stream that recorded it
  std::uint32_t search = 0;  ///< the latest graph search that visited the operation
};

/// The operations that a capturing stream has recorded, and the graph that is built from them.
struct Capture {
  std::vector<OperationPointer> operations;
  std::size_t built = 0;  ///< number of operations that have become nodes
  std::unordered_map<const Operation*, cudaGraphNode_t> nodes;
  std::vector<OperationPointer> substitutes;   ///< markers that stand for nodes added by the
                                               ///< program
  std::unique_ptr<CUgraph_st> own_graph;       ///< null if the program provided the graph
  cudaGraph_t graph = nullptr;                 ///< the graph that is being built
  std::vector<cudaGraphNode_t> begins_behind;  ///< nodes that the first recorded operations depend
                                               ///< on
  std::vector<cudaGraphNode_t> told;           ///< the latest nodes, as returned to the program
  bool valid = true;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();

  /// Whether the calling thread must not allocate memory during this capture.
  bool forbids_allocations() const {
    return mode == cudaStreamCaptureModeGlobal ||
           (mode == cudaStreamCaptureModeThreadLocal && thread == std::this_thread::get_id());
  }
};

}  // namespace cuda_on_cpu

namespace cuda_on_cpu {

/// A number that no other stream has.
unsigned long long new_stream_number();

}  // namespace cuda_on_cpu

struct CUstream_st {
  int device = 0;
  const unsigned long long number = cuda_on_cpu::new_stream_number();
  std::uint32_t context = 0;  ///< the context whose end destroys the stream
  bool non_blocking = false;
  int priority = 0;
  std::uint32_t chain = 0;
  std::deque<cuda_on_cpu::OperationPointer> pending;
  cuda_on_cpu::OperationPointer last;
  std::vector<cuda_on_cpu::OperationPointer> awaited;  ///< operations that the next operation of
                                                       ///< the stream awaits
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
  std::shared_ptr<cuda_on_cpu::SharedEvent> shared;  ///< null unless other processes share the
                                                     ///< event
};

namespace cuda_on_cpu {

/// A recursive mutex that its owner can release completely.
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
  /// Waits for a notification. The mutex is free during the wait, even if this thread has locked it
  /// several times.
  void wait(std::condition_variable_any& change);

 private:
  std::recursive_mutex mutex_;
  unsigned depth_ = 0;
};

/// The mutex that every call of the runtime locks.
RuntimeMutex& runtime_mutex();

/// The number of calls of `runtime_mutex`, by all threads or by this thread.
std::uint64_t calls_of_runtime();
std::uint64_t calls_of_thread();

/// The index of a new chain. Each operation of a chain is complete before the next one begins.
std::uint32_t new_chain();

/// The streams that the program has created and not destroyed.
const std::vector<CUstream_st*>& created_streams();

/// Returns a new event to the program. The event lives until the program destroys it or its context
/// ends.
void give_event(cudaEvent_t* event, std::unique_ptr<CUevent_st> made);

/// Destroys the streams and the events of a context.
void end_streams_and_events(int device, std::uint32_t context);

/// The stream of a handle, which may be null or a special handle. Returns null if there is no such
/// stream.
CUstream_st* find_stream(cudaStream_t stream);

/// Appends an operation to a stream. The operation follows all operations of the stream and all
/// events that the stream waits for.
OperationPointer enqueue(CUstream_st& stream, std::function<bool(const Operation&)> work,
                         const void* place, std::shared_ptr<const Kernel> kernel = nullptr);

/// Assigns an operation its position in the order of the program, and in a chain.
void number(Operation& operation, std::uint32_t chain);

/// Assigns a position in the order of the program to an operation that a kernel launched.
void number_of_child(Operation& operation, std::uint32_t parent);

/// Numbers a part of a running operation. `acquire_from_part` orders the whole operation after the
/// completed part.
void number_within(Operation& part, std::uint32_t chain, const Operation& whole);
void acquire_from_part(const Operation& whole, const Operation& part);

/// Orders an operation, or the host, after all operations that were enqueued earlier. The operation
/// or the host has waited for another process, which may have waited for those operations.
void acquire_from_others(const Operation& operation);
void host_acquires_from_others();

/// Appends a marker to a stream. An event or another stream can wait for the marker.
OperationPointer mark(CUstream_st& stream, const void* place);

/// Appends a call of a rank to a stream.
void enqueue_meeting(CUstream_st& stream, std::shared_ptr<const Meeting> meeting,
                     std::function<bool(const Operation&)> work, const void* place);

/// Releases the runtime's mutex and waits until other threads have made the awaited calls.
/// \returns whether these calls have been made; if not, no thread can make them any more, or the
/// devices have failed
bool wait_for(const Awaited& awaited);

/// Wakes up the threads that wait for other threads.
void tell_all_who_wait();

/// Executes an operation after all operations that it depends on.
void finish(const OperationPointer& operation);

/// Executes all operations of a stream, or of a device. The accesses of the operations are then
/// ordered before later accesses of the host.
void synchronise(CUstream_st& stream);
void synchronise_device(int device);

/// Executes the first pending dependency of an operation for which the host polls, or the operation
/// itself if it has none.
/// \returns whether the executed operation is complete; if not, it waits for the host or for other
/// threads
bool advance(const OperationPointer& operation);

/// Whether any stream has a pending operation. The caller need not hold the mutex.
bool any_is_pending();

/// Executes pending operations until all remaining operations must wait for other threads. The
/// function runs on a thread of the runtime, so kernels run concurrently with the host, which may
/// call the runtime meanwhile.
void advance_streams();

/// Runs a kernel that a host thread has requested to run concurrently with the host.
void perform_wanted();

/// `runs_beside_host`: whether this thread runs kernels concurrently with the host, and no host
/// thread waits for them to begin. `host_goes_on`: whether any kernel runs concurrently with the
/// host.
bool runs_beside_host();
bool host_goes_on();

/// The number of the operation that represents the host's accesses until the host next enqueues or
/// awaits work. In a host function of a stream, the result is the number of the call.
std::uint32_t host_operation();

/// Whether an operation represents accesses of the host.
bool is_host_operation(std::uint32_t number);

/// Publishes all earlier accesses of the host (release). Returns the number of the operation that
/// represents these accesses.
std::uint32_t host_publishes();

/// `number_of_host_clock` assigns the next number to a clock that the host acquires from a flag.
/// `latest_host_clock_of` returns the number of the latest such clock that an operation
/// inherits.
std::uint32_t number_of_host_clock();
std::uint32_t latest_host_clock_of(std::uint32_t operation);

/// Whether the operation `first` equals the operation `second` or happens before it, independently
/// of the order in which they were executed.
bool happens_before(std::uint32_t first, std::uint32_t second);

}  // namespace cuda_on_cpu
