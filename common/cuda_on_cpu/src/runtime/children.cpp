#include "children.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../settings.hpp"
#include "errors.hpp"
#include "generations.hpp"
#include "hints.hpp"

namespace cuda_on_cpu {

/// A stream that a block uses.
struct StreamOfBlock {
  std::uint32_t number;
  std::uint32_t places = 0;  ///< number of operations that were enqueued
  std::shared_ptr<const StreamClock> awaited = {};
};

/// An event of a block. `done` counts the operations that are complete when the event has occurred.
struct EventOfBlock {
  StreamClock done = {};
};

/// An operation that a kernel launched.
struct Child {
  OperationPointer operation;
  Descent descent;
  unsigned depth;
  std::shared_ptr<const analysis::Inheritance> inheritance;
};

/// All operations, streams and events of the threads of a block.
struct ChildrenOfBlock {
  StreamOfBlock unnamed;
  std::map<cudaStream_t, std::unique_ptr<StreamOfBlock>> streams = {};
  std::map<cudaEvent_t, std::unique_ptr<EventOfBlock>> events = {};
  std::vector<Child> children = {}, tails = {};
};

/// All operations that a grid launched; the key is the linear index of the block.
struct Children {
  std::map<unsigned, ChildrenOfBlock> of_blocks;
  std::size_t launches = 0;
};

namespace {

/// Guards the operations that threads of kernels enqueue. The runtime's mutex cannot be used,
/// because the host may hold it while kernels run.
std::mutex& children_mutex() {
  static auto& mutex = indestructible<std::mutex>();
  return mutex;
}

/// The number of operations that finished kernels have launched and that have not run yet.
std::size_t& waiting_launches() {
  static std::size_t waiting = 0;
  return waiting;
}

StreamOfBlock new_stream() {
  static std::uint32_t streams = 0;
  return {.number = ++streams};
}

/// The operations, streams and events of the running block.
ChildrenOfBlock& children_of_block() {
  auto& children = block->launch->children;
  if (children == nullptr) children = std::make_shared<Children>();
  auto& of_blocks = children->of_blocks;
  const auto found = of_blocks.find(block->number);
  if (found != of_blocks.end()) return found->second;
  return of_blocks.emplace(block->number, ChildrenOfBlock{new_stream()}).first->second;
}

/// Executes `work` on the operations of the running block, for a call by a thread of a kernel.
template <typename Work>
cudaError_t in_kernel(const Work& work) {
  end_trial();
  catch_up();
  const Thread& thread = *block->current;
  Refusal refusal;
  {
    const DeviceAtWork at_work;
    const std::scoped_lock lock(children_mutex());
    refusal = work(children_of_block(), thread);
  }
  return fail(refusal.error, std::move(refusal.reason));
}

bool is_special(cudaStream_t stream) {
  return stream == cudaStreamFireAndForget || stream == cudaStreamTailLaunch;
}

/// The block's stream with a given handle; null if there is none. The handle must not be
/// `cudaStreamFireAndForget` or `cudaStreamTailLaunch`.
StreamOfBlock* find_stream_of(ChildrenOfBlock& all, cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return &all.unnamed;
  const auto found = all.streams.find(stream);
  return found == all.streams.end() ? nullptr : found->second.get();
}

Refusal no_such_stream() {
  return {cudaErrorInvalidValue,
          "no thread of the block has created this stream, and a kernel cannot use streams of the "
          "host or of other blocks"};
}

/// Appends an operation to a stream of the block.
Refusal add(ChildrenOfBlock& all, const Thread& thread, cudaStream_t stream,
            OperationPointer operation) {
  StreamOfBlock* const found = find_stream_of(all, stream);
  if (found == nullptr && !is_special(stream)) return no_such_stream();
  Descent descent{.parent = block->launch->operation, .is_tail = stream == cudaStreamTailLaunch};
  if (found != nullptr) {
    descent.stream = found->number;
    descent.place = ++found->places;
    descent.awaited = found->awaited;
  }
  operation->device = block->launch->device;
  const unsigned depth = block->launch->depth + (descent.is_tail ? 0 : 1);
  (descent.is_tail ? all.tails : all.children)
      .push_back({std::move(operation), descent, depth, analysis::inheritance(thread)});
  block->launch->has_children = true;
  return {};
}

/// The reason why the running kernel may not launch another operation; no error if it may.
Refusal refusal_by_number(bool is_tail) {
  if (block->launch->configuration.cooperative)
    return {cudaErrorNotPermitted,
            "a kernel that was launched cooperatively cannot launch kernels"};
  const std::size_t most = limit_of(block->launch->device, cudaLimitDevRuntimePendingLaunchCount);
  // The launches of the ancestors are not complete either.
  const unsigned under_way = is_tail ? 0 : block->launch->depth;
  if (waiting_launches() + block->launch->children->launches + under_way >= most)
    return {cudaErrorLaunchPendingCountExceeded,
            "more than " + std::to_string(most) +
                " launches are pending: cudaLimitDevRuntimePendingLaunchCount allows no more"};
  return {};
}

/// Takes the next operation off the stack of waiting operations and numbers it. The number is also
/// its position in the order of all operations.
Child take(std::vector<Child>& waiting) {
  Child child = std::move(waiting.back());
  waiting.pop_back();
  waiting_launches() = waiting.size();
  number_of_child(*child.operation, child.descent.parent);
  if (analysis::enabled) note_descent(child.operation->number, child.descent);
  return child;
}

/// The operations of a grid, block by block in the order of the schedule; tail launches come last.
std::vector<Child> children_in_order(const Launch& launch) {
  std::vector<Child> in_order, tails;
  auto& of_blocks = launch.children->of_blocks;
  for (unsigned turn = 0; turn < launch.blocks; ++turn) {
    const auto found = of_blocks.find(settings().schedule.block(turn, launch.blocks));
    if (found == of_blocks.end()) continue;
    ChildrenOfBlock& of_block = found->second;
    std::move(of_block.children.begin(), of_block.children.end(), std::back_inserter(in_order));
    std::move(of_block.tails.begin(), of_block.tails.end(), std::back_inserter(tails));
  }
  std::move(tails.begin(), tails.end(), std::back_inserter(in_order));
  return in_order;
}

/// Pushes the operations of a grid onto the stack, so that the first one is on top.
void put(std::vector<Child>& waiting, const Launch& launch) {
  if (launch.children == nullptr) return;
  std::vector<Child> in_order = children_in_order(launch);
  std::move(in_order.rbegin(), in_order.rend(), std::back_inserter(waiting));
  waiting_launches() = waiting.size();
}

/// Runs an operation that a kernel launched. Operations that this operation itself launches run
/// next.
bool run_child(const Child& child, std::vector<Child>& waiting, const CallOthers& call_others) {
  if (child.operation->kernel == nullptr) return child.operation->work(*child.operation);
  Launches launches;
  launches.push_back(launch_of(*child.operation));
  launches.front()->depth = child.depth;
  const bool well = run(launches, call_others);
  for (const auto& launch : launches) {
    if (launch->failed && lasting_error() == cudaSuccess) lasting_error() = launch->failure;
    if (well) put(waiting, *launch);
  }
  return well;
}

}  // namespace

void* leave_kernel() {
  if (!is_on_device()) return nullptr;
  end_trial();
  catch_up();
  return std::exchange(block->current, nullptr);
}

void return_to_kernel(void* thread) {
  if (thread != nullptr) block->current = static_cast<Thread*>(thread);
}

cudaError_t submit_in_kernel(const char* kernel, const Configuration& configuration,
                             Invocation invocation) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread& thread) {
    Invocation taken = std::move(invocation);  // the destructor runs here if the launch is refused
    Refusal refusal = refusal_of(kernel, configuration);
    if (configuration.cooperative) refusal.error = cudaErrorNotSupported;
    if (refusal.error == cudaSuccess)
      refusal = refusal_by_number(configuration.stream == cudaStreamTailLaunch);
    if (refusal.error != cudaSuccess) return refusal;
    auto operation = std::make_shared<Operation>();
    operation->kernel = std::make_shared<Kernel>(Kernel{kernel, configuration, std::move(taken)});
    refusal = add(all, thread, configuration.stream, std::move(operation));
    block->launch->children->launches += refusal.error == cudaSuccess;
    return refusal;
  });
}

