/// \file
/// Further kinds of graph nodes: event nodes, memory nodes, conditional nodes, and nodes whose type
/// is an argument. The file also contains queries about the graph that a stream captures.

#pragma once

#include <cstddef>

#include "graphs.hpp"
#include "memory_pools.hpp"

// --- Event nodes. When a launch reaches such a node, the launch records the event or waits for the
// event

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, std::size_t count,
                                        cudaEvent_t event);
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, std::size_t count,
                                      cudaEvent_t event);
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event);
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event);
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event);
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event);

// --- Memory nodes

struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc* accessDescs;
  std::size_t accessDescCount;
  std::size_t bytesize;
  void* dptr;  ///< address of the allocation, set by the call
};
struct cudaMemFreeNodeParams {
  void* dptr;
};
enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent = 0,
  cudaGraphMemAttrUsedMemHigh = 1,
  cudaGraphMemAttrReservedMemCurrent = 2,
  cudaGraphMemAttrReservedMemHigh = 3
};

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count,
                                     cudaMemAllocNodeParams* parameters);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, std::size_t count, void* pointer);
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters);
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer);
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value);
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value);
cudaError_t cudaDeviceGraphMemTrim(int device);

// --- Conditional nodes

using cudaGraphConditionalHandle = unsigned long long;
inline constexpr unsigned cudaGraphCondAssignDefault = 1;
enum cudaGraphConditionalNodeType {
  cudaGraphCondTypeIf = 0,
  cudaGraphCondTypeWhile = 1,
  cudaGraphCondTypeSwitch = 2
};
struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned size;             ///< number of body graphs
  cudaGraph_t* phGraph_out;  ///< address of the array of body graphs, which are empty at first; set
                             ///< by the call
};

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned first_value = 0, unsigned flags = 0);
/// Sets the value of a condition. Only kernels may call this function.
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);

// --- Nodes of any type

using cudaKernelNodeParamsV2 = cudaKernelNodeParams;
using cudaMemsetParamsV2 = cudaMemsetParams;
using cudaHostNodeParamsV2 = cudaHostNodeParams;
using cudaMemAllocNodeParamsV2 = cudaMemAllocNodeParams;
struct cudaMemcpyNodeParams {
  int flags;
  cudaMemcpy3DParms copyParams;
};
struct cudaChildGraphNodeParams {
  cudaGraph_t graph;
};
struct cudaEventRecordNodeParams {
  cudaEvent_t event;
};
struct cudaEventWaitNodeParams {
  cudaEvent_t event;
};
/// The parameters of a node. Only the member that `type` selects is read. CUDA uses a union. Here,
/// the class KernelFunction in `kernel` has a constructor, so a union could not be created without
/// an initialiser.
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  cudaKernelNodeParamsV2 kernel;
  cudaMemcpyNodeParams memcpy;
  cudaMemsetParamsV2 memset;
  cudaHostNodeParamsV2 host;
  cudaChildGraphNodeParams graph;
  cudaEventWaitNodeParams eventWait;
  cudaEventRecordNodeParams eventRecord;
  cudaMemAllocNodeParamsV2 alloc;
  cudaMemFreeNodeParams free;
  cudaConditionalNodeParams conditional;
};

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* data, std::size_t count,
                             cudaGraphNodeParams* parameters);
/// Overload with the signature of toolkits before version 13.
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, std::size_t count,
                                    cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, after, nullptr, count, parameters);
}

/// Changes the parameters of a node, whose type must equal `type` of the parameters. Nodes that
/// allocate or free memory, and conditional nodes, cannot be changed.
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters);

// --- Nodes that copy to and from device variables

namespace cuda_on_cpu {

/// The arguments of copy_symbol.
struct SymbolCopy {
  void* to;
  const void* from;
  std::size_t bytes, size, offset;
  bool to_symbol;

  template <typename Value>
  static SymbolCopy into(const Value& symbol, const void* from, std::size_t bytes,
                         std::size_t offset) {
    return {
        const_cast<std::remove_const_t<Value>*>(&symbol), from, bytes, sizeof symbol, offset, true};
  }
  template <typename Value>
  static SymbolCopy out_of(const Value& symbol, void* to, std::size_t bytes, std::size_t offset) {
    return {to, &symbol, bytes, sizeof symbol, offset, false};
  }
};
cudaError_t add_symbol_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                            std::size_t count, const SymbolCopy& copy);
cudaError_t change_symbol_node(cudaGraphNode_t node, const SymbolCopy& copy);
cudaError_t change_symbol_node(cudaGraphExec_t executable, cudaGraphNode_t node,
                               const SymbolCopy& copy);

}  // namespace cuda_on_cpu

