#include "graphs.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "../analysis.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/known_kernels.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// A capturing stream. The stream records the operations of runtime calls for a node of a graph.
class Recorder {
 public:
  Recorder() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    stream_->capture = std::make_shared<Capture>();
    stream_->capture->mode = cudaStreamCaptureModeRelaxed;
  }
  ~Recorder() {
    stream_->capture = nullptr;
    stream_->last = nullptr;
    cudaStreamDestroy(stream_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  cudaStream_t stream() const { return stream_; }
  Operations operations(const void* place) const {
    for (const OperationPointer& operation : stream_->capture->operations) {
      operation->place = place;
      operation->after.clear();
    }
    return stream_->capture->operations;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

/// The operations of a node, or the error of the call.
struct Recorded {
  cudaError_t error;
  Operations operations = {};
  NodeParameters parameters = {};
};

Recorded record(const cudaKernelNodeParams& given, const void* place) {
  if (given.func == nullptr) return {fail(cudaErrorInvalidDeviceFunction)};
  cudaKernelNodeParams p = given;
  if (!p.func.has_parameters()) p.func = noted_kernel(p.func);
  if (!p.func.has_parameters() || (p.kernelParams == nullptr && p.func.takes_arguments()))
    return {fail(cudaErrorNotSupported,
                 "the CPU device does not know the parameters of this kernel node: `func` must be "
                 "a kernel whose address the source takes, and the arguments must be in "
                 "`kernelParams`")};
  const char* name = name_of(any_kernel(static_cast<void*>(p.func)));
  KernelArguments arguments = p.func.copy(p.kernelParams);
  const Recorder recorder;
  const cudaError_t error =
      submit(name, configuration(p.gridDim, p.blockDim, p.sharedMemBytes, recorder.stream()),
             std::move(arguments.invocation));
  return {error, recorder.operations(place), KernelNode{p, std::move(arguments.addresses)}};
}

Recorded record(const cudaMemcpy3DParms& p, const void* place) {
  const Recorder recorder;
  const cudaError_t error = cudaMemcpy3DAsync(&p, recorder.stream());
  return {error, recorder.operations(place), p};
}

/// Replaces a memset of bytes by a memset of larger elements. The runtime has already checked the
/// arguments.
void fill_with_elements(Operation& operation, const cudaMemsetParams& p) {
  operation.work = [p](const Operation& self) {
    auto* const first = static_cast<char*>(p.dst);
    for (std::size_t y = 0; y < p.height; ++y) {
      char* const row = first + y * p.pitch;
      analysis::copy_access(row, p.width * p.elementSize, analysis::write, self);
      for (std::size_t x = 0; x < p.width; ++x)
        std::memcpy(row + x * p.elementSize, &p.value, p.elementSize);
    }
    return true;
  };
}

Recorded record(cudaMemsetParams p, const void* place) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
    return {fail(cudaErrorInvalidValue,
                 "the elements of a memset node must have 1, 2 or 4 bytes, not " +
                     std::to_string(p.elementSize))};
  const NodeParameters said = p;
  const std::size_t width = p.width * p.elementSize;
  if (p.height <= 1) p.pitch = width;  // the pitch of a single row is ignored
  const Recorder recorder;
  const cudaError_t error = cudaMemset2DAsync(p.dst, p.pitch, static_cast<int>(p.value), width,
                                              p.height, recorder.stream());
  Operations operations = recorder.operations(place);
  if (p.elementSize > 1)
    for (const OperationPointer& operation : operations) fill_with_elements(*operation, p);
  return {error, std::move(operations), said};
}

Recorded record(const cudaHostNodeParams& p, const void* place) {
  const Recorder recorder;
  const cudaError_t error = cudaLaunchHostFunc(recorder.stream(), p.fn, p.userData);
  return {error, recorder.operations(place), p};
}

Recorded record(cudaMemAllocNodeParams& p, const void* place) {
  const cudaMemPoolProps& pool = p.poolProps;
  if (pool.allocType != cudaMemAllocationTypePinned ||
      pool.location.type != cudaMemLocationTypeDevice || pool.location.id < 0 ||
      pool.location.id >= settings().devices || (p.accessDescs == nullptr && p.accessDescCount > 0))
    return {fail(cudaErrorInvalidValue,
                 "a node that allocates memory needs pinned memory on a device of this process, "
                 "and an array of access descriptors if their number is not 0")};
  if (pool.handleTypes != cudaMemHandleTypeNone) return {fail(cudaErrorNotSupported)};
  Recorded recorded{cudaSuccess};
  recorded.error = on_device(pool.location.id, [&] {
    const Recorder recorder;
    const cudaError_t error = cudaMallocAsync(&p.dptr, p.bytesize, recorder.stream());
    recorded.operations = recorder.operations(place);
    return error;
  });
  CUmemPoolHandle_st of_device{pool.location.id};
  if (recorded.error == cudaSuccess)
    recorded.error = cudaMemPoolSetAccess(&of_device, p.accessDescs, p.accessDescCount);
  recorded.parameters = p;
  return recorded;
}

Recorded record(const cudaMemFreeNodeParams& p, const void* place) {
  if (p.dptr == nullptr) return {fail(cudaErrorInvalidValue)};
  const Recorder recorder;
  const cudaError_t error = cudaFreeAsync(p.dptr, recorder.stream());
  return {error, recorder.operations(place), p};
}

/// Makes the operation of a node that records an event or waits for an event.
template <typename Parameters>
Recorded record(const Parameters& p, cudaEvent_t Operation::*role, const void* place) {
  if (p.event == nullptr) return {fail(cudaErrorInvalidValue)};
  if (p.event->shared != nullptr)
    return {fail(cudaErrorNotSupported,
                 "the CPU device does not support interprocess events in graphs")};
  OperationPointer operation = marker();
  operation->marks = false;
  operation->place = place;
  operation->device = current_device();
  (*operation).*role = p.event;
  return {cudaSuccess, {std::move(operation)}, p};
}

Recorded record(const cudaEventRecordNodeParams& p, const void* place) {
  return record(p, &Operation::records, place);
}

Recorded record(const cudaEventWaitNodeParams& p, const void* place) {
  return record(p, &Operation::awaits, place);
}

cudaMemcpy3DParms line_of_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

Recorded record(const SymbolCopy& copy, const void* place) {
  const Recorder recorder;
  const cudaError_t error = copy_symbol(copy.to, copy.from, copy.bytes, copy.size, copy.offset,
                                        copy.to_symbol, false, recorder.stream());
  return {error, recorder.operations(place),
          line_of_bytes(copy.to, copy.from, copy.bytes, cudaMemcpyDefault)};
}

Recorded record(const NodeLaunch& launch, const void* place) {
  const Recorder recorder;
  const cudaError_t error = launch(recorder.stream());
  return {error, recorder.operations(place)};
}

/// Makes the operations of a node from the member of the parameters that `type` selects.
Recorded record(const cudaGraphNodeParams& p, const void* place) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel:
      return record(p.kernel, place);
    case cudaGraphNodeTypeMemcpy:
      return record(p.memcpy.copyParams, place);
    case cudaGraphNodeTypeMemset:
      return record(p.memset, place);
    case cudaGraphNodeTypeHost:
      return record(p.host, place);
    case cudaGraphNodeTypeEventRecord:
      return record(p.eventRecord, place);
    case cudaGraphNodeTypeWaitEvent:
      return record(p.eventWait, place);
    default:
      return {fail(cudaErrorNotSupported,
                   "the CPU device cannot change the parameters of graph nodes of this type")};
  }
}

