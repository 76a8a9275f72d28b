/// \file
/// What graphs consist of: nodes, which were added one by one or recorded by streams.

#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "conditions.hpp"
#include "cuda_on_cpu/graph_nodes.hpp"
#include "graph_memory.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

/// What a node that was added does, as the program said it.
struct KernelNode {
  cudaKernelNodeParams parameters;
  List<void*> arguments;  ///< addresses of the copies
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
  cuda_on_cpu::Operations operations;  ///< which it does one after the other
  std::vector<cudaGraphNode_t> after = {};
  bool recorded = false;  ///< by a stream, whose chain its operation bears
  bool hidden = false;    ///< it only stands for what comes before it
  cuda_on_cpu::NodeParameters parameters = {};
  std::shared_ptr<CUgraph_st> child = nullptr;
  std::shared_ptr<cuda_on_cpu::Condition> condition = nullptr;  ///< on which it decides
  cudaGraphConditionalNodeType choice = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<CUgraph_st>> bodies = {};  ///< among which it does
  std::vector<cudaGraph_t> told_bodies = {};             ///< the same for the program
  cudaGraphNode_t original = nullptr;                    ///< of which it is a clone
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  cuda_on_cpu::Conditions conditions;
};

struct CUgraphExec_st {
  /// What a node became: so many operations from one on.
  struct Part {
    const CUgraphNode_st* node;
    std::size_t first, count;
  };
  cuda_on_cpu::Operations operations;  ///< each behind those that it waits for
  std::vector<Part> parts;
  std::vector<std::shared_ptr<cuda_on_cpu::Choice>> choices;  ///< of its nodes that choose
  cuda_on_cpu::OperationPointer last;  ///< of its latest launch, which the next one waits for
  cuda_on_cpu::GraphMemory memory;
  cuda_on_cpu::Conditions conditions;

  ~CUgraphExec_st();
};

namespace cuda_on_cpu {

/// The graph of what streams have recorded so far.
CUgraph_st& graph_so_far(Capture& capture);

/// The nodes that a stream which records goes on behind, as a program sees them.
std::vector<cudaGraphNode_t> latest_nodes(const CUstream_st& stream);

/// An operation that only stands for others.
OperationPointer marker();

/// Whether all nodes are of a graph.
bool are_nodes_of(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count);

/// Whether a graph has nodes of which there can be but one instance, and no copy.
bool has_single_nodes(const CUgraph_st& graph);

/// Whether all graphs that nodes choose among have only nodes that may be there.
bool has_legal_bodies(const CUgraph_st& graph);

/// Makes an instance of a graph; null if its nodes wait for each other in a circle.
std::unique_ptr<CUgraphExec_st> instance_of(const CUgraph_st& graph);

}  // namespace cuda_on_cpu
