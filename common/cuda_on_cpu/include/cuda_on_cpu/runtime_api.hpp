/// \file
/// The CUDA runtime: devices, memory, streams, events, graphs and errors.
///
/// Work in a stream runs when another operation depends on it: a synchronisation, a blocking copy,
/// or an event for which another stream waits. A program that forgets to synchronise therefore
/// reads the old contents of memory.

#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "core.hpp"
#include "device_properties.hpp"
#include "standard.hpp"

enum cudaError : unsigned {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidChannelDescriptor = 20,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidFilterSetting = 26,
  cudaErrorInvalidNormSetting = 27,
  cudaErrorLaunchMaxDepthExceeded = 65,
  cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorMapBufferObjectFailed = 205,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedLimit = 215,
  cudaErrorPeerAccessUnsupported = 217,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorHardwareStackError = 714,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorGraphExecUpdateFailure = 910,
  cudaErrorInvalidClusterSize = 912,
  cudaErrorUnknown = 999,

  // The CPU device never returns the following errors, but programs and headers use their names.
  cudaErrorProfilerDisabled = 5,
  cudaErrorInvalidTexture = 18,
  cudaErrorInvalidTextureBinding = 19,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDuplicateVariableName = 43,
  cudaErrorDuplicateTextureName = 44,
  cudaErrorDuplicateSurfaceName = 45,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorIncompatibleDriverContext = 49,
  cudaErrorMissingConfiguration = 52,
  cudaErrorLaunchFileScopedTex = 66,
  cudaErrorLaunchFileScopedSurf = 67,
  cudaErrorSyncDepthExceeded = 68,
  cudaErrorStartupFailure = 127,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorUnmapBufferObjectFailed = 206,
  cudaErrorECCUncorrectable = 214,
  cudaErrorDeviceAlreadyInUse = 216,
  cudaErrorSharedObjectSymbolNotFound = 302,
  cudaErrorSharedObjectInitFailed = 303,
  cudaErrorOperatingSystem = 304,
  cudaErrorSetOnActiveProcess = 708,
  cudaErrorTooManyPeers = 711,
  cudaErrorNotPermitted = 800
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// --- Devices

inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1,
                          cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4,
                          cudaDeviceMapHost = 8, cudaDeviceScheduleMask = 7,
                          cudaDeviceSyncMemops = 0x80, cudaDeviceMask = 0xFF;
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4,
  cudaDevP2PAttrOnlyPartialNativeAtomicSupported = 5
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
/// Returns the device that is most similar to the given properties. All devices are alike here, so
/// the function returns device 0.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties);
/// Sets the order of the devices in which a host thread searches for its device. The first device
/// of the list becomes the current device, unless the thread has chosen one already.
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
/// Writes the address of a device on its PCIe bus, such as 0000:01:00.0.
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);

enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);

// --- Memory

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1,
                          cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
                          cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1,
                          cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8,
                          cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes,
                              unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
/// Returns the flags with which cudaHostAlloc allocated memory.
cudaError_t cudaHostGetFlags(unsigned* flags, void* host);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height);
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream = nullptr);

namespace cuda_on_cpu {
cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t size,
                        std::size_t offset, bool to_symbol, bool wait, cudaStream_t stream);
/// Registers that the host has requested the address of a device variable, which the host may
/// access later.
cudaError_t register_symbol_use(const void* symbol, std::size_t size);
/// Returns cudaErrorInvalidSymbol unless the host passes a device variable.
cudaError_t check_symbol(const void* symbol);
}  // namespace cuda_on_cpu