cudaMemcpy3DParms line_of_bytes(void* to, const void* from, std::size_t bytes,
                                cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  p.extent = make_cudaExtent(bytes, 1, 1);
  p.kind = kind;
  return p;
}

bool has(const std::vector<cudaGraphNode_t>& nodes, const CUgraphNode_st* node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Whether a node of a graph frees an allocation.
bool frees(const CUgraph_st& graph, const Allocation* allocation) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    return std::any_of(node->operations.begin(), node->operations.end(),
                       [&](const auto& operation) { return operation->frees == allocation; });
  });
}

bool is_node_of(const CUgraph_st& graph, const CUgraphNode_st* node) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const auto& own) { return own.get() == node; });
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, cudaGraphNodeType type, Recorded recorded) {
  if (recorded.error != cudaSuccess) return recorded.error;
  if (node == nullptr || graph == nullptr || (after == nullptr && count > 0))
    return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> before(after, after + count);
  for (const CUgraphNode_st* other : before)
    if (!is_node_of(*graph, other))
      return fail(cudaErrorInvalidValue, "the node depends on a node that is not in its graph");
  for (const OperationPointer& operation : recorded.operations)
    if (operation->frees != nullptr && frees(*graph, operation->frees))
      return fail(cudaErrorInvalidValue, "another node of the graph already frees the same memory");
  auto made = std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{graph, type, std::move(recorded.operations), std::move(before)});
  made->parameters = std::move(recorded.parameters);
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return cudaSuccess;
}

/// Lets the kernel of a node keep its attributes, although its parameters change.
void keep_attributes(const Operations& changed, const Operations& before) {
  if (changed.empty() || before.empty() || changed.front()->kernel == nullptr ||
      before.front()->kernel == nullptr)
    return;
  auto kernel = std::make_shared<Kernel>(*changed.front()->kernel);
  kernel->configuration.cooperative = before.front()->kernel->configuration.cooperative;
  kernel->configuration.cluster = before.front()->kernel->configuration.cluster;
  changed.front()->kernel = std::move(kernel);
}

