/// \file
/// Memory pools for stream-ordered allocation. The CPU device allocates each block of memory
/// separately, so a pool stores only its attributes and its device.

#pragma once

#include <cstddef>

#include "runtime_api.hpp"
#include "runtime_hints.hpp"

enum cudaMemAllocationType {
  cudaMemAllocationTypeInvalid = 0,
  cudaMemAllocationTypePinned = 1,
  cudaMemAllocationTypeManaged = 2
};
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2,
  cudaMemHandleTypeWin32Kmt = 4,
  cudaMemHandleTypeFabric = 8
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
};

struct CUmemPoolHandle_st {
  int device = 0;
  int reuse[4] = {1, 1, 1, 1};  ///< indexed by attribute; the first element is unused
  unsigned long long threshold = 0;
  bool is_shared = false;      ///< whether other processes may import the pool
  bool is_exported = false;    ///< whether the pool has been exported through a file
  bool is_imported = false;    ///< whether another process has created the pool
  unsigned long long of[2]{};  ///< if imported: exporting process, index of the pool
  bool lets[64]{};             ///< for each other device, whether it may access the memory
};
using cudaMemPool_t = CUmemPoolHandle_st*;

namespace cuda_on_cpu {

/// Registers the pool from which memory was allocated.
void note_pool(const void* memory, cudaMemPool_t pool);

/// Calls a function of the runtime with `device` as the current device.
template <typename Call>
cudaError_t on_device(int device, const Call& call) {
  int before = 0;
  cudaGetDevice(&before);
  cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) error = call();
  cudaSetDevice(before);
  return error;
}

inline CUmemPoolHandle_st& default_pool(int device) {
  static CUmemPoolHandle_st pools[64];
  pools[device].device = device;
  return pools[device];
}

inline cudaMemPool_t& chosen_pool(int device) {
  static cudaMemPool_t pools[64] = {};
  if (pools[device] == nullptr) pools[device] = &default_pool(device);
  return pools[device];
}

}  // namespace cuda_on_cpu

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return cuda_on_cpu::on_device(device, [=] {
    *pool = &cuda_on_cpu::default_pool(device);
    return cudaSuccess;
  });
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cuda_on_cpu::on_device(device, [=] {
    *pool = cuda_on_cpu::chosen_pool(device);
    return cudaSuccess;
  });
}
inline cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (pool == nullptr || pool->device != device) return cudaErrorInvalidValue;
  cuda_on_cpu::chosen_pool(device) = pool;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (properties->location.type != cudaMemLocationTypeDevice ||
      properties->handleTypes > cudaMemHandleTypePosixFileDescriptor)
    return cudaErrorNotSupported;
  return cuda_on_cpu::on_device(properties->location.id, [=] {
    *pool = new CUmemPoolHandle_st();
    (*pool)->device = properties->location.id;
    (*pool)->is_shared = properties->handleTypes != cudaMemHandleTypeNone;
    return cudaSuccess;
  });
}
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool == nullptr || pool == &cuda_on_cpu::default_pool(pool->device))
    return cudaErrorInvalidValue;
  if (cuda_on_cpu::chosen_pool(pool->device) == pool)
    cuda_on_cpu::chosen_pool(pool->device) = &cuda_on_cpu::default_pool(pool->device);
  delete pool;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                           void* value) {
  if (attribute <= cudaMemPoolReuseAllowInternalDependencies)
    pool->reuse[attribute] = *static_cast<int*>(value);
  else if (attribute == cudaMemPoolAttrReleaseThreshold)
    pool->threshold = *static_cast<unsigned long long*>(value);
  return cudaSuccess;
}
/// The attributes for reserved and used bytes return all allocated bytes of the device, including
/// bytes outside the pool.
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                           void* value) {
  if (attribute <= cudaMemPoolReuseAllowInternalDependencies) {
    *static_cast<int*>(value) = pool->reuse[attribute];
    return cudaSuccess;
  }
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    *static_cast<unsigned long long*>(value) = pool->threshold;
    return cudaSuccess;
  }
  return cuda_on_cpu::on_device(pool->device, [=] {
    std::size_t free = 0, total = 0;
    const cudaError_t error = cudaMemGetInfo(&free, &total);
    *static_cast<unsigned long long*>(value) = total - free;
    return error;
  });
}

/// Grants other devices access to the memory of a pool. The function enables peer access, so these
/// devices can access all memory of the pool's device.
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* allowed,
                                        std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (allowed[i].location.id == pool->device || allowed[i].flags == cudaMemAccessFlagsProtNone)
      continue;
    const cudaError_t error = cuda_on_cpu::on_device(
        allowed[i].location.id, [=] { return cudaDeviceEnablePeerAccess(pool->device, 0); });
    if (error == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();
    else if (error != cudaSuccess)
      return error;
  }
  for (std::size_t i = 0; i < count; ++i)
    pool->lets[allowed[i].location.id] = allowed[i].flags != cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                        cudaMemLocation* location) {
  return cuda_on_cpu::on_device(location->id, [=] {
    const bool may = location->id == pool->device || pool->lets[location->id];
    *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

inline cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream) {
  if (pool == nullptr || pool->is_imported) return cudaErrorInvalidValue;
  return cuda_on_cpu::on_device(pool->device, [=] {
    const cudaError_t error = cudaMallocAsync(pointer, bytes, stream);
    if (error == cudaSuccess) cuda_on_cpu::note_pool(*pointer, pool);
    return error;
  });
}
template <typename Value>
cudaError_t cudaMallocFromPoolAsync(Value** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <typename Value>
cudaError_t cudaMallocAsync(Value** pointer, std::size_t bytes, cudaMemPool_t pool,
                            cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
