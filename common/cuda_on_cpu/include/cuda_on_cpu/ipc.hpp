/// \file
/// Memory and events that several processes share.
///
/// When a process records a shared event, all earlier work of the stream is performed immediately,
/// because other processes cannot start the pending work of this process. A process that waits for
/// a shared event therefore waits only for work that is complete or in progress.

#pragma once

#include "memory_pools.hpp"
#include "runtime_api.hpp"

inline constexpr unsigned cudaEventInterprocess = 4, cudaIpcMemLazyEnablePeerAccess = 1;
inline constexpr std::size_t cuda_ipc_handle_bytes = 64;
struct cudaIpcMemHandle_t {
  char reserved[cuda_ipc_handle_bytes];
};
struct cudaIpcEventHandle_t {
  char reserved[cuda_ipc_handle_bytes];
};

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

// --- Memory pools, which processes share through file descriptors

struct cudaMemPoolPtrExportData {
  unsigned char reserved[cuda_ipc_handle_bytes];
};
cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags);
cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer);
cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* data);