/// Replaces the operations of a node in a graph.
cudaError_t change(cudaGraphNode_t node, cudaGraphNodeType type, Recorded recorded) {
  if (recorded.error != cudaSuccess) return recorded.error;
  if (node == nullptr || node->type != type || node->recorded) return fail(cudaErrorInvalidValue);
  keep_attributes(recorded.operations, node->operations);
  node->operations = std::move(recorded.operations);
  node->parameters = std::move(recorded.parameters);
  return cudaSuccess;
}

/// Replaces the work of `operation` by the work of `other`. The dependencies of `operation` do not
/// change.
void take_over(Operation& operation, const Operation& other) {
  operation.work = other.work;
  operation.kernel = other.kernel;
  operation.host_call = other.host_call;
  operation.meeting = other.meeting;
  operation.place = other.place;
  operation.allocates = other.allocates;
  operation.frees = other.frees;
  operation.records = other.records;
  operation.awaits = other.awaits;
}

/// Replaces the operations of a node in an executable graph.
cudaError_t change(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                   const Recorded& recorded) {
  if (recorded.error != cudaSuccess) return recorded.error;
  if (executable == nullptr || node == nullptr || node->type != type)
    return fail(cudaErrorInvalidValue);
  for (const auto& part : executable->parts) {
    if (part.node != node || part.count != recorded.operations.size()) continue;
    const auto first = executable->operations.begin() + static_cast<std::ptrdiff_t>(part.first);
    keep_attributes(recorded.operations, {first, first + static_cast<std::ptrdiff_t>(part.count)});
    for (std::size_t i = 0; i < part.count; ++i)
      take_over(*executable->operations[part.first + i], *recorded.operations[i]);
    return cudaSuccess;
  }
  return fail(cudaErrorInvalidValue, "the instance has no such node");
}

}  // namespace

/// The nodes that a node depends on, as the program sees them, without hidden nodes.
std::vector<cudaGraphNode_t> seen_before(const CUgraphNode_st& node) {
  std::vector<cudaGraphNode_t> seen;
  std::set<const CUgraphNode_st*> asked;
  std::vector<const CUgraphNode_st*> to_ask{&node};
  while (!to_ask.empty()) {
    const CUgraphNode_st* const next = to_ask.back();
    to_ask.pop_back();
    if (!asked.insert(next).second) continue;
    for (const cudaGraphNode_t before : next->after) {
      if (before->hidden)
        to_ask.push_back(before);
      else if (!has(seen, before))
        seen.push_back(before);
    }
  }
  return seen;
}

std::vector<cudaGraphNode_t> seen_of(const CUgraph_st& graph) {
  std::vector<cudaGraphNode_t> seen;
  for (const auto& node : graph.nodes)
    if (!node->hidden) seen.push_back(node.get());
  return seen;
}

namespace {

/// Returns nodes to the program as CUDA does. Without an array, only the number of nodes is
/// returned; otherwise at most as many nodes as the array has elements.
cudaError_t tell(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes,
                 std::size_t* count) {
  if (nodes == nullptr) {
    *count = found.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = i < found.size() ? found[i] : nullptr;
  *count = std::min(*count, found.size());
  return cudaSuccess;
}

cudaGraphNodeType type_of(const Operation& operation) {
  if (operation.allocates != nullptr) return cudaGraphNodeTypeMemAlloc;
  if (operation.frees != nullptr) return cudaGraphNodeTypeMemFree;
  if (operation.records != nullptr) return cudaGraphNodeTypeEventRecord;
  if (operation.awaits != nullptr) return cudaGraphNodeTypeWaitEvent;
  if (operation.marks) return cudaGraphNodeTypeEmpty;
  if (operation.host_call != nullptr) return cudaGraphNodeTypeHost;
  if (operation.moves == Moves::copy) return cudaGraphNodeTypeMemcpy;
  if (operation.moves == Moves::fill) return cudaGraphNodeTypeMemset;
  return cudaGraphNodeTypeKernel;  // library calls count as kernels
}

/// Orders the nodes of a graph and of its child graphs topologically.
class Layout {
 public:
  explicit Layout(CUgraphExec_st& instance) : instance_(instance) {}

  /// \returns whether the nodes form no cycle
  bool add(const CUgraph_st& graph, const OperationPointer& entry) {
    return std::all_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const auto& node) { return add(*node, entry); });
  }

 private:
  bool add(const CUgraphNode_st& node, const OperationPointer& entry) {
    if (ends_.contains(&node)) return true;
    if (!under_way_.insert(&node).second) return false;
    Operations after;
    if (entry != nullptr) after.push_back(entry);
    for (const cudaGraphNode_t before : node.after) {
      if (!add(*before, entry)) return false;
      after.push_back(ends_[before]);
    }
    if (node.child != nullptr) return add_child(node, std::move(after));
    if (node.condition != nullptr) return add_choice(node, std::move(after));
    const std::size_t first = instance_.operations.size();
    for (const OperationPointer& operation : node.operations) {
      const OperationPointer own = put(*operation, std::move(after), node.recorded);
      after = {own};
    }
    if (node.operations.empty()) after = {put(*marker(), std::move(after), false)};
    instance_.parts.push_back({&node, first, node.operations.size()});
    ends_[&node] = after.back();
    return true;
  }

