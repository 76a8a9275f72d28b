/// \file
/// Functions of the runtime that only give hints, and names from earlier toolkits.

#pragma once

#include "runtime_api.hpp"

// --- Location of managed memory. On the CPU device there is only one location

enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
  cudaMemLocationTypeHostNuma = 3,
  cudaMemLocationTypeHostNumaCurrent = 4
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
inline constexpr unsigned cudaMemAttachSingle = 4;

inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned,
                                        cudaStream_t = nullptr) {
  return cudaPeekAtLastError();
}
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t = nullptr) {
  return cudaPeekAtLastError();
}
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaPeekAtLastError();
}
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int) {
  return cudaPeekAtLastError();
}
template <typename Value>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, Value*, std::size_t = 0,
                                     unsigned = cudaMemAttachSingle) {
  return cudaPeekAtLastError();
}

// --- L2 cache attributes of streams and launches, which are stored but have no effect

using cudaStreamAttrID = cudaLaunchAttributeID;
using cudaStreamAttrValue = cudaLaunchAttributeValue;
inline constexpr cudaStreamAttrID cudaStreamAttributeAccessPolicyWindow =
                                      cudaLaunchAttributeAccessPolicyWindow,
                                  cudaStreamAttributeSynchronizationPolicy =
                                      cudaLaunchAttributeSynchronizationPolicy,
                                  cudaStreamAttributePriority = cudaLaunchAttributePriority;

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaPeekAtLastError(); }

// --- Caches, banks and profilers

enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return cudaPeekAtLastError();
}
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaPeekAtLastError();
}
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  *config = cudaFuncCachePreferNone;
  return cudaPeekAtLastError();
}
template <typename... Parameters>
cudaError_t cudaFuncSetSharedMemConfig(void (*)(Parameters...), cudaSharedMemConfig) {
  return cudaPeekAtLastError();
}
inline cudaError_t cudaProfilerStart() { return cudaPeekAtLastError(); }
inline cudaError_t cudaProfilerStop() { return cudaPeekAtLastError(); }

// --- Names of earlier toolkits

inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
inline cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
inline constexpr unsigned cudaDeviceBlockingSync = cudaDeviceScheduleBlockingSync,
                          cudaDeviceLmemResizeToMax = 16;

/// Overload with the signature of earlier toolkits, which also returns the failed node and a log.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                        cudaGraphNode_t* node, char* log, std::size_t size) {
  if (node != nullptr) *node = nullptr;
  if (log != nullptr && size > 0) *log = '\0';
  return cudaGraphInstantiate(executable, graph, 0);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                 unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
