/// \file
/// Graphs and their nodes. The program adds nodes one by one, or streams record them.

#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "conditions.hpp"
#include "cuda_on_cpu/graph_nodes.hpp"
#include "graph_memory.hpp"
#include "stream.hpp"
#include "user_objects.hpp"

namespace cuda_on_cpu {

/// The parameters with which the program added a kernel node.
struct KernelNode {
  cudaKernelNodeParams parameters;
  List<void*> arguments;  ///< addresses of the copies of the arguments
};
using NodeParameters =
    std::variant<std::monostate, KernelNode, cudaMemcpy3DParms, cudaMemsetParams,
                 cudaHostNodeParams, cudaMemAllocNodeParams, cudaMemFreeNodeParams,
                 cudaEventRecordNodeParams, cudaEventWaitNodeParams>;

using Operations = std::vector<OperationPointer>;

}  // namespace cuda_on_cpu

struct CUgraphNode_st {
  CUgraph_st* graph;
  cudaGraphNodeType type;
  cuda_on_cpu::Operations operations;  ///< operations of the node, in the order of execution
  std::vector<cudaGraphNode_t> after = {};
  bool recorded = false;  ///< whether a stream recorded the node; its operation then has the chain
                          ///< of that stream
  bool hidden = false;    ///< whether the node only represents earlier nodes and is not reported to
                          ///< the program
  cuda_on_cpu::NodeParameters parameters = {};
  std::shared_ptr<CUgraph_st> child = nullptr;
  std::shared_ptr<cuda_on_cpu::Condition> condition = nullptr;  ///< condition that a conditional
                                                                ///< node evaluates
  cudaGraphConditionalNodeType choice = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<CUgraph_st>> bodies = {};  ///< the graphs among which a conditional
                                                         ///< node chooses
  std::vector<cudaGraph_t> told_bodies = {};             ///< pointers to the bodies, as the program
                                                         ///< receives them
  int priority = 0;                                      ///< attributes of a kernel, which have no
                                                         ///< effect
  cudaAccessPolicyWindow window = {};
  cudaGraphNode_t original = nullptr;  ///< the node of which this node is a
                                       ///< clone, or null
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  cuda_on_cpu::Conditions conditions;
  cuda_on_cpu::UserObjects objects;
};

struct CUgraphExec_st {
  /// The operations of one node: `count` operations, beginning with index `first`.
  struct Part {
    const CUgraphNode_st* node;
    std::size_t first, count;
  };
  cuda_on_cpu::Operations operations;  ///< operations of the executable graph in topological order
  std::vector<Part> parts;
  std::vector<std::shared_ptr<cuda_on_cpu::Choice>> choices;  ///< choices of the conditional nodes
  cuda_on_cpu::OperationPointer last;  ///< the end of the latest launch, which the next launch
                                       ///< waits for
  cuda_on_cpu::GraphMemory memory;
  cuda_on_cpu::Conditions conditions;
  cuda_on_cpu::UserObjects objects;
  unsigned long long flags = 0;

  ~CUgraphExec_st();
};

namespace cuda_on_cpu {

/// The graph of all operations that the capturing streams have recorded so far.
CUgraph_st& graph_so_far(Capture& capture);

/// The nodes that the next node of a capturing stream will depend on, as the program sees them.
std::vector<cudaGraphNode_t> latest_nodes(const CUstream_st& stream);

/// Kernel nodes whose launch a function enqueues in a stream: adds a node, changes a node, or
/// changes a node of an executable graph.
using NodeLaunch = std::function<cudaError_t(cudaStream_t stream)>;
cudaError_t add_launch(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                       std::size_t count, const NodeLaunch& launch, const void* place);
cudaError_t change_launch(cudaGraphNode_t node, const NodeLaunch& launch, const void* place);
cudaError_t change_launch(cudaGraphExec_t executable, cudaGraphNode_t node,
                          const NodeLaunch& launch, const void* place);

/// An operation without effect that only represents other operations.
OperationPointer marker();

/// Whether all nodes belong to a graph.
bool are_nodes_of(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count);

/// Whether a graph has nodes that allow only one executable graph and no copy.
bool has_single_nodes(const CUgraph_st& graph);

/// The nodes of a graph that the program sees, and those on which a node depends.
std::vector<cudaGraphNode_t> seen_of(const CUgraph_st& graph);
std::vector<cudaGraphNode_t> seen_before(const CUgraphNode_st& node);

/// Whether the bodies of all conditional nodes have only permitted nodes.
bool has_legal_bodies(const CUgraph_st& graph);

/// Instantiates a graph. Returns null if the nodes of the graph form a cycle.
std::unique_ptr<CUgraphExec_st> instance_of(const CUgraph_st& graph);

}  // namespace cuda_on_cpu