  bool add_child(const CUgraphNode_st& node, Operations after) {
    const OperationPointer begin = put(*marker(), std::move(after), false);
    if (!add(*node.child, begin)) return false;
    Operations all{begin};
    for (const auto& inner : node.child->nodes) all.push_back(ends_[inner.get()]);
    ends_[&node] = put(*marker(), std::move(all), false);
    return true;
  }

  bool add_choice(const CUgraphNode_st& node, Operations after) {
    const auto choice = std::make_shared<Choice>(Choice{node.condition, node.choice, {}});
    for (const auto& body : node.bodies) {
      choice->bodies.push_back(instance_of(*body));
      if (choice->bodies.back() == nullptr) return false;
    }
    const OperationPointer own = put(*node.operations.front(), std::move(after), false);
    own->work = [choice](const Operation& self) { return choose(*choice, self); };
    instance_.choices.push_back(choice);
    ends_[&node] = own;
    return true;
  }

  OperationPointer put(const Operation& operation, Operations after, bool recorded) {
    auto own = std::make_shared<Operation>(operation);
    own->after = std::move(after);
    if (!recorded) own->number = chain_behind(own->after);
    instance_.operations.push_back(own);
    return own;
  }

  /// The chain of an operation that no stream recorded. The first successor of an operation
  /// continues its chain. Every further successor begins a new chain, because successors are not
  /// ordered with respect to one another. An operation without a predecessor also begins one.
  std::uint32_t chain_behind(const Operations& after) {
    for (const OperationPointer& before : after)
      if (chains_.contains(before->number) && continued_.insert(before.get()).second)
        return before->number;
    const std::uint32_t chain = new_chain();
    chains_.insert(chain);
    return chain;
  }

  CUgraphExec_st& instance_;
  std::map<const CUgraphNode_st*, OperationPointer> ends_;
  std::set<const CUgraphNode_st*> under_way_;
  std::set<std::uint32_t> chains_;  // chains of nodes that no stream recorded
  std::set<const Operation*> continued_;
};

/// Copies a graph. Each node of the copy refers to its original.
std::unique_ptr<CUgraph_st> clone_of(const CUgraph_st& graph) {
  auto clone = std::make_unique<CUgraph_st>();
  clone->objects.add(graph.objects);
  std::map<const CUgraphNode_st*, cudaGraphNode_t> copies;
  for (const auto& node : graph.nodes) {
    clone->nodes.push_back(std::make_unique<CUgraphNode_st>(*node));
    clone->nodes.back()->graph = clone.get();
    clone->nodes.back()->original = node.get();
    copies[node.get()] = clone->nodes.back().get();
  }
  for (const auto& node : clone->nodes)
    for (cudaGraphNode_t& before : node->after) before = copies[before];
  return clone;
}

using Choices = std::vector<std::shared_ptr<Choice>>;
cudaGraphExecUpdateResult difference(const Choices& one, const Choices& other);

/// The difference between two executable graphs, apart from the parameters of their nodes.
cudaGraphExecUpdateResult difference(const CUgraphExec_st& one, const CUgraphExec_st& other) {
  if (one.operations.size() != other.operations.size())
    return cudaGraphExecUpdateErrorTopologyChanged;
  std::map<const Operation*, const Operation*> partners;
  for (std::size_t i = 0; i < one.operations.size(); ++i) {
    const Operation &mine = *one.operations[i], &its = *other.operations[i];
    if (type_of(mine) != type_of(its)) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (mine.after.size() != its.after.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (std::size_t n = 0; n < mine.after.size(); ++n)
      if (partners[mine.after[n].get()] != its.after[n].get())
        return cudaGraphExecUpdateErrorTopologyChanged;
    partners[&mine] = &its;
  }
  return difference(one.choices, other.choices);
}

/// The difference between the conditional nodes of two executable graphs, apart from the parameters
/// of the nodes in their bodies.
cudaGraphExecUpdateResult difference(const Choices& one, const Choices& other) {
  if (one.size() != other.size()) return cudaGraphExecUpdateErrorNodeTypeChanged;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Choice &mine = *one[i], &its = *other[i];
    if (mine.type != its.type || mine.bodies.size() != its.bodies.size())
      return cudaGraphExecUpdateErrorParametersChanged;
    for (std::size_t body = 0; body < mine.bodies.size(); ++body)
      if (const auto found = difference(*mine.bodies[body], *its.bodies[body]);
          found != cudaGraphExecUpdateSuccess)
        return found;
  }
  return cudaGraphExecUpdateSuccess;
}

