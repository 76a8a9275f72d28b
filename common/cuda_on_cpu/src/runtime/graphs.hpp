/// \file
/// What graphs consist of: nodes, which were added one by one or recorded by streams.

#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "cuda_on_cpu/graphs.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

/// What a node that was added does, as the program said it.
struct KernelNode {
  cudaKernelNodeParams parameters;
  std::vector<void*> arguments;  ///< where the copies lie
};
using NodeParameters = std::variant<std::monostate, KernelNode, cudaMemcpy3DParms, cudaMemsetParams,
                                    cudaHostNodeParams>;

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
  cudaGraphNode_t original = nullptr;  ///< of which it is a clone
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  /// What a node became: so many operations from one on.
  struct Part {
    const CUgraphNode_st* node;
    std::size_t first, count;
  };
  cuda_on_cpu::Operations operations;  ///< each behind those that it waits for
  std::vector<Part> parts;
  cuda_on_cpu::OperationPointer last;  ///< of its latest launch, which the next one waits for
};

namespace cuda_on_cpu {

/// The graph of what streams recorded.
std::unique_ptr<CUgraph_st> graph_of(const Capture& capture);

/// Makes an instance of a graph; null if its nodes wait for each other in a circle.
std::unique_ptr<CUgraphExec_st> instance_of(const CUgraph_st& graph);

}  // namespace cuda_on_cpu
