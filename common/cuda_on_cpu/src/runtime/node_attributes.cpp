/// \file
/// Calls about single nodes: nodes that launches skip, attributes of kernels, and the drawing of a
/// graph.

#include <algorithm>
#include <fstream>
#include <string>

#include "children.hpp"
#include "cuda_on_cpu/runtime_hints.hpp"
#include "graphs.hpp"
#include "hints.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// The operations of a node in an executable graph; empty if launches cannot skip the node.
Operations operations_of(const CUgraphExec_st& executable, const CUgraphNode_st& node) {
  if (node.type != cudaGraphNodeTypeKernel && node.type != cudaGraphNodeTypeMemcpy &&
      node.type != cudaGraphNodeTypeMemset)
    return {};
  for (const auto& part : executable.parts) {
    const auto first = executable.operations.begin() + static_cast<std::ptrdiff_t>(part.first);
    if (part.node == &node) return {first, first + static_cast<std::ptrdiff_t>(part.count)};
  }
  return {};
}

/// The operation that launches the kernel of a node, or null.
OperationPointer* kernel_of(cudaGraphNode_t node) {
  if (node == nullptr) return nullptr;
  const auto found = std::find_if(node->operations.begin(), node->operations.end(),
                                  [](const auto& own) { return own->kernel != nullptr; });
  return found == node->operations.end() ? nullptr : &*found;
}

/// Replaces the configuration of a kernel. Clones of the node keep the old one.
void configure(OperationPointer& operation, const Configuration& configuration) {
  auto kernel = std::make_shared<Kernel>(*operation->kernel);
  kernel->configuration = configuration;
  operation = std::make_shared<Operation>(*operation);
  operation->kernel = std::move(kernel);
}

std::string label_of(const CUgraphNode_st& node) {
  switch (node.type) {
    case cudaGraphNodeTypeKernel:
      for (const OperationPointer& operation : node.operations)
        if (operation->kernel != nullptr) return operation->kernel->name;
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM_FREE";
    case cudaGraphNodeTypeConditional:
      return "CONDITIONAL";
    default:
      return "EMPTY";
  }
}

/// Writes the nodes and edges of a graph, and of its inner graphs, in the DOT language.
/// \param prefix the beginning of the names of all nodes of this graph
void draw(std::ostream& out, const CUgraph_st& graph, const std::string& prefix) {
  const std::vector<cudaGraphNode_t> nodes = seen_of(graph);
  const auto name = [&](const CUgraphNode_st* node) {
    const auto index = std::find(nodes.begin(), nodes.end(), node) - nodes.begin();
    return prefix + "_node_" + std::to_string(index);
  };
  out << "subgraph cluster_" << prefix << " {\nlabel=\"" << prefix << "\";\n";
  for (const CUgraphNode_st* node : nodes) {
    out << '"' << name(node) << "\" [label=\"" << label_of(*node) << "\"];\n";
    std::size_t inner = 0;
    if (node->child != nullptr) draw(out, *node->child, name(node) + "_graph_0");
    for (const auto& body : node->bodies)
      draw(out, *body, name(node) + "_graph_" + std::to_string(inner++));
  }
  for (const CUgraphNode_st* node : nodes)
    for (const CUgraphNode_st* before : seen_before(*node))
      out << '"' << name(before) << "\" -> \"" << name(node) << "\";\n";
  out << "}\n";
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned enabled) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || node == nullptr) return fail(cudaErrorInvalidValue);
  const Operations operations = operations_of(*executable, *node);
  if (operations.empty())
    return fail(cudaErrorInvalidValue,
                "the instance has no such node, or the node is not a kernel, a copy or a memset");
  for (const OperationPointer& operation : operations) operation->is_disabled = enabled == 0;
  return lasting_error();
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned* enabled) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || node == nullptr || enabled == nullptr)
    return fail(cudaErrorInvalidValue);
  const Operations operations = operations_of(*executable, *node);
  if (operations.empty()) return fail(cudaErrorInvalidValue);
  *enabled = operations.front()->is_disabled ? 0 : 1;
  return lasting_error();
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value) {
  const Guard guard(runtime_mutex());
  OperationPointer* const operation = kernel_of(node);
  if (operation == nullptr || value == nullptr) return fail(cudaErrorInvalidValue);
  const Kernel& kernel = *(*operation)->kernel;
  Configuration changed = kernel.configuration;
  switch (attribute) {
    case cudaLaunchAttributePriority:
      node->priority = value->priority;
      return lasting_error();
    case cudaLaunchAttributeAccessPolicyWindow:
      if (!is_window(value->accessPolicyWindow)) return fail(cudaErrorInvalidValue);
      node->window = value->accessPolicyWindow;
      return lasting_error();
    case cudaLaunchAttributeCooperative:
      changed.cooperative = value->cooperative != 0;
      break;
    case cudaLaunchAttributeClusterDimension:
      changed.cluster = dim3(value->clusterDim.x, value->clusterDim.y, value->clusterDim.z);
      break;
    default:
      return fail(cudaErrorInvalidValue,
                  "the CPU device does not support this attribute of a kernel node");
  }
  if (Refusal refusal = refusal_of(kernel.name.c_str(), changed); refusal.error != cudaSuccess)
    return fail(refusal.error, std::move(refusal.reason));
  configure(*operation, changed);
  return lasting_error();
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value) {
  const Guard guard(runtime_mutex());
  const OperationPointer* const operation = kernel_of(node);
  if (operation == nullptr || value == nullptr) return fail(cudaErrorInvalidValue);
  const Configuration& configuration = (*operation)->kernel->configuration;
  switch (attribute) {
    case cudaLaunchAttributePriority:
      value->priority = node->priority;
      return lasting_error();
    case cudaLaunchAttributeAccessPolicyWindow:
      value->accessPolicyWindow = node->window;
      return lasting_error();
    case cudaLaunchAttributeCooperative:
      value->cooperative = configuration.cooperative ? 1 : 0;
      return lasting_error();
    case cudaLaunchAttributeClusterDimension:
      value->clusterDim = {configuration.cluster.x, configuration.cluster.y,
                           configuration.cluster.z};
      return lasting_error();
    default:
      return fail(cudaErrorInvalidValue,
                  "the CPU device does not support this attribute of a kernel node");
  }
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  const Guard guard(runtime_mutex());
  OperationPointer* const target = kernel_of(to);
  const OperationPointer* const source = kernel_of(from);
  if (target == nullptr || source == nullptr) return fail(cudaErrorInvalidValue);
  Configuration changed = (*target)->kernel->configuration;
  changed.cooperative = (*source)->kernel->configuration.cooperative;
  changed.cluster = (*source)->kernel->configuration.cluster;
  if (Refusal refusal = refusal_of((*target)->kernel->name.c_str(), changed);
      refusal.error != cudaSuccess)
    return fail(refusal.error, std::move(refusal.reason));
  configure(*target, changed);
  to->priority = from->priority;
  to->window = from->window;
  return lasting_error();
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  const Guard guard(runtime_mutex());
  if (graph == nullptr || path == nullptr) return fail(cudaErrorInvalidValue);
  std::ofstream out(path);
  out << "digraph dot {\n";
  draw(out, *graph, "graph_0");
  out << "}\n";
  out.close();
  return out ? lasting_error()
             : fail(cudaErrorOperatingSystem, "cannot write " + std::string(path));
}