/// Whether `other` allocates memory that already belongs to an executable graph other than `one`.
bool is_memory_of_others(const CUgraphExec_st& one, const CUgraphExec_st& other) {
  const auto& mine = one.memory.allocates;
  return std::any_of(
      other.memory.allocates.begin(), other.memory.allocates.end(), [&](const auto& own) {
        return own->instantiated && std::find(mine.begin(), mine.end(), own) == mine.end();
      });
}

/// Replaces the work of `executable` by the work of `other`, which must have the same nodes in the
/// same order.
void take_over(CUgraphExec_st& executable, CUgraphExec_st& other) {
  for (std::size_t i = 0; i < other.operations.size(); ++i)
    take_over(*executable.operations[i], *other.operations[i]);
  for (const auto& own : executable.memory.allocates) own->instantiated = false;
  executable.memory.allocates = std::exchange(other.memory.allocates, {});
  for (const auto& own : executable.memory.allocates) own->instantiated = true;
  executable.memory.frees = other.memory.frees;
  executable.conditions = other.conditions;
  executable.choices = other.choices;
}

}  // namespace

OperationPointer marker() {
  auto made = std::make_shared<Operation>();
  made->work = [](const Operation&) { return true; };
  made->marks = true;
  return made;
}

bool are_nodes_of(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count) {
  return std::all_of(nodes, nodes + count,
                     [&](const CUgraphNode_st* node) { return is_node_of(graph, node); });
}

CUgraph_st& graph_so_far(Capture& capture) {
  if (capture.graph == nullptr) {
    capture.own_graph = std::make_unique<CUgraph_st>();
    capture.graph = capture.own_graph.get();
  }
  for (; capture.built < capture.operations.size(); ++capture.built) {
    const OperationPointer& operation = capture.operations[capture.built];
    auto node = std::make_unique<CUgraphNode_st>(
        CUgraphNode_st{capture.graph, type_of(*operation), {operation}});
    node->recorded = true;
    node->hidden = operation->marks;
    for (const OperationPointer& before : operation->after)
      if (const auto known = capture.nodes.find(before.get()); known != capture.nodes.end())
        node->after.push_back(known->second);
    if (node->after.empty()) node->after = capture.begins_behind;
    capture.nodes[operation.get()] = node.get();
    capture.graph->nodes.push_back(std::move(node));
  }
  return *capture.graph;
}

std::vector<cudaGraphNode_t> latest_nodes(const CUstream_st& stream) {
  const Capture& capture = *stream.capture;
  Operations latest = stream.awaited;
  if (stream.last != nullptr) latest.push_back(stream.last);
  if (latest.empty()) return capture.begins_behind;
  CUgraphNode_st next{capture.graph, cudaGraphNodeTypeEmpty, {}};
  for (const OperationPointer& operation : latest)
    if (const auto known = capture.nodes.find(operation.get()); known != capture.nodes.end())
      next.after.push_back(known->second);
  return seen_before(next);
}

bool has_single_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree ||
           node->type == cudaGraphNodeTypeConditional;
  });
}

bool has_legal_bodies(const CUgraph_st& graph) {
  const auto may_be_in_body = [](const auto& node) {
    return node->type != cudaGraphNodeTypeHost && node->type != cudaGraphNodeTypeMemAlloc &&
           node->type != cudaGraphNodeTypeMemFree && node->type != cudaGraphNodeTypeEventRecord &&
           node->type != cudaGraphNodeTypeWaitEvent &&
           (node->child == nullptr || has_legal_bodies(*node->child));
  };
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    return std::all_of(node->bodies.begin(), node->bodies.end(), [&](const auto& body) {
      return has_legal_bodies(*body) &&
             std::all_of(body->nodes.begin(), body->nodes.end(), may_be_in_body);
    });
  });
}

namespace {

/// Adds references to the user objects of a graph and of its child graphs.
void add_objects(const CUgraph_st& graph, UserObjects& all) {
  all.add(graph.objects);
  for (const auto& node : graph.nodes)
    if (node->child != nullptr) add_objects(*node->child, all);
}

/// Adds the conditions of a graph, and of all bodies of its conditional nodes, to a list.
void add_conditions(const CUgraph_st& graph, Conditions& all) {
  all.insert(all.end(), graph.conditions.begin(), graph.conditions.end());
  for (const auto& node : graph.nodes)
    for (const auto& body : node->bodies) add_conditions(*body, all);
}

}  // namespace