template <typename Value>
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, std::size_t count,
                                           const Value& symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind) {
  return cuda_on_cpu::add_symbol_node(node, graph, after, count,
                                      cuda_on_cpu::SymbolCopy::into(symbol, from, bytes, offset));
}
template <typename Value>
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, std::size_t count,
                                             void* to, const Value& symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind) {
  return cuda_on_cpu::add_symbol_node(node, graph, after, count,
                                      cuda_on_cpu::SymbolCopy::out_of(symbol, to, bytes, offset));
}
template <typename Value>
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const Value& symbol,
                                                 const void* from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind) {
  return cuda_on_cpu::change_symbol_node(
      node, cuda_on_cpu::SymbolCopy::into(symbol, from, bytes, offset));
}
template <typename Value>
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const Value& symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind) {
  return cuda_on_cpu::change_symbol_node(
      node, cuda_on_cpu::SymbolCopy::out_of(symbol, to, bytes, offset));
}
template <typename Value>
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const Value& symbol,
                                                     const void* from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind) {
  return cuda_on_cpu::change_symbol_node(
      executable, node, cuda_on_cpu::SymbolCopy::into(symbol, from, bytes, offset));
}
template <typename Value>
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void* to,
                                                       const Value& symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind) {
  return cuda_on_cpu::change_symbol_node(
      executable, node, cuda_on_cpu::SymbolCopy::out_of(symbol, to, bytes, offset));
}

// --- Child graphs, nodes that launches skip, and attributes of kernels

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t child);

/// Lets later launches skip a kernel, a copy or a memset, or execute it again.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned enabled);
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned* enabled);

using cudaKernelNodeAttrID = cudaLaunchAttributeID;
using cudaKernelNodeAttrValue = cudaLaunchAttributeValue;
inline constexpr cudaKernelNodeAttrID cudaKernelNodeAttributeAccessPolicyWindow =
                                          cudaLaunchAttributeAccessPolicyWindow,
                                      cudaKernelNodeAttributeCooperative =
                                          cudaLaunchAttributeCooperative,
                                      cudaKernelNodeAttributeClusterDimension =
                                          cudaLaunchAttributeClusterDimension,
                                      cudaKernelNodeAttributePriority = cudaLaunchAttributePriority;

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value);
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from);

// --- Instances with parameters, user objects, and drawings

enum cudaGraphInstantiateResult {
  cudaGraphInstantiateSuccess = 0,
  cudaGraphInstantiateError = 1,
  cudaGraphInstantiateInvalidStructure = 2,
  cudaGraphInstantiateNodeOperationNotSupported = 3,
  cudaGraphInstantiateMultipleDevicesNotSupported = 4,
  cudaGraphInstantiateConditionalHandleUnused = 5
};
struct cudaGraphInstantiateParams {
  unsigned long long flags;
  cudaStream_t uploadStream;
  cudaGraphNode_t errNode_out;  ///< always null here
  cudaGraphInstantiateResult result_out;
};
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters);
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags);

using cudaUserObject_t = struct CUuserObject_st*;
inline constexpr unsigned cudaUserObjectNoDestructorSync = 1, cudaGraphUserObjectMove = 1;

/// Creates an object with a number of references. When the last reference is released, `destroy` is
/// called with the address of the object.
cudaError_t cudaUserObjectCreate(cudaUserObject_t* made, void* object, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags);
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count = 1);
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count = 1);
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned count = 1, unsigned flags = 0);
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned count = 1);

enum cudaGraphDebugDotFlags {
  cudaGraphDebugDotFlagsVerbose = 1 << 0,
  cudaGraphDebugDotFlagsKernelNodeParams = 1 << 2,
  cudaGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
  cudaGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
  cudaGraphDebugDotFlagsHostNodeParams = 1 << 5,
  cudaGraphDebugDotFlagsEventNodeParams = 1 << 6,
  cudaGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
  cudaGraphDebugDotFlagsHandles = 1 << 10,
  cudaGraphDebugDotFlagsConditionalNodeParams = 1 << 15
};
/// Writes the nodes and edges of a graph into a file in the DOT language. The flags have no effect.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags);

// --- Capture: the captured graph of a stream and its current dependencies

inline constexpr unsigned cudaStreamAddCaptureDependencies = 0,
                          cudaStreamSetCaptureDependencies = 1;

/// Captures the work of a stream into an existing graph. The first captured nodes depend on the
/// `count` nodes in `after`.
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* data, std::size_t count,
                                          cudaStreamCaptureMode mode);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                     const cudaGraphNode_t** after = nullptr,
                                     const cudaGraphEdgeData** data = nullptr,
                                     std::size_t* count = nullptr);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after,
                                                const cudaGraphEdgeData* data, std::size_t count,
                                                unsigned flags = cudaStreamAddCaptureDependencies);