cudaError_t enqueue_in_kernel(cudaStream_t stream, std::function<bool(const Operation&)> work,
                              Moves moves, const void* place) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread& thread) {
    auto operation = std::make_shared<Operation>();
    operation->work = std::move(work);
    operation->moves = moves;
    operation->place = place;
    return add(all, thread, stream, std::move(operation));
  });
}

cudaError_t create_stream_in_kernel(cudaStream_t* stream, unsigned flags) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread&) -> Refusal {
    if (stream == nullptr) return {cudaErrorInvalidValue};
    if (flags != cudaStreamNonBlocking && flags != cudaStreamDefault)
      return {cudaErrorInvalidValue,
              "the flags of a stream must be cudaStreamDefault or cudaStreamNonBlocking"};
    auto made = std::make_unique<StreamOfBlock>(new_stream());
    *stream = reinterpret_cast<cudaStream_t>(made.get());
    all.streams[*stream] = std::move(made);
    return {};
  });
}

cudaError_t destroy_stream_in_kernel(cudaStream_t stream) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread&) -> Refusal {
    return all.streams.erase(stream) == 1 ? Refusal{} : no_such_stream();
  });
}

cudaError_t create_event_in_kernel(cudaEvent_t* event, unsigned flags) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread&) -> Refusal {
    if (event == nullptr) return {cudaErrorInvalidValue};
    if (flags != cudaEventDisableTiming)
      return {cudaErrorInvalidValue,
              "an event that a kernel creates must have the flag cudaEventDisableTiming and no "
              "other flag"};
    auto made = std::make_unique<EventOfBlock>();
    *event = reinterpret_cast<cudaEvent_t>(made.get());
    all.events[*event] = std::move(made);
    return {};
  });
}