std::unique_ptr<CUgraphExec_st> instance_of(const CUgraph_st& graph) {
  auto instance = std::make_unique<CUgraphExec_st>();
  if (!Layout(*instance).add(graph, nullptr)) return nullptr;
  instance->memory = memory_of(instance->operations);
  add_conditions(graph, instance->conditions);
  add_objects(graph, instance->objects);
  return instance;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

namespace {

constexpr const char* no_copy =
    "a graph with conditional nodes, or with nodes that allocate or free memory, cannot be cloned "
    "or become a child graph";

constexpr const char* no_removal =
    "nodes and edges cannot be removed from a graph with nodes that allocate or free memory";

/// Whether nodes and edges may be removed from a graph.
bool may_shrink(const CUgraph_st& graph) {
  return std::none_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->type == cudaGraphNodeTypeMemAlloc || node->type == cudaGraphNodeTypeMemFree;
  });
}

cudaError_t add_child(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                      std::size_t count, cudaGraph_t child) {
  if (child == nullptr) return fail(cudaErrorInvalidValue);
  if (has_single_nodes(*child)) return fail(cudaErrorNotSupported, no_copy);
  const cudaError_t error =
      add(node, graph, after, count, cudaGraphNodeTypeGraph, {lasting_error()});
  if (error == cudaSuccess) (*node)->child = clone_of(*child);
  return error;
}

