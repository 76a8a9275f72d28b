/// \file
/// The driver API: contexts, modules, launches, and memory with 64-bit addresses. Streams, events
/// and memory are the same objects as in the runtime API. Either API can therefore use objects that
/// the other API has created.
///
/// Functions that also exist in the runtime API are inline, so that the analysis reports errors at
/// the source line of the call.

#pragma once

#include "driver_types.hpp"

namespace cuda_on_cpu {

/// A call of the driver API. The call requires a current context, and does not change the runtime's
/// last error.
class DriverCall {
 public:
  DriverCall();

  CUresult refusal() const { return refusal_; }  ///< error of a refused call, or CUDA_SUCCESS
  CUresult end(cudaError_t error) const;         ///< driver API code of a runtime error

 private:
  CUresult refusal_;
  cudaError_t before_;
  bool runtime_was_used_;
};

/// Calls a function of the runtime, provided that there is a current context.
template <typename Call>
CUresult by_runtime(const Call& of_runtime) {
  const DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal() : call.end(of_runtime());
}

inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// Logs an error code of the driver API that a statement of the program discards.
void drop_result(CUresult error);

/// Receives the result of a call of the driver API that is a statement of its own.
struct DroppedResult {
  __forceinline__ void operator=(CUresult error) {
    if (error != CUDA_SUCCESS) drop_result(error);
  }
};

}  // namespace cuda_on_cpu

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int* version);
CUresult cuGetErrorName(CUresult error, const char** name);
CUresult cuGetErrorString(CUresult error, const char** string);

// --- Devices

CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGet(CUdevice* device, int ordinal);
CUresult cuDeviceGetName(char* name, int length, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device);
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to);
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);

// --- Contexts

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                     CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext* context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext* context);
CUresult cuCtxGetDevice(CUdevice* device);
CUresult cuCtxGetFlags(unsigned* flags);
CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version);
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value);
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetCacheConfig(CUfunc_cache* config);
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active);

// --- Modules

CUresult cuModuleLoad(CUmodule* module, const char* file);
CUresult cuModuleLoadData(CUmodule* module, const void* image);
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values);
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name);
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state);
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                       const char* name, unsigned count, CUjit_option* options, void** values);
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* file, unsigned count,
                       CUjit_option* options, void** values);
CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes);
CUresult cuLinkDestroy(CUlinkState state);

// --- Kernels

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters);
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
CUresult cuFuncGetName(const char** name, CUfunction function);
CUresult cuFuncGetModule(CUmodule* module, CUfunction function);
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes);
CUresult cuFuncLoad(CUfunction function);
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, std::size_t shared,
                                                              unsigned flags);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned flags);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int block_size);
CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config);
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, std::size_t shared);
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          std::size_t (*shared_of)(int block), std::size_t shared,
                                          int limit);

// --- Memory

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address);
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address);

/// Returns several attributes. An attribute that the memory lacks is set to 0, except for the
/// device ordinal, which is set to -2.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                CUdeviceptr address);

__forceinline__ CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  const cuda_on_cpu::DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal() : call.end(cudaMemGetInfo(free, total));
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes);
CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element);
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream);
CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
CUresult cuMemAllocHost(void** pointer, std::size_t bytes);
CUresult cuMemHostGetFlags(unsigned* flags, void* host);
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void* pointer);
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags);
__forceinline__ CUresult cuMemFree(CUdeviceptr address) {
  const cuda_on_cpu::DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal()
                                        : call.end(cudaFree(cuda_on_cpu::pointer_of(address)));
}
__forceinline__ CUresult cuMemFreeHost(void* pointer) {
  const cuda_on_cpu::DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal() : call.end(cudaFreeHost(pointer));
}
__forceinline__ CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  const cuda_on_cpu::DriverCall call;
  return call.refusal() != CUDA_SUCCESS
             ? call.refusal()
             : call.end(cudaFreeAsync(cuda_on_cpu::pointer_of(address), stream));
}

namespace cuda_on_cpu {

__forceinline__ CUresult copy_now(void* to, const void* from, std::size_t bytes,
                                  cudaMemcpyKind kind) {
  const DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal()
                                        : call.end(cudaMemcpy(to, from, bytes, kind));
}
__forceinline__ CUresult copy_in(CUstream stream, void* to, const void* from, std::size_t bytes,
                                 cudaMemcpyKind kind) {
  const DriverCall call;
  return call.refusal() != CUDA_SUCCESS ? call.refusal()
                                        : call.end(cudaMemcpyAsync(to, from, bytes, kind, stream));
}

}  // namespace cuda_on_cpu