template <typename Value>
cudaError_t cudaMalloc(Value** pointer, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <typename Value>
cudaError_t cudaMallocPitch(Value** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <typename Value>
cudaError_t cudaMallocHost(Value** pointer, std::size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename Value>
cudaError_t cudaHostAlloc(Value** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename Value>
cudaError_t cudaMallocManaged(Value** pointer, std::size_t bytes,
                              unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename Value>
cudaError_t cudaMallocAsync(Value** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <typename Value>
cudaError_t cudaHostGetDevicePointer(Value** device, void* host, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

template <typename Value>
cudaError_t cudaMemcpyToSymbol(const Value& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return cuda_on_cpu::copy_symbol(const_cast<std::remove_const_t<Value>*>(&symbol), from, bytes,
                                  sizeof symbol, offset, true, true, nullptr);
}
template <typename Value>
cudaError_t cudaMemcpyToSymbolAsync(const Value& symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream = nullptr) {
  return cuda_on_cpu::copy_symbol(const_cast<std::remove_const_t<Value>*>(&symbol), from, bytes,
                                  sizeof symbol, offset, true, false, stream);
}
template <typename Value>
cudaError_t cudaMemcpyFromSymbol(void* to, const Value& symbol, std::size_t bytes,
                                 std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return cuda_on_cpu::copy_symbol(to, &symbol, bytes, sizeof symbol, offset, false, true, nullptr);
}
template <typename Value>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const Value& symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind,
                                      cudaStream_t stream = nullptr) {
  return cuda_on_cpu::copy_symbol(to, &symbol, bytes, sizeof symbol, offset, false, false, stream);
}
template <typename Value>
cudaError_t cudaGetSymbolAddress(void** address, const Value& symbol) {
  const cudaError_t error = cuda_on_cpu::register_symbol_use(&symbol, sizeof symbol);
  if (error == cudaSuccess) *address = const_cast<std::remove_const_t<Value>*>(&symbol);
  return error;
}
template <typename Value>
cudaError_t cudaGetSymbolSize(std::size_t* size, const Value& symbol) {
  const cudaError_t error = cuda_on_cpu::check_symbol(&symbol);
  if (error == cudaSuccess) *size = sizeof symbol;
  return error;
}

// --- Streams and events

using cudaEvent_t = struct CUevent_st*;
using cudaHostFn_t = void (*)(void* data);
// The calling convention of callback functions.
#define CUDART_CB
#define CUDARTAPI
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
// Special streams for launches from kernels.
#define cudaStreamTailLaunch (reinterpret_cast<cudaStream_t>(3))
#define cudaStreamFireAndForget (reinterpret_cast<cudaStream_t>(4))
inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0,
                          cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                          cudaEventRecordDefault = 0, cudaEventRecordExternal = 1,
                          cudaEventWaitDefault = 0, cudaEventWaitExternal = 1;

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
/// Returns a number that no other stream of the process has.
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned flags = cudaEventRecordDefault);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// --- Graphs

using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
/// Exchanges the mode that decides which captures forbid unsafe calls to the calling thread.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// --- Kernels

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 15
};
inline constexpr int cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0,
                     cudaSharedmemCarveoutMaxShared = 100;
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes, ptxVersion;
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
/// The range of memory that should stay in the L2 cache. The setting has no effect on the CPU
/// device.
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy {
  cudaSyncPolicyAuto = 1,
  cudaSyncPolicySpin = 2,
  cudaSyncPolicyYield = 3,
  cudaSyncPolicyBlockingSync = 4
};
union cudaLaunchAttributeValue {
  cudaAccessPolicyWindow accessPolicyWindow;
  cudaSynchronizationPolicy syncPolicy;
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace cuda_on_cpu {

using AnyKernel = void (*)();

template <typename... Parameters>
AnyKernel any_kernel(void (*kernel)(Parameters...)) {
  return reinterpret_cast<AnyKernel>(kernel);
}
/// Converts the address of a kernel to the generic type of kernels.
inline AnyKernel any_kernel(const void* kernel) {
  return reinterpret_cast<AnyKernel>(const_cast<void*>(kernel));
}

cudaError_t set_attribute(AnyKernel kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes, AnyKernel kernel);
cudaError_t active_blocks(int* blocks, AnyKernel kernel, int block_size, std::size_t shared);
cudaError_t active_clusters(int* clusters, AnyKernel kernel, const cudaLaunchConfig_t& config);
cudaError_t largest_cluster(int* blocks, AnyKernel kernel, const cudaLaunchConfig_t& config);
cudaError_t available_shared(std::size_t* bytes, AnyKernel kernel, int blocks, int block_size);
/// Finds the block size with which most threads of the kernel are active on an SM, and the number
/// of blocks for the whole device.
/// \param limit the largest block size; 0 if only the kernel limits the size
/// \param shared_of the dynamic shared memory of a block with a given number of threads
cudaError_t best_block(int* grid, int* block, AnyKernel kernel, int limit, unsigned flags,
                       std::size_t (*shared_of)(void* closure, int block_size), void* closure);
cudaError_t check_occupancy_flags(unsigned flags);
/// Returns the mangled name of a kernel.
cudaError_t linked_name(const char** name, AnyKernel kernel);
Configuration configuration(const cudaLaunchConfig_t& config);
/// The name of a kernel without template arguments, from the symbol table of the program.
const char* name_of(AnyKernel kernel);

/// Launches a kernel whose parameter types are known. Copies the bytes at the addresses of its
/// arguments.
template <typename... Parameters>
cudaError_t launch_by_address(void (*kernel)(Parameters...), const Configuration& configuration,
                              void** arguments) {
  return submit(name_of(any_kernel(kernel)), configuration, invocation_of_bytes(kernel, arguments));
}

}  // namespace cuda_on_cpu

template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared = 0, cudaStream_t stream = nullptr) {
  return cuda_on_cpu::launch_by_address(
      kernel, cuda_on_cpu::configuration(grid, block, shared, stream), arguments);
}
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared = 0,
                                        cudaStream_t stream = nullptr) {
  auto configuration = cuda_on_cpu::configuration(grid, block, shared, stream);
  configuration.cooperative = true;
  return cuda_on_cpu::launch_by_address(kernel, configuration, arguments);
}
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return cuda_on_cpu::submit_kernel(cuda_on_cpu::name_of(cuda_on_cpu::any_kernel(kernel)),
                                    cuda_on_cpu::configuration(*config), kernel, arguments...);
}

// Queries and settings of a kernel, which is passed with its function type or as an address.
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cuda_on_cpu::set_attribute(cuda_on_cpu::any_kernel(kernel), attribute, value);
}
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return cuda_on_cpu::get_attributes(attributes, cuda_on_cpu::any_kernel(kernel));
}
template <typename Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel,
                                                          int block_size, std::size_t shared) {
  return cuda_on_cpu::active_blocks(blocks, cuda_on_cpu::any_kernel(kernel), block_size, shared);
}
inline constexpr unsigned cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1;
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel,
                                                                   int block_size,
                                                                   std::size_t shared,
                                                                   unsigned flags) {
  const cudaError_t error = cuda_on_cpu::check_occupancy_flags(flags);
  return error != cudaSuccess
             ? error
             : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared);
}
template <typename Kernel, typename SharedOf>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* grid, int* block, Kernel* kernel, SharedOf shared_of, int limit = 0, unsigned flags = 0) {
  return cuda_on_cpu::best_block(
      grid, block, cuda_on_cpu::any_kernel(kernel), limit, flags,
      [](void* closure, int block_size) -> std::size_t {
        return (*static_cast<SharedOf*>(closure))(block_size);
      },
      &shared_of);
}
template <typename Kernel, typename SharedOf>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel* kernel,
                                                           SharedOf shared_of, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, shared_of,
                                                                 limit);
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Kernel* kernel,
                                                        std::size_t shared = 0, int limit = 0,
                                                        unsigned flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      grid, block, kernel, [=](int) { return shared; }, limit, flags);
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel,
                                               std::size_t shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared, limit);
}
/// Returns how much dynamic shared memory each of `blocks` blocks may have if all of them are
/// active on an SM.
template <typename Kernel>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Kernel* kernel,
                                                      int blocks, int block_size) {
  return cuda_on_cpu::available_shared(bytes, cuda_on_cpu::any_kernel(kernel), blocks, block_size);
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, Kernel* kernel,
                                                 const cudaLaunchConfig_t* config) {
  return cuda_on_cpu::largest_cluster(blocks, cuda_on_cpu::any_kernel(kernel), *config);
}
template <typename Kernel>
cudaError_t cudaFuncGetName(const char** name, Kernel* kernel) {
  return cuda_on_cpu::linked_name(name, cuda_on_cpu::any_kernel(kernel));
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel* kernel,
                                           const cudaLaunchConfig_t* config) {
  return cuda_on_cpu::active_clusters(clusters, cuda_on_cpu::any_kernel(kernel), *config);
}
