#include "graphs.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "../analysis.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<std::recursive_mutex>;

/// A stream that records what calls of the runtime would do, for a node of a graph.
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

/// What a node does, or why it cannot.
struct Recorded {
  cudaError_t error;
  Operations operations = {};
  NodeParameters parameters = {};
};

Recorded record(const cudaKernelNodeParams& p, const void* place) {
  if (p.func == nullptr) return {fail(cudaErrorInvalidDeviceFunction)};
  if (!p.func.has_parameters() || p.kernelParams == nullptr)
    return {fail(cudaErrorNotSupported,
                 "the node's `func` is an address without a type, or its arguments are not in "
                 "`kernelParams`: the CPU device knows neither how many there are nor how long")};
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

/// A fill with elements of several bytes; the runtime has judged it as one with bytes.
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
    return {fail(cudaErrorInvalidValue, "a fill with elements of " + std::to_string(p.elementSize) +
                                            " bytes; there are 1, 2 and 4")};
  const NodeParameters said = p;
  const std::size_t width = p.width * p.elementSize;
  if (p.height <= 1) p.pitch = width;  // of a single row it means nothing
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

cudaMemcpy3DParms line_of_bytes(void* to, const void* from, std::size_t bytes,
                                cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  p.extent = make_cudaExtent(bytes, 1, 1);
  p.kind = kind;
  return p;
}

/// An operation that only stands for those before it.
OperationPointer marker() {
  auto made = std::make_shared<Operation>();
  made->work = [](const Operation&) { return true; };
  made->marks = true;
  return made;
}

bool has(const std::vector<cudaGraphNode_t>& nodes, const CUgraphNode_st* node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
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
      return fail(cudaErrorInvalidValue, "it waits for a node of another graph");
  auto made = std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{graph, type, std::move(recorded.operations), std::move(before)});
  made->parameters = std::move(recorded.parameters);
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return cudaSuccess;
}

/// Gives a node of a graph something else to do.
cudaError_t change(cudaGraphNode_t node, cudaGraphNodeType type, Recorded recorded) {
  if (recorded.error != cudaSuccess) return recorded.error;
  if (node == nullptr || node->type != type || node->recorded) return fail(cudaErrorInvalidValue);
  node->operations = std::move(recorded.operations);
  node->parameters = std::move(recorded.parameters);
  return cudaSuccess;
}

/// Lets one operation do what another one does, where it stands.
void take_over(Operation& operation, const Operation& other) {
  operation.work = other.work;
  operation.kernel = other.kernel;
  operation.host_call = other.host_call;
  operation.meeting = other.meeting;
  operation.place = other.place;
}

/// Gives what a node became in an instance something else to do.
cudaError_t change(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                   const Recorded& recorded) {
  if (recorded.error != cudaSuccess) return recorded.error;
  if (executable == nullptr || node == nullptr || node->type != type)
    return fail(cudaErrorInvalidValue);
  for (const auto& part : executable->parts) {
    if (part.node != node || part.count != recorded.operations.size()) continue;
    for (std::size_t i = 0; i < part.count; ++i)
      take_over(*executable->operations[part.first + i], *recorded.operations[i]);
    return cudaSuccess;
  }
  return fail(cudaErrorInvalidValue, "the instance has no such node");
}

/// The nodes that one waits for, as a program sees them: without those that only stand for others.
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

/// Answers as CUDA does: a number where there is no room, else as many nodes as there is room for.
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
  if (operation.marks) return cudaGraphNodeTypeEmpty;
  if (operation.host_call != nullptr) return cudaGraphNodeTypeHost;
  if (operation.moves == Moves::copy) return cudaGraphNodeTypeMemcpy;
  if (operation.moves == Moves::fill) return cudaGraphNodeTypeMemset;
  return cudaGraphNodeTypeKernel;  // calls of libraries, too
}

/// Lays the nodes of a graph, and of those in it, out in an order in which they can be done.
class Layout {
 public:
  explicit Layout(CUgraphExec_st& instance) : instance_(instance) {}

  /// \returns whether no nodes wait for each other in a circle
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

  OperationPointer put(const Operation& operation, Operations after, bool recorded) {
    auto own = std::make_shared<Operation>(operation);
    own->after = std::move(after);
    if (!recorded) own->number = chain_behind(own->after);
    instance_.operations.push_back(own);
    return own;
  }