cudaError_t add_choice(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                       std::size_t count, cudaConditionalNodeParams& parameters,
                       const void* place) {
  if (graph == nullptr || !is_choice(parameters.type, parameters.size))
    return fail(cudaErrorInvalidValue);
  const auto condition =
      std::find_if(graph->conditions.begin(), graph->conditions.end(),
                   [&](const auto& own) { return own->handle() == parameters.handle; });
  if (condition == graph->conditions.end() || (*condition)->is_used)
    return fail(cudaErrorInvalidValue,
                "the condition belongs to another graph, or another node already uses it");
  OperationPointer chooses = marker();
  chooses->place = place;
  chooses->name = "a conditional node";
  chooses->device = current_device();
  const cudaError_t error = add(node, graph, after, count, cudaGraphNodeTypeConditional,
                                {lasting_error(), {std::move(chooses)}});
  if (error != cudaSuccess) return error;
  (*condition)->is_used = true;
  CUgraphNode_st& made = **node;
  made.condition = *condition;
  made.choice = parameters.type;
  for (unsigned i = 0; i < parameters.size; ++i) {
    made.bodies.push_back(std::make_shared<CUgraph_st>());
    made.told_bodies.push_back(made.bodies.back().get());
  }
  parameters.phGraph_out = made.told_bodies.data();
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return fail(cudaErrorInvalidValue);
  *graph = std::make_unique<CUgraph_st>().release();  // owned by the program until cudaGraphDestroy
  return lasting_error();
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  if (clone == nullptr || graph == nullptr) return fail(cudaErrorInvalidValue);
  if (has_single_nodes(*graph)) return fail(cudaErrorNotSupported, no_copy);
  *clone = clone_of(*graph).release();  // owned by the program until cudaGraphDestroy
  return lasting_error();
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  if (node == nullptr || clone == nullptr) return fail(cudaErrorInvalidValue);
  for (const auto& own : clone->nodes)
    if (own->original == original && original != nullptr) {
      *node = own.get();
      return lasting_error();
    }
  return fail(cudaErrorInvalidValue, "the graph has no clone of that node");
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return parameters == nullptr ? fail(cudaErrorInvalidValue)
                               : add(node, graph, after, count, cudaGraphNodeTypeKernel,
                                     record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  const Guard guard(runtime_mutex());
  return parameters == nullptr ? fail(cudaErrorInvalidValue)
                               : add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                                     record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
             record(line_of_bytes(to, from, bytes, kind), __builtin_return_address(0)));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  const Guard guard(runtime_mutex());
  return parameters == nullptr ? fail(cudaErrorInvalidValue)
                               : add(node, graph, after, count, cudaGraphNodeTypeMemset,
                                     record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return parameters == nullptr ? fail(cudaErrorInvalidValue)
                               : add(node, graph, after, count, cudaGraphNodeTypeHost,
                                     record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child) {
  const Guard guard(runtime_mutex());
  return add_child(node, graph, after, count, child);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return parameters == nullptr ? fail(cudaErrorInvalidValue)
                               : add(node, graph, after, count, cudaGraphNodeTypeMemAlloc,
                                     record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, std::size_t count,
                                    void* pointer) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeMemFree,
             record(cudaMemFreeNodeParams{pointer}, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, std::size_t count,
                                        cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeEventRecord,
             record(cudaEventRecordNodeParams{event}, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, std::size_t count,
                                      cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeWaitEvent,
             record(cudaEventWaitNodeParams{event}, __builtin_return_address(0)));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeEmpty, {lasting_error()});
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, std::size_t count,
                             cudaGraphNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  const void* place = __builtin_return_address(0);
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  const auto added = [&](Recorded recorded) {
    return add(node, graph, after, count, parameters->type, std::move(recorded));
  };
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel:
      return added(record(parameters->kernel, place));
    case cudaGraphNodeTypeMemcpy:
      return added(record(parameters->memcpy.copyParams, place));
    case cudaGraphNodeTypeMemset:
      return added(record(parameters->memset, place));
    case cudaGraphNodeTypeHost:
      return added(record(parameters->host, place));
    case cudaGraphNodeTypeGraph:
      return add_child(node, graph, after, count, parameters->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return added({lasting_error()});
    case cudaGraphNodeTypeEventRecord:
      return added(record(parameters->eventRecord, place));
    case cudaGraphNodeTypeWaitEvent:
      return added(record(parameters->eventWait, place));
    case cudaGraphNodeTypeMemAlloc:
      return added(record(parameters->alloc, place));
    case cudaGraphNodeTypeMemFree:
      return added(record(parameters->free, place));
    case cudaGraphNodeTypeConditional:
      return add_choice(node, graph, after, count, parameters->conditional, place);
    default:
      return fail(cudaErrorNotSupported,
                  "the CPU device does not support graph nodes of this type");
  }
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  if (graph == nullptr) return fail(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_node_of(*graph, from[i]) || !is_node_of(*graph, to[i]) || from[i] == to[i] ||
        has(to[i]->after, from[i]))
      return fail(cudaErrorInvalidValue);
    to[i]->after.push_back(from[i]);
  }
  return lasting_error();
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count) {
  if (graph == nullptr) return fail(cudaErrorInvalidValue);
  if (!may_shrink(*graph)) return fail(cudaErrorNotSupported, no_removal);
  for (std::size_t i = 0; i < count; ++i)
    if (!is_node_of(*graph, to[i]) || std::erase(to[i]->after, from[i]) == 0)
      return fail(cudaErrorInvalidValue);
  return lasting_error();
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        std::size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (node == nullptr) return fail(cudaErrorInvalidValue);
  if (!may_shrink(*node->graph)) return fail(cudaErrorNotSupported, no_removal);
  auto& nodes = node->graph->nodes;
  for (const auto& other : nodes) std::erase(other->after, node);
  std::erase_if(nodes, [&](const auto& own) { return own.get() == node; });
  return lasting_error();
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return fail(cudaErrorInvalidValue);
  return tell(seen_of(*graph), nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> roots = seen_of(*graph);
  std::erase_if(roots, [](const CUgraphNode_st* node) { return !seen_before(*node).empty(); });
  return tell(roots, nodes, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              std::size_t* count) {
  if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr))
    return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> begins, ends;
  for (const cudaGraphNode_t node : seen_of(*graph))
    for (const cudaGraphNode_t before : seen_before(*node)) {
      begins.push_back(before);
      ends.push_back(node);
    }
  std::size_t room = *count;
  tell(begins, from, &room);
  return tell(ends, to, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         std::size_t* count) {
  if (node == nullptr || count == nullptr) return fail(cudaErrorInvalidValue);
  return tell(seen_before(*node), nodes, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           std::size_t* count) {
  if (node == nullptr || count == nullptr) return fail(cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> found = seen_of(*node->graph);
  std::erase_if(found,
                [&](const CUgraphNode_st* other) { return !has(seen_before(*other), node); });
  return tell(found, nodes, count);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  if (node == nullptr || graph == nullptr || node->child == nullptr)
    return fail(cudaErrorInvalidValue);
  *graph = node->child.get();
  return lasting_error();
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (node == nullptr || type == nullptr) return fail(cudaErrorInvalidValue);
  *type = node->type;
  return lasting_error();
}

namespace {

/// Returns the parameters of a node if they are of type `Parameters`.
template <typename Parameters>
cudaError_t parameters_of(cudaGraphNode_t node, Parameters* parameters) {
  if (node == nullptr || parameters == nullptr) return fail(cudaErrorInvalidValue);
  if (node->recorded)
    return fail(cudaErrorNotSupported,
                "the node was captured from a stream: the CPU device cannot return its parameters");
  const auto* said = std::get_if<Parameters>(&node->parameters);
  if (said == nullptr) return fail(cudaErrorInvalidValue);
  *parameters = *said;
  return lasting_error();
}

/// Returns the event that a node records or waits for.
template <typename Parameters>
cudaError_t event_of(cudaGraphNode_t node, cudaEvent_t* event) {
  Parameters said{};
  if (event == nullptr) return fail(cudaErrorInvalidValue);
  const cudaError_t error = parameters_of(node, &said);
  if (error == cudaSuccess) *event = said.event;
  return error;
}

}  // namespace

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  KernelNode said;
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = parameters_of(node, &said); error != cudaSuccess) return error;
  *parameters = said.parameters;
  // The program's array of arguments may no longer exist. The array of the node lives as long as
  // the node.
  parameters->kernelParams = std::get<KernelNode>(node->parameters).arguments.data();
  return lasting_error();
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return parameters_of(node, parameters);
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return parameters_of(node, parameters);
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return parameters_of(node, parameters);
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of<cudaEventRecordNodeParams>(node, event);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of<cudaEventWaitNodeParams>(node, event);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return parameters_of(node, parameters);
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  cudaMemFreeNodeParams said{};
  if (pointer == nullptr) return fail(cudaErrorInvalidValue);
  const cudaError_t error = parameters_of(node, &said);
  if (error == cudaSuccess) *static_cast<void**>(pointer) = said.dptr;
  return error;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeKernel, record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeMemcpy, record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeMemcpy,
                record(line_of_bytes(to, from, bytes, kind), __builtin_return_address(0)));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeMemset, record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeHost, record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeEventRecord,
                record(cudaEventRecordNodeParams{event}, __builtin_return_address(0)));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeWaitEvent,
                record(cudaEventWaitNodeParams{event}, __builtin_return_address(0)));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeKernel,
                record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeMemcpy,
                record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeMemcpy,
                record(line_of_bytes(to, from, bytes, kind), __builtin_return_address(0)));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeMemset,
                record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeHost,
                record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return change(node, parameters->type, record(*parameters, __builtin_return_address(0)));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  const Guard guard(runtime_mutex());
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  if (parameters->type == cudaGraphNodeTypeGraph)
    return cudaGraphExecChildGraphNodeSetParams(executable, node, parameters->graph.graph);
  return change(executable, node, parameters->type,
                record(*parameters, __builtin_return_address(0)));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || node == nullptr || node->child == nullptr || child == nullptr)
    return fail(cudaErrorInvalidValue);
  if (has_single_nodes(*child)) return fail(cudaErrorNotSupported, no_copy);
  const auto before = instance_of(*node->child), other = instance_of(*child);
  if (other == nullptr || difference(*before, *other) != cudaGraphExecUpdateSuccess)
    return fail(cudaErrorGraphExecUpdateFailure,
                "the new child graph must have the same nodes and edges as the child graph of the "
                "node");
  for (std::size_t i = 0; i < before->parts.size(); ++i)
    for (const auto& part : executable->parts) {
      if (part.node != before->parts[i].node) continue;
      for (std::size_t k = 0; k < part.count; ++k)
        take_over(*executable->operations[part.first + k],
                  *other->operations[other->parts[i].first + k]);
    }
  executable->objects.add(other->objects);
  return lasting_error();
}

