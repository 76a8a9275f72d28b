#include "stream.hpp"

#include <algorithm>
#include <condition_variable>
#include <filesystem>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "../machine/launch.hpp"
#include "../settings.hpp"
#include "children.hpp"
#include "contexts.hpp"
#include "cuda_on_cpu/ipc.hpp"
#include "generations.hpp"
#include "host_polling.hpp"
#include "memory.hpp"
#include "shared_events.hpp"
#include "unasked_calls.hpp"

namespace cuda_on_cpu {
namespace {

// If a stream has more pending operations than this, the host waits.
constexpr std::size_t longest_queue = 1024;

/// The vector clock of an operation, for the analysis: the number of operations of each chain that
/// happen before it. Chain 0 is the host; each stream is another chain.
struct Time {
  std::uint32_t chain = 0;
  std::uint32_t sequence = 0;
  std::vector<std::uint32_t> clock = {};
};

void join(std::vector<std::uint32_t>& clock, const std::vector<std::uint32_t>& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

/// A host thread that waits for other threads.
struct Waiting {
  std::thread::id thread;
  const Awaited* awaited;
};

struct Streams {
  RuntimeMutex mutex;
  std::atomic<std::uint64_t> calls = 0;
  std::condition_variable_any others_moved, device_moved;
  std::atomic<bool> runs_beside_host = false;  // whether a kernel runs concurrently with the host;
                                               // the mutex is then free
  std::atomic<bool> kernel_waits = false;      // whether that kernel probably waits for the host
  std::atomic<unsigned> awaiting_device = 0, pending = 0;
  OperationPointer wanted = nullptr;  // the operation to be run concurrently with the host
  std::vector<Waiting> waiting;
  std::uint32_t searches = 0;
  std::deque<CUstream_st> legacy, per_thread;  // one per device
  std::vector<CUstream_st*> created;
  std::vector<std::unique_ptr<CUstream_st>> destroyed;  // destroyed streams with work that the host
                                                        // has not awaited
  std::unordered_map<CUevent_st*, std::unique_ptr<CUevent_st>> events;
  std::uint32_t chains = 1;
  std::mutex order;  // guards the following members, because host functions run concurrently with
                     // the host
  std::uint32_t operations = 1;  // operation 0 represents the host before its first call
  std::deque<Time> times{Time{0, 0, {0}}};
  std::vector<std::uint32_t> host_clock{0};
  std::vector<std::uint32_t> clock_of_all{0};  // clock of the host at the latest time when no
                                               // operation was pending
  std::uint32_t only_chain = 0;                // the chain of all operations so far
  bool has_several_chains = false;
  std::uint32_t host_number = 0;
  bool host_moved = false;    // whether the host has made progress since host_number was assigned
  std::size_t performed = 0;  // number of kernels, copies, memsets and host calls
};

Streams& streams() {
  // Never destroyed, because destructors of other static objects may synchronise.
  static Streams& streams = *[] {
    auto made = std::make_unique<Streams>();
    for (int device = 0; device < settings().devices; ++device)
      for (auto* special : {&made->legacy, &made->per_thread}) {
        special->emplace_back();
        special->back().device = device;
        special->back().chain = made->chains++;
      }
    return made.release();
  }();
  return streams;
}

/// The number of the operation whose host function this thread executes, or 0.
thread_local std::uint32_t calling_operation = 0;

/// `is_beside_host`: whether this thread runs kernels concurrently with the host. Such a thread
/// also starts further kernels for which these kernels wait. `is_wanted`: whether the host waits
/// for such a kernel to begin.
thread_local bool is_beside_host = false, is_wanted = false;

thread_local std::uint64_t own_calls = 0;

void host_moves_on() {
  ++streams().host_clock[0];
  streams().host_moved = true;
}

/// The vector clock after all stream operations whose numbers are below `number`.
std::vector<std::uint32_t> all_before(std::uint32_t number) {
  std::vector<std::uint32_t> clock(streams().chains, number - 1);
  clock[0] = 0;
  return clock;
}

/// Orders the host after a completed operation (acquire).
void host_acquires(const Operation& operation) {
  if (!analysis::enabled) return;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  join(s.host_clock, s.times[operation.number].clock);
  host_moves_on();
}

/// Orders an operation after all its dependencies, which are complete.
void acquire_from_before(const Operation& operation) {
  if (!analysis::enabled || operation.shared) return;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  auto& clock = s.times[operation.number].clock;
  for (const auto& before : operation.after)
    if (!before->shared) join(clock, s.times[before->number].clock);
}

/// After a host function of a stream has returned, orders the function after all accesses of the
/// host. The function may have waited for any of these accesses.
void acquire_from_host(const Operation& operation) {
  if (!analysis::enabled) return;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  join(s.times[operation.number].clock, s.host_clock);
}

/// Whether one of these threads waits for the calling thread, directly or through other threads.
bool any_waits_for_me(const std::vector<std::thread::id>& threads) {
  const auto me = std::this_thread::get_id();
  std::vector<std::thread::id> to_ask = threads, asked{me};
  while (!to_ask.empty()) {
    const auto thread = to_ask.back();
    to_ask.pop_back();
    if (std::find(asked.begin(), asked.end(), thread) != asked.end()) continue;
    asked.push_back(thread);
    for (const Waiting& other : streams().waiting) {
      if (other.thread != thread || other.awaited->is_there()) continue;
      const auto callers = other.awaited->callers();
      if (std::find(callers.begin(), callers.end(), me) != callers.end()) return true;
      to_ask.insert(to_ask.end(), callers.begin(), callers.end());
    }
  }
  return false;
}

/// All streams of a device: the streams of the program, newest first, then destroyed streams, and
/// finally the special streams.
std::vector<CUstream_st*> streams_of(int device) {
  Streams& s = streams();
  std::vector<CUstream_st*> all(s.created.rbegin(), s.created.rend());
  for (const auto& stream : s.destroyed) all.push_back(stream.get());
  std::erase_if(all, [&](const CUstream_st* stream) { return stream->device != device; });
  all.push_back(&s.per_thread[static_cast<std::size_t>(device)]);
  all.push_back(&s.legacy[static_cast<std::size_t>(device)]);
  return all;
}

void forget_done(CUstream_st& stream) {
  while (!stream.pending.empty() && stream.pending.front()->done) stream.pending.pop_front();
}

bool is_cooperative(const Operation& operation) {
  return operation.kernel != nullptr && operation.kernel->configuration.cooperative;
}

bool is_kernel(const Operation& operation) { return operation.kernel != nullptr; }

bool runs_beside_others(const Operation& operation) {
  return !is_cooperative(operation) && !has_clusters(operation.kernel->configuration);
}

/// Whether all dependencies of an operation can be executed without launches of a given kind and
/// without other host threads.
bool can_begin(const Operation& operation, bool (*is_launch)(const Operation&)) {
  const std::uint32_t search = ++streams().searches;
  std::vector<const Operation*> to_ask{&operation};
  while (!to_ask.empty()) {
    const Operation* const asked = to_ask.back();
    to_ask.pop_back();
    for (const OperationPointer& before : asked->after) {
      if (before->done || before->search == search) continue;
      before->search = search;
      if (is_launch(*before) || before->awaited != nullptr || before->host_call != nullptr)
        return false;
      to_ask.push_back(before.get());
    }
  }
  return true;
}

/// The next launch of a given kind on a device; null if none can begin.
OperationPointer next_launch(int device, bool (*is_launch)(const Operation&)) {
  OperationPointer next;
  for (const CUstream_st* stream : streams_of(device)) {
    const auto first = std::find_if(
        stream->pending.begin(), stream->pending.end(),
        [&](const auto& operation) { return !operation->done && is_launch(*operation); });
    if (first != stream->pending.end() && (next == nullptr || (*first)->number < next->number) &&
        can_begin(**first, is_launch))
      next = *first;
  }
  return next;
}

/// An operation and the operations that must run concurrently with it. Blocks of cooperative
/// launches on several devices may wait for each other, even if the host waits only for one of
/// them.
std::vector<OperationPointer> together_with(const OperationPointer& operation) {
  std::vector<OperationPointer> all{operation};
  if (!is_cooperative(*operation) || lasting_error() != cudaSuccess) return all;
  for (int device = 0; device < settings().devices; ++device) {
    const OperationPointer other =
        device == operation->device ? nullptr : next_launch(device, is_cooperative);
    if (other == nullptr) continue;
    for (const OperationPointer& before : other->after) finish(before);
    all.push_back(other);
  }
  return all;
}

/// Prepares the execution of an operation whose dependencies are all complete.
void start(const OperationPointer& operation) {
  Streams& s = streams();
  acquire_from_before(*operation);
  if (operation->host_call != nullptr) {
    operation->host_call->wait(*operation);
    acquire_from_host(*operation);
  }
  if (!operation->marks && ++s.performed == settings().lost_at) lasting_error() = cudaErrorUnknown;
}

/// Begins launches on devices that have no launch among `operations`. These launches are needed if
/// a block of one launch waits for a value that only another device can write.
/// \returns false if the devices have failed
bool call_others(std::vector<OperationPointer>& operations, Launches& more) {
  for (int device = 0; device < settings().devices; ++device) {
    const bool runs = std::any_of(operations.begin(), operations.end(),
                                  [&](const auto& own) { return own->device == device; });
    const OperationPointer other = runs ? nullptr : next_launch(device, is_kernel);
    if (other == nullptr || !runs_beside_others(*other)) continue;
    for (const OperationPointer& before : other->after) finish(before);
    start(other);
    operations.push_back(other);
    if (lasting_error() == cudaSuccess) more.push_back(launch_of(*other));
  }
  return lasting_error() == cudaSuccess;
}

/// How other host threads may help kernels that wait in loops, while this thread waits for a
/// kernel.
HelpOfHost help_of_waiting_host() { return is_alone() ? HelpOfHost::none : HelpOfHost::perhaps; }

/// How the host may help kernels that wait in loops and run concurrently with the host.
HelpOfHost help_of_running_host() {
  Streams& s = streams();
  if (!s.kernel_waits) {
    const std::scoped_lock lock(s.mutex);
    s.kernel_waits = true;
    s.device_moved.notify_all();
  }
  return s.awaiting_device == 0 ? HelpOfHost::sure : help_of_waiting_host();
}

/// Runs kernels concurrently with the host, which may call the runtime meanwhile.
[[gnu::noinline]] bool run_beside_host(Launches& launches,
                                       std::vector<OperationPointer>& operations) {
  Streams& s = streams();
  for (const auto& launch : launches) {
    launch->is_beside_host = true;
    launch->help_of_host = help_of_running_host;
  }
  const auto others = [&](Launches& more) {
    const std::scoped_lock lock(s.mutex);
    const bool was_beside_host = std::exchange(is_beside_host, true);
    const bool well = call_others(operations, more);
    is_beside_host = was_beside_host;
    return well;
  };
  s.kernel_waits = false;
  s.runs_beside_host = true;
  s.mutex.unlock();  // locked only once on the runtime's own thread
  const bool well = run(launches, others);
  s.mutex.lock();
  s.runs_beside_host = false;
  s.device_moved.notify_all();
  return well;
}

/// Runs the kernels of operations concurrently. Adds the operations whose launches these kernels
/// had to wait for.
bool run_kernels(std::vector<OperationPointer>& operations) {
  Launches launches;
  for (const OperationPointer& operation : operations) {
    launches.push_back(launch_of(*operation));
    launches.back()->help_of_host = help_of_waiting_host;
  }
  const auto others = [&](Launches& more) { return call_others(operations, more); };
  if (is_beside_host ? run_beside_host(launches, operations) : run(launches, others))
    return run_children(launches, others);
  for (const auto& launch : launches)
    if (launch->failed && lasting_error() == cudaSuccess) lasting_error() = launch->failure;
  return false;
}

/// Waits until an operation can be executed. While a kernel runs concurrently with the host, no
/// other kernel starts.
void await_device(const Operation& operation) {
  Streams& s = streams();
  const bool is_simple = operation.moves != Moves::nothing || operation.marks;
  if (is_beside_host || is_simple) return;
  ++s.awaiting_device;
  while (s.runs_beside_host) s.mutex.wait(s.device_moved);
  --s.awaiting_device;
}

void perform(const OperationPointer& operation) {
  Streams& s = streams();
  if (s.runs_beside_host) await_device(*operation);
  if (operation->done) return;
  std::vector<OperationPointer> together = together_with(operation);
  for (const OperationPointer& own : together) start(own);
  const bool well =
      lasting_error() == cudaSuccess &&
      (operation->kernel != nullptr ? run_kernels(together) : operation->work(*operation));
  if (!well && lasting_error() == cudaSuccess) lasting_error() = cudaErrorLaunchFailure;
  for (const OperationPointer& own : together) {
    own->work = nullptr;
    own->kernel = nullptr;
    own->when = std::chrono::steady_clock::now();
    own->done = true;
    own->after.clear();
    if (own->waits_in_stream && --s.pending == 0) forget_polling_hosts();
  }
  if (!is_beside_host) ++s.calls;  // the execution may have delayed the calling thread
}

/// Reports that an operation can never be executed, and completes the operation without executing
/// its work.
void give_up(const OperationPointer& operation, const std::string& sentence) {
  if (lasting_error() == cudaSuccess) {
    report_diagnostic({.kind = "deadlock", .place = operation->place, .sentence = sentence});
    lasting_error() = cudaErrorLaunchTimeout;
  }
  perform(operation);
  tell_all_who_wait();
}

/// Adds the dependencies that result from the order between the default stream and other streams.
void add_default_order(const CUstream_st& stream, Operation& operation) {
  CUstream_st& legacy = streams().legacy[static_cast<std::size_t>(stream.device)];
  const auto add = [&](const CUstream_st& other) {
    if (other.last != nullptr) operation.after.push_back(other.last);
  };
  if (&stream == &legacy) {
    for (const CUstream_st* other : streams_of(stream.device))
      if (other != &stream && !other->non_blocking) add(*other);
  } else if (!stream.non_blocking) {
    add(legacy);
  }
}

}  // namespace

bool is_alone() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  const std::ptrdiff_t own = helping_threads() + threads_for_unasked_calls() +
                             threads_for_polling_hosts() + analysis::own_threads();
  return std::distance(begin(threads), end(threads)) == 1 + own;
}

bool HostCall::is_running(const Operation& operation) {
  if (!thread.joinable() && !done) {
    host_acquires(operation);  // the function may signal the host that all earlier work is complete
    thread = std::thread([this, number = operation.number] {
      calling_operation = number;
      function();
      done = true;
    });
  }
  return !done;
}

void HostCall::wait(const Operation& operation) {
  if (is_running(operation)) thread.join();
}

void RuntimeMutex::wait(std::condition_variable_any& change) {
  const unsigned depth = depth_;
  for (unsigned i = 1; i < depth; ++i) unlock();
  change.wait(*this);
  for (unsigned i = 1; i < depth; ++i) lock();
}

RuntimeMutex& runtime_mutex() {
  if (is_on_device())
    fatal("kernel " + block->launch->kernel +
          " calls a function of the CUDA runtime that the CPU device supports only in host code");
  ++streams().calls;
  ++own_calls;
  return streams().mutex;
}

std::uint64_t calls_of_runtime() { return streams().calls; }
std::uint64_t calls_of_thread() { return own_calls; }

/// Records that a chain has operations, and whether several chains have operations.
static void note_chain(std::uint32_t chain) {
  Streams& s = streams();
  if (s.only_chain == 0) s.only_chain = chain;
  s.has_several_chains = s.has_several_chains || chain != s.only_chain;
}

void number(Operation& operation, std::uint32_t chain) {
  analysis::host_asks();
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  operation.number = s.operations++;
  if (!analysis::enabled) return;
  if (s.pending == 0) s.clock_of_all = s.host_clock;
  note_chain(chain);
  Time time{chain, operation.number, s.host_clock};
  if (time.clock.size() <= chain) time.clock.resize(chain + 1);
  time.clock[chain] = time.sequence;
  s.times.push_back(std::move(time));
  host_moves_on();
}

void number_of_child(Operation& operation, std::uint32_t parent) {
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  operation.number = s.operations++;
  // The happens-before order of a child operation follows from its ancestors.
  if (analysis::enabled) s.times.push_back({s.times[parent].chain, operation.number});
}

void number_within(Operation& part, std::uint32_t chain, const Operation& whole) {
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  part.number = s.operations++;
  if (!analysis::enabled) return;
  note_chain(chain);
  Time time{chain, part.number, s.times[whole.number].clock};
  if (time.clock.size() <= chain) time.clock.resize(chain + 1);
  time.clock[chain] = time.sequence;
  s.times.push_back(std::move(time));
}

void acquire_from_part(const Operation& whole, const Operation& part) {
  if (!analysis::enabled) return;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  join(s.times[whole.number].clock, s.times[part.number].clock);
}

void acquire_from_others(const Operation& operation) {
  if (!analysis::enabled) return;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  auto& clock = s.times[operation.number].clock;
  join(clock, all_before(operation.number));
}

void host_acquires_from_others() {
  if (!analysis::enabled) return;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  join(s.host_clock, all_before(s.operations));
  host_moves_on();
}

unsigned long long new_stream_number() {
  static std::atomic<unsigned long long> latest = 0;
  return ++latest;
}

std::uint32_t new_chain() { return streams().chains++; }

const std::vector<CUstream_st*>& created_streams() { return streams().created; }

void give_event(cudaEvent_t* event, std::unique_ptr<CUevent_st> made) {
  made->context = current_context_number();
  *event = made.get();
  streams().events[*event] = std::move(made);
}

void end_streams_and_events(int device, std::uint32_t context) {
  const auto is_of_context = [=](const auto& one) {
    return one.device == device && one.context == context;
  };
  const std::vector<CUstream_st*> created = streams().created;
  for (CUstream_st* stream : created)
    if (is_of_context(*stream)) cudaStreamDestroy(stream);
  std::erase_if(streams().events, [&](const auto& known) { return is_of_context(*known.second); });
}

CUstream_st* find_stream(cudaStream_t stream) {
  Streams& s = streams();
  const auto device = static_cast<std::size_t>(current_device());
  if (stream == nullptr || stream == cudaStreamLegacy) return &s.legacy[device];
  if (stream == cudaStreamPerThread) return &s.per_thread[device];
  const auto found = std::find(s.created.begin(), s.created.end(), stream);
  return found == s.created.end() ? nullptr : *found;
}

OperationPointer enqueue(CUstream_st& stream, std::function<bool(const Operation&)> work,
                         const void* place, std::shared_ptr<const Kernel> kernel) {
  auto operation = std::make_shared<Operation>();
  operation->work = std::move(work);
  operation->kernel = std::move(kernel);
  operation->place = place;
  operation->device = stream.device;
  operation->after = std::move(stream.awaited);
  stream.awaited.clear();
  if (stream.last != nullptr) operation->after.push_back(stream.last);
  stream.last = operation;
  if (stream.capture != nullptr) {
    operation->number = stream.chain;
    stream.capture->operations.push_back(operation);
    return operation;
  }
  add_default_order(stream, *operation);
  std::erase_if(operation->after,
                [](const auto& before) { return before->done && !analysis::enabled; });
  number(*operation, stream.chain);
  forget_done(stream);
  stream.pending.push_back(operation);
  operation->waits_in_stream = true;
  ++streams().pending;
  if (host_sees_memory()) watch_for_polling_hosts();
  if (stream.pending.size() > longest_queue) finish(OperationPointer(stream.pending.front()));
  return operation;
}

OperationPointer mark(CUstream_st& stream, const void* place) {
  const OperationPointer marker = enqueue(
      stream, [](const Operation&) { return true; }, place);
  marker->marks = true;
  return marker;
}

void enqueue_meeting(CUstream_st& stream, std::shared_ptr<const Meeting> meeting,
                     std::function<bool(const Operation&)> work, const void* place) {
  const OperationPointer arrival = mark(stream, place);
  const OperationPointer operation = enqueue(stream, std::move(work), place);
  operation->meeting = std::move(meeting);
  if (stream.capture == nullptr) operation->meeting->join(arrival, operation);
}

bool wait_for(const Awaited& awaited) {
  Streams& s = streams();
  s.waiting.push_back({std::this_thread::get_id(), &awaited});
  constexpr auto now_and_then =
      std::chrono::milliseconds(20);  // other threads may end without a notification
  while (!awaited.is_there() && lasting_error() == cudaSuccess && !is_alone() &&
         !any_waits_for_me(awaited.callers()))
    s.others_moved.wait_for(s.mutex, now_and_then);
  std::erase_if(s.waiting, [&](const Waiting& waiting) { return waiting.awaited == &awaited; });
  return awaited.is_there();
}

void tell_all_who_wait() { streams().others_moved.notify_all(); }

void finish(const OperationPointer& operation) {
  constexpr const char* circle =
      "operations wait for each other in a cycle: ranks that send to and receive from each other "
      "need a group";
  const std::uint32_t search = ++streams().searches;
  std::vector<OperationPointer> stack{operation};
  while (!stack.empty()) {
    const OperationPointer top = stack.back();
    top->search = search;
    const auto before = std::find_if(top->after.begin(), top->after.end(),
                                     [](const auto& other) { return !other->done; });
    if (!top->done && before != top->after.end()) {
      if ((*before)->search == search)
        give_up(top, circle);
      else
        stack.push_back(*before);
    } else if (!top->done && top->awaited != nullptr) {
      // Other ranks add more operations that have to be executed first.
      const std::shared_ptr<const Awaited> awaited = top->awaited;
      if (!wait_for(*awaited) && !top->done) give_up(top, awaited->sentence());
      top->awaited = nullptr;
    } else {
      if (!top->done) perform(top);
      stack.pop_back();
    }
  }
}

void synchronise(CUstream_st& stream) {
  const OperationPointer last = stream.last;
  if (last == nullptr) return;
  finish(last);
  host_acquires(*last);
  forget_done(stream);
}

void synchronise_device(int device) {
  // Other threads may destroy their streams while this thread waits.
  std::vector<OperationPointer> latest;
  for (const CUstream_st* stream : streams_of(device))
    if (stream->last != nullptr) latest.push_back(stream->last);
  for (const OperationPointer& last : latest) {
    finish(last);
    host_acquires(*last);
  }
  for (CUstream_st* stream : streams_of(device)) forget_done(*stream);
  std::erase_if(streams().destroyed, [&](const auto& stream) { return stream->device == device; });
}

/// Lets the runtime's thread run a kernel, for a host that would not wait for the kernel.
/// \returns whether the operation is complete; if not, the kernel waits for the host and continues
/// concurrently
static bool perform_beside_host(const OperationPointer& operation) {
  Streams& s = streams();
  while (!operation->done && !(s.runs_beside_host && s.kernel_waits)) {
    if (!s.runs_beside_host && s.wanted == nullptr) {
      s.wanted = operation;
      call_for_thread();
    }
    s.mutex.wait(s.device_moved);
  }
  return operation->done;
}

void perform_wanted() {
  is_beside_host = is_wanted = true;
  if (const OperationPointer wanted = std::exchange(streams().wanted, nullptr); wanted != nullptr) {
    if (!wanted->done) perform(wanted);
    streams().device_moved.notify_all();
  }
  is_beside_host = is_wanted = false;
}

bool advance(const OperationPointer& operation) {
  if (streams().runs_beside_host && !is_beside_host) return false;
  OperationPointer next = operation;
  const std::uint32_t search = ++streams().searches;
  for (auto before = next->after.begin(); before != next->after.end();) {
    next->search = search;
    if ((*before)->done) {
      ++before;
    } else if ((*before)->search == search) {
      finish(operation);  // finish() reports the cycle
      return true;
    } else {
      next = *before;
      before = next->after.begin();
    }
  }
  if (next->awaited != nullptr && !next->awaited->is_there()) return false;
  acquire_from_before(*next);
  if (next->host_call != nullptr && next->host_call->is_running(*next)) return false;
  if (next->kernel != nullptr && !is_beside_host && threads_for_polling_hosts() > 0)
    return perform_beside_host(next);
  perform(next);
  return true;
}

bool any_is_pending() { return streams().pending > 0; }

void advance_streams() {
  std::vector<OperationPointer> latest;
  for (int device = 0; device < settings().devices; ++device)
    for (const CUstream_st* stream : streams_of(device))
      if (!stream->pending.empty()) latest.push_back(stream->pending.back());
  is_beside_host = true;
  for (const OperationPointer& last : latest)
    while (!last->done && advance(last)) {
    }
  is_beside_host = false;
}

bool runs_beside_host() { return is_beside_host && !is_wanted; }

bool host_goes_on() { return streams().runs_beside_host; }

std::uint32_t host_operation() {
  if (calling_operation != 0) return calling_operation;
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  if (s.host_moved) {
    s.host_number = s.operations++;
    s.times.push_back({0, s.host_clock[0], s.host_clock});
    s.host_moved = false;
  }
  return s.host_number;
}

std::uint32_t host_publishes() {
  const std::uint32_t number = host_operation();
  const std::scoped_lock lock(streams().order);
  host_moves_on();
  return number;
}

std::uint32_t number_of_host_clock() {
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  host_moves_on();
  return s.host_clock[0];
}

std::uint32_t latest_host_clock_of(std::uint32_t operation) {
  const std::uint32_t root = root_of(operation);
  const std::scoped_lock lock(streams().order);
  return streams().times[root].clock[0];
}

bool is_host_operation(std::uint32_t number) {
  const std::scoped_lock lock(streams().order);
  return streams().times[number].chain == 0;
}

bool precedes_later_operations(std::uint32_t first, std::uint32_t now) {
  if (!happens_before(first, now)) return false;
  const std::uint32_t root = root_of(first);
  Streams& s = streams();
  const std::scoped_lock lock(s.order);
  const Time& one = s.times[root];
  return !s.has_several_chains ||
         (one.chain < s.clock_of_all.size() && s.clock_of_all[one.chain] >= one.sequence);
}

bool happens_before(std::uint32_t first, std::uint32_t second) {
  if (first == second) return true;
  const std::uint32_t root = root_of(first), other_root = root_of(second);
  if (root == other_root) return is_done_before_relative(first, second);
  const std::scoped_lock lock(streams().order);
  const Time& one = streams().times[root];
  const auto& clock = streams().times[other_root].clock;
  return one.chain < clock.size() && clock[one.chain] >= one.sequence;
}

}  // namespace cuda_on_cpu