__forceinline__ CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return cuda_on_cpu::copy_now(cuda_on_cpu::pointer_of(to), cuda_on_cpu::pointer_of(from), bytes,
                               cudaMemcpyDefault);
}
__forceinline__ CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                       CUstream stream) {
  return cuda_on_cpu::copy_in(stream, cuda_on_cpu::pointer_of(to), cuda_on_cpu::pointer_of(from),
                              bytes, cudaMemcpyDefault);
}
__forceinline__ CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return cuda_on_cpu::copy_now(cuda_on_cpu::pointer_of(to), from, bytes, cudaMemcpyHostToDevice);
}
__forceinline__ CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                                           CUstream stream) {
  return cuda_on_cpu::copy_in(stream, cuda_on_cpu::pointer_of(to), from, bytes,
                              cudaMemcpyHostToDevice);
}
__forceinline__ CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return cuda_on_cpu::copy_now(to, cuda_on_cpu::pointer_of(from), bytes, cudaMemcpyDeviceToHost);
}
__forceinline__ CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes,
                                           CUstream stream) {
  return cuda_on_cpu::copy_in(stream, to, cuda_on_cpu::pointer_of(from), bytes,
                              cudaMemcpyDeviceToHost);
}
__forceinline__ CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return cuda_on_cpu::copy_now(cuda_on_cpu::pointer_of(to), cuda_on_cpu::pointer_of(from), bytes,
                               cudaMemcpyDeviceToDevice);
}
__forceinline__ CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                           CUstream stream) {
  return cuda_on_cpu::copy_in(stream, cuda_on_cpu::pointer_of(to), cuda_on_cpu::pointer_of(from),
                              bytes, cudaMemcpyDeviceToDevice);
}

__forceinline__ CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  const cuda_on_cpu::DriverCall call;
  return call.refusal() != CUDA_SUCCESS
             ? call.refusal()
             : call.end(cudaMemset(cuda_on_cpu::pointer_of(to), value, count));
}
__forceinline__ CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                         CUstream stream) {
  const cuda_on_cpu::DriverCall call;
  return call.refusal() != CUDA_SUCCESS
             ? call.refusal()
             : call.end(cudaMemsetAsync(cuda_on_cpu::pointer_of(to), value, count, stream));
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count);
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count);
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream);

CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height);
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height);
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream);
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream);
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream);

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream);

// --- Memory pools

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* allowed, std::size_t count);
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream);

// --- Memory and events that processes share

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address);
CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr address);
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event);
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle);

// --- Arrays and textures

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor);
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array);
CUresult cuArrayDestroy(CUarray array);
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy);
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream);
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy);
CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor);
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array);
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy);
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy);
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream);
// One-dimensional copies. Offsets into arrays are in bytes.
CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes);
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes);
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t bytes);
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes);
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t offset,
                      std::size_t bytes);
CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                           CUstream stream);
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                           CUstream stream);
CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view);
CUresult cuTexObjectDestroy(CUtexObject texture);
CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource);
CUresult cuSurfObjectDestroy(CUsurfObject surface);

// --- Virtual memory management

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* property,
                                       CUmemAllocationGranularity_flags option);
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes);
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* property, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* property,
                                                CUmemGenericAllocationHandle handle);
/// Exports memory to other processes through a file descriptor, which the program must close.
CUresult cuMemExportToShareableHandle(void* file, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* file,
                                        CUmemAllocationHandleType type);
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count);

// --- Streams and events

CUresult cuStreamCreate(CUstream* stream, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority);
CUresult cuStreamGetPriority(CUstream stream, int* priority);
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags);
CUresult cuStreamGetId(CUstream stream, unsigned long long* id);
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device);
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data);
CUresult cuCtxSynchronize();
CUresult cuEventCreate(CUevent* event, unsigned flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);

// --- Capture and graphs

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* data, std::size_t count,
                                     CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                unsigned long long* id, CUgraph* graph, const CUgraphNode** after,
                                const CUgraphEdgeData** data, std::size_t* count);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode);

CUresult cuGraphCreate(CUgraph* graph, unsigned flags);
CUresult cuGraphClone(CUgraph* clone, CUgraph graph);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                              CUcontext context);
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* parameters);
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  std::size_t count, CUgraph child);
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             std::size_t count);
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, CUevent event);
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 std::size_t count, CUevent event);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, std::size_t count);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         std::size_t* count);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                    std::size_t* count);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                      std::size_t* count);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type);
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags);
CUresult cuGraphExecGetFlags(CUgraphExec executable, unsigned long long* flags);
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream);
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec executable);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* copy, CUcontext context);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters,
                                        CUcontext context);
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph,
                           CUgraphExecUpdateResultInfo* result);
CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled);
CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned* enabled);
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags);

// --- Addresses of the functions of the driver API

CUresult cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags,
                          CUdriverProcAddressQueryResult* status);

// --- The profiler, whose functions have no effect

inline CUresult cuProfilerStart() { return CUDA_SUCCESS; }
inline CUresult cuProfilerStop() { return CUDA_SUCCESS; }