  /// The chain of what comes before, for the first that goes on with it; a new one for others, for
  /// nothing orders them.
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
  std::set<std::uint32_t> chains_;  // of nodes that no stream recorded
  std::set<const Operation*> continued_;
};

/// A copy of a graph, whose nodes know of which they are copies.
std::unique_ptr<CUgraph_st> clone_of(const CUgraph_st& graph) {
  auto clone = std::make_unique<CUgraph_st>();
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

/// How two instances differ in more than what their nodes do.
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
  return cudaGraphExecUpdateSuccess;
}

}  // namespace

std::unique_ptr<CUgraph_st> graph_of(const Capture& capture) {
  auto graph = std::make_unique<CUgraph_st>();
  std::map<const Operation*, cudaGraphNode_t> nodes;
  for (const OperationPointer& operation : capture.operations) {
    auto node = std::make_unique<CUgraphNode_st>(
        CUgraphNode_st{graph.get(), type_of(*operation), {operation}});
    node->recorded = true;
    node->hidden = operation->marks;
    for (const OperationPointer& before : operation->after)
      if (const auto known = nodes.find(before.get()); known != nodes.end())
        node->after.push_back(known->second);
    nodes[operation.get()] = node.get();
    graph->nodes.push_back(std::move(node));
  }
  return graph;
}

std::unique_ptr<CUgraphExec_st> instance_of(const CUgraph_st& graph) {
  auto instance = std::make_unique<CUgraphExec_st>();
  return Layout(*instance).add(graph, nullptr) ? std::move(instance) : nullptr;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return fail(cudaErrorInvalidValue);
  *graph = std::make_unique<CUgraph_st>().release();  // cudaGraphDestroy takes it back
  return lasting_error();
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  if (clone == nullptr || graph == nullptr) return fail(cudaErrorInvalidValue);
  *clone = clone_of(*graph).release();  // cudaGraphDestroy takes it back
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
  if (child == nullptr) return fail(cudaErrorInvalidValue);
  const cudaError_t error =
      add(node, graph, after, count, cudaGraphNodeTypeGraph, {lasting_error()});
  if (error == cudaSuccess) (*node)->child = clone_of(*child);
  return error;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
  const Guard guard(runtime_mutex());
  return add(node, graph, after, count, cudaGraphNodeTypeEmpty, {lasting_error()});
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
  for (std::size_t i = 0; i < count; ++i)
    if (!is_node_of(*graph, to[i]) || std::erase(to[i]->after, from[i]) == 0)
      return fail(cudaErrorInvalidValue);
  return lasting_error();
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (node == nullptr) return fail(cudaErrorInvalidValue);
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

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (node == nullptr || type == nullptr) return fail(cudaErrorInvalidValue);
  *type = node->type;
  return lasting_error();
}

namespace {

/// What a node was told, if it was told so much.
template <typename Parameters>
cudaError_t parameters_of(cudaGraphNode_t node, Parameters* parameters) {
  if (node == nullptr || parameters == nullptr) return fail(cudaErrorInvalidValue);
  if (node->recorded)
    return fail(cudaErrorNotSupported, "what a stream recorded is not known as parameters");
  const auto* said = std::get_if<Parameters>(&node->parameters);
  if (said == nullptr) return fail(cudaErrorInvalidValue);
  *parameters = *said;
  return lasting_error();
}

}  // namespace

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  KernelNode said;
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  if (const cudaError_t error = parameters_of(node, &said); error != cudaSuccess) return error;
  *parameters = said.parameters;
  // The program's own array may be gone; the node's lives as long as the node.
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

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || graph == nullptr || result == nullptr)
    return fail(cudaErrorInvalidValue);
  const auto other = instance_of(*graph);
  *result = {other == nullptr ? cudaGraphExecUpdateError : difference(*executable, *other), nullptr,
             nullptr};
  if (result->result != cudaGraphExecUpdateSuccess) return fail(cudaErrorGraphExecUpdateFailure);
  for (std::size_t i = 0; i < other->operations.size(); ++i)
    take_over(*executable->operations[i], *other->operations[i]);
  return lasting_error();
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