// --- Calls of the runtime.

using namespace cuda_on_cpu;

namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  const Guard guard(runtime_mutex());
  if (stream == nullptr || flags > cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
  auto made = std::make_unique<CUstream_st>();
  made->device = current_device();
  made->context = current_context_number();
  made->non_blocking = flags == cudaStreamNonBlocking;
  made->priority = std::clamp(priority, -5, 0);
  made->chain = streams().chains++;
  *stream = made.release();  // owned by the program until cudaStreamDestroy
  streams().created.push_back(*stream);
  return lasting_error();
}

/// Whether a handle belongs to an event that has not been destroyed.
bool is_event(cudaEvent_t event) { return streams().events.contains(event); }

/// Enqueues a host function, which runs on a separate thread.
void enqueue_call(CUstream_st& stream, std::function<void()> call, const void* place) {
  const OperationPointer operation = enqueue(
      stream, [](const Operation&) { return true; }, place);
  operation->host_call = std::make_shared<HostCall>(std::move(call));
  if (stream.capture == nullptr) call_unasked(operation);
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (is_on_device()) {
    analysis::access(stream, sizeof *stream, analysis::write, __builtin_return_address(0),
                     __builtin_frame_address(0));
    return create_stream_in_kernel(stream, flags);
  }
  return create_stream(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  *priority = found->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  *flags = found->non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (device == nullptr) return fail(cudaErrorInvalidValue);
  *device = found->device;
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (id == nullptr) return fail(cudaErrorInvalidValue);
  *id = found->number;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (is_on_device()) return destroy_stream_in_kernel(stream);
  const Guard guard(runtime_mutex());
  auto& created = streams().created;
  const auto found = std::find(created.begin(), created.end(), stream);
  if (found == created.end()) return fail(cudaErrorInvalidResourceHandle);
  // A GPU executes the pending operations of the stream later; the CPU device executes them now.
  if ((*found)->last != nullptr && (*found)->capture == nullptr) finish((*found)->last);
  std::unique_ptr<CUstream_st> taken(*found);
  created.erase(found);
  // The recorded operations belong to the graph and are not executed.
  if (analysis::enabled && taken->capture == nullptr)
    streams().destroyed.push_back(std::move(taken));
  return lasting_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->capture != nullptr) {
    found->capture->valid = false;
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  synchronise(*found);
  return fail(lasting_error());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->last == nullptr) return lasting_error();
  if (!found->last->done) {
    advance(found->last);
    return cudaErrorNotReady;
  }
  synchronise(*found);
  return fail(lasting_error());
}

