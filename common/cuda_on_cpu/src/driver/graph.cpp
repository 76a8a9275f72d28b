/// \file
/// Graphs of the driver API. The calls are passed on to the runtime. Kernel nodes are in
/// launch.cpp.

#include "array.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

cudaMemsetParams memset_of(const CUDA_MEMSET_NODE_PARAMS& p) {
  return {pointer_of(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
}

/// Calls a function of the runtime for the translated parameters of a node.
template <typename Call>
CUresult with_box(const CUDA_MEMCPY3D* copy, const Call& of_runtime) {
  if (copy == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaMemcpy3DParms same = box_of(*copy);
    return of_runtime(&same);
  });
}
template <typename Call>
CUresult with_memset(const CUDA_MEMSET_NODE_PARAMS* parameters, const Call& of_runtime) {
  if (parameters == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaMemsetParams same = memset_of(*parameters);
    return of_runtime(&same);
  });
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return by_runtime([&] { return cudaGraphCreate(graph, flags); });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return by_runtime([&] { return cudaGraphClone(clone, graph); });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return by_runtime([&] { return cudaGraphDestroy(graph); });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  std::size_t count, CUgraph child) {
  return by_runtime([&] { return cudaGraphAddChildGraphNode(node, graph, after, count, child); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             std::size_t count) {
  return by_runtime([&] { return cudaGraphAddEmptyNode(node, graph, after, count); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, CUevent event) {
  return by_runtime([&] { return cudaGraphAddEventRecordNode(node, graph, after, count, event); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 std::size_t count, CUevent event) {
  return by_runtime([&] { return cudaGraphAddEventWaitNode(node, graph, after, count, event); });
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, std::size_t count) {
  return by_runtime([&] { return cudaGraphAddDependencies(graph, from, to, data, count); });
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
  return by_runtime([&] { return cudaGraphRemoveDependencies(graph, from, to, data, count); });
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return by_runtime([&] { return cudaGraphDestroyNode(node); });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return by_runtime([&] { return cudaGraphGetNodes(graph, nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return by_runtime([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         std::size_t* count) {
  return by_runtime([&] { return cudaGraphGetEdges(graph, from, to, data, count); });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                    std::size_t* count) {
  return by_runtime([&] { return cudaGraphNodeGetDependencies(node, nodes, data, count); });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                      std::size_t* count) {
  return by_runtime([&] { return cudaGraphNodeGetDependentNodes(node, nodes, data, count); });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return by_runtime([&] { return cudaGraphNodeGetType(node, type); });
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return by_runtime([&] { return cudaGraphInstantiate(executable, graph, flags); });
}

CUresult cuGraphExecGetFlags(CUgraphExec executable, unsigned long long* flags) {
  return by_runtime([&] { return cudaGraphExecGetFlags(executable, flags); });
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return by_runtime([&] { return cudaGraphUpload(executable, stream); });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return by_runtime([&] { return cudaGraphLaunch(executable, stream); });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return by_runtime([&] { return cudaGraphExecDestroy(executable); });
}

CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph,
                           CUgraphExecUpdateResultInfo* result) {
  return by_runtime([&] { return cudaGraphExecUpdate(executable, graph, result); });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled) {
  return by_runtime([&] { return cudaGraphNodeSetEnabled(executable, node, enabled); });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned* enabled) {
  return by_runtime([&] { return cudaGraphNodeGetEnabled(executable, node, enabled); });
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return by_runtime([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_box(copy, [&](const cudaMemcpy3DParms* same) {
    return cudaGraphAddMemcpyNode(node, graph, after, count, same);
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return with_box(copy, [&](const cudaMemcpy3DParms* same) {
    return cudaGraphMemcpyNodeSetParams(node, same);
  });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_box(copy, [&](const cudaMemcpy3DParms* same) {
    return cudaGraphExecMemcpyNodeSetParams(executable, node, same);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                              CUcontext) {
  return with_memset(parameters, [&](const cudaMemsetParams* same) {
    return cudaGraphAddMemsetNode(node, graph, after, count, same);
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return with_memset(parameters, [&](const cudaMemsetParams* same) {
    return cudaGraphMemsetNodeSetParams(node, same);
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  return with_memset(parameters, [&](const cudaMemsetParams* same) {
    return cudaGraphExecMemsetNodeSetParams(executable, node, same);
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaHostNodeParams same = {parameters->fn, parameters->userData};
    return cudaGraphAddHostNode(node, graph, after, count, &same);
  });
}