namespace cuda_on_cpu {

cudaError_t add_symbol_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                            std::size_t count, const SymbolCopy& copy) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
             record(copy, __builtin_return_address(0)));
}
cudaError_t add_launch(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                       std::size_t count, const NodeLaunch& launch, const void* place) {
  return add(node, graph, after, count, cudaGraphNodeTypeKernel, record(launch, place));
}
cudaError_t change_launch(cudaGraphNode_t node, const NodeLaunch& launch, const void* place) {
  return change(node, cudaGraphNodeTypeKernel, record(launch, place));
}
cudaError_t change_launch(cudaGraphExec_t executable, cudaGraphNode_t node,
                          const NodeLaunch& launch, const void* place) {
  return change(executable, node, cudaGraphNodeTypeKernel, record(launch, place));
}

cudaError_t change_symbol_node(cudaGraphNode_t node, const SymbolCopy& copy) {
  const Guard guard(runtime_mutex());
  return change(node, cudaGraphNodeTypeMemcpy, record(copy, __builtin_return_address(0)));
}
cudaError_t change_symbol_node(cudaGraphExec_t executable, cudaGraphNode_t node,
                               const SymbolCopy& copy) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeMemcpy,
                record(copy, __builtin_return_address(0)));
}

}  // namespace cuda_on_cpu

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeEventRecord,
                record(cudaEventRecordNodeParams{event}, __builtin_return_address(0)));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  return change(executable, node, cudaGraphNodeTypeWaitEvent,
                record(cudaEventWaitNodeParams{event}, __builtin_return_address(0)));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || graph == nullptr || result == nullptr)
    return fail(cudaErrorInvalidValue);
  const auto other = has_legal_bodies(*graph) ? instance_of(*graph) : nullptr;
  *result = {other == nullptr ? cudaGraphExecUpdateError : difference(*executable, *other), nullptr,
             nullptr};
  if (other != nullptr && is_memory_of_others(*executable, *other))
    result->result = cudaGraphExecUpdateErrorNotSupported;
  if (result->result == cudaGraphExecUpdateSuccess) {
    take_over(*executable, *other);
    return lasting_error();
  }
  if (other != nullptr)
    other->memory.allocates.clear();  // the discarded instance does not own the
                                      // allocations
  return fail(cudaErrorGraphExecUpdateFailure);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphNode_t* error_node, cudaGraphExecUpdateResult* result) {
  if (result == nullptr) return fail(cudaErrorInvalidValue);
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(executable, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  *result = info.result;
  return error;
}