namespace {

/// Adds a node that records or awaits an event to the graph that a stream records.
cudaError_t record_for_graph(CUstream_st& stream, CUevent_st& event, cudaEvent_t Operation::*role,
                             const void* place) {
  if (event.shared != nullptr) return fail(cudaErrorStreamCaptureUnsupported);
  const OperationPointer operation = mark(stream, place);
  operation->marks = false;
  (*operation).*role = &event;
  return lasting_error();
}

}  // namespace

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (is_on_device()) return wait_in_kernel(stream, event);
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr || !is_event(event)) return fail(cudaErrorInvalidResourceHandle);
  if (flags > cudaEventWaitExternal) return fail(cudaErrorInvalidValue);
  if (flags == cudaEventWaitExternal && found->capture != nullptr)
    return record_for_graph(*found, *event, &Operation::awaits, __builtin_return_address(0));
  if (event->shared != nullptr && event->shared->is_of_others()) {
    wait_for_others(*found, event->shared, __builtin_return_address(0));
    return lasting_error();
  }
  if (event->operation == nullptr)
    return lasting_error();  // never recorded, so the stream does
                             // not wait
  if (event->capture != nullptr && found->capture == nullptr) {
    found->capture = event->capture;
    found->last = nullptr;
  }
  found->awaited.push_back(event->operation);
  mark(*found, __builtin_return_address(0));
  return lasting_error();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (function == nullptr) return fail(cudaErrorInvalidValue);
  enqueue_call(
      *found, [function, data] { function(data); }, __builtin_return_address(0));
  return lasting_error();
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  enqueue_call(
      *found, [stream, callback, data] { callback(stream, cudaSuccess, data); },
      __builtin_return_address(0));
  return lasting_error();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (is_on_device()) {
    analysis::access(event, sizeof *event, analysis::write, __builtin_return_address(0),
                     __builtin_frame_address(0));
    return create_event_in_kernel(event, flags);
  }
  const Guard guard(runtime_mutex());
  if (event == nullptr) return fail(cudaErrorInvalidValue);
  const bool is_shared = (flags & cudaEventInterprocess) != 0;
  const bool has_timing = (flags & cudaEventDisableTiming) == 0;
  if (flags > (cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess) ||
      (is_shared && has_timing))
    return fail(cudaErrorInvalidValue);
  auto made = std::make_unique<CUevent_st>();
  made->device = current_device();
  made->timing = has_timing;
  if (is_shared) {
    made->shared =
        std::make_shared<SharedEvent>(std::make_unique<SharedFile>(sizeof(EventRecords)));
    if (made->shared->records == nullptr) return fail(cudaErrorMemoryAllocation);
  }
  give_event(event, std::move(made));
  return lasting_error();
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (is_on_device()) return destroy_event_in_kernel(event);
  const Guard guard(runtime_mutex());
  return streams().events.erase(event) == 1 ? lasting_error()
                                            : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (is_on_device()) return record_in_kernel(event, stream);
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr || !is_event(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->device != found->device) return fail(cudaErrorInvalidResourceHandle);
  if (event->shared != nullptr) {
    if (found->capture != nullptr) return fail(cudaErrorStreamCaptureUnsupported);
    record_for_others(*event, *found, __builtin_return_address(0));
    return lasting_error();
  }
  event->operation = mark(*found, __builtin_return_address(0));
  event->capture = found->capture;
  return lasting_error();
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags > cudaEventRecordExternal) return fail(cudaErrorInvalidValue);
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (flags == cudaEventRecordDefault || found == nullptr || found->capture == nullptr)
    return cudaEventRecord(event, stream);
  if (!is_event(event)) return fail(cudaErrorInvalidResourceHandle);
  return record_for_graph(*found, *event, &Operation::records, __builtin_return_address(0));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  if (!is_event(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->shared != nullptr && event->shared->is_of_others()) {
    wait_for_others(*event->shared);
    return lasting_error();
  }
  if (event->operation == nullptr) return lasting_error();
  if (event->capture != nullptr) {
    event->capture->valid = false;
    return fail(cudaErrorStreamCaptureUnsupported);
  }
  finish(event->operation);
  host_acquires(*event->operation);
  return fail(lasting_error());
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  if (!is_event(event)) return fail(cudaErrorInvalidResourceHandle);
  if (event->shared != nullptr && event->shared->is_of_others()) {
    if (!is_done(*event->shared)) return cudaErrorNotReady;
    host_acquires_from_others();
    return lasting_error();
  }
  if (event->operation == nullptr) return lasting_error();
  if (!event->operation->done) {
    advance(event->operation);
    return cudaErrorNotReady;
  }
  host_acquires(*event->operation);
  return fail(lasting_error());
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Guard guard(runtime_mutex());
  if (milliseconds == nullptr) return fail(cudaErrorInvalidValue);
  for (const cudaEvent_t event : {start, end})
    if (!is_event(event) || event->operation == nullptr || !event->timing)
      return fail(cudaErrorInvalidResourceHandle);
  if (!start->operation->done || !end->operation->done) return cudaErrorNotReady;
  const std::chrono::duration<float, std::milli> elapsed =
      end->operation->when - start->operation->when;
  *milliseconds = elapsed.count();
  return lasting_error();
}