cudaError_t destroy_event_in_kernel(cudaEvent_t event) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread&) -> Refusal {
    if (all.events.erase(event) == 0) return {cudaErrorInvalidResourceHandle};
    return {};
  });
}

cudaError_t record_in_kernel(cudaEvent_t event, cudaStream_t stream) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread&) -> Refusal {
    const StreamOfBlock* const found = find_stream_of(all, stream);
    if (found == nullptr) return no_such_stream();
    const auto recorded = all.events.find(event);
    if (recorded == all.events.end()) return {cudaErrorInvalidResourceHandle};
    StreamClock& done = recorded->second->done;
    done = found->awaited == nullptr ? StreamClock{} : *found->awaited;
    done[found->number] = found->places;
    return {};
  });
}

cudaError_t wait_in_kernel(cudaStream_t stream, cudaEvent_t event) {
  return in_kernel([&](ChildrenOfBlock& all, const Thread&) -> Refusal {
    StreamOfBlock* const found = find_stream_of(all, stream);
    if (found == nullptr) return no_such_stream();
    const auto awaited = all.events.find(event);
    if (awaited == all.events.end()) return {cudaErrorInvalidResourceHandle};
    auto all_awaited = found->awaited == nullptr ? std::make_shared<StreamClock>()
                                                 : std::make_shared<StreamClock>(*found->awaited);
    for (const auto& [number, places] : awaited->second->done) {
      std::uint32_t& known = (*all_awaited)[number];
      known = std::max(known, places);
    }
    found->awaited = std::move(all_awaited);
    return {};
  });
}

std::unique_ptr<Launch> launch_of(const Operation& operation) {
  auto launch = std::make_unique<Launch>();
  launch->kernel = operation.kernel->name;
  launch->configuration = operation.kernel->configuration;
  launch->invocation = operation.kernel->invocation;
  launch->operation = operation.number;
  launch->device = operation.device;
  return launch;
}

bool run_children(const Launches& launches, const CallOthers& call_others) {
  std::vector<Child> waiting;
  for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) put(waiting, **launch);
  bool well = true;
  while (well && !waiting.empty()) {
    const Child child = take(waiting);
    analysis::child_begins(child.operation->number, child.inheritance);
    well = run_child(child, waiting, call_others);
    analysis::child_ends(child.operation->number);
  }
  waiting_launches() = 0;
  return well;
}

}  // namespace cuda_on_cpu
