/// \file
/// Memory and events that processes share. In programs that call these functions, device memory is
/// mapped, so that a file can replace the pages of exported memory.

#include <sys/mman.h>
#include <unistd.h>

#include <compare>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/ipc.hpp"
#include "memory.hpp"
#include "shared_events.hpp"
#include "stream.hpp"

// Defined in programs whose device memory can be exported.
extern "C" const char cuda_on_cpu_exports_memory = 1;

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

constexpr std::uint64_t mark_of_memory = 0xC0DE'3E30;
constexpr std::uint64_t mark_of_event = 0xC0DE'E7E7;
constexpr std::uint64_t mark_of_pool = 0xC0DE'9001;

/// The contents of a handle.
struct Handle {
  std::uint64_t mark;
  pid_t process;
  int file;
  std::size_t bytes;
  int device;
  std::uint64_t pool;

  friend auto operator<=>(const Handle&, const Handle&) = default;
};
static_assert(sizeof(Handle) <= cuda_ipc_handle_bytes);

template <typename Opaque>
Opaque told(const Handle& handle) {
  Opaque opaque{};
  std::memcpy(&opaque, &handle, sizeof handle);
  return opaque;
}

template <typename Opaque>
Handle said(const Opaque& opaque) {
  Handle handle;
  std::memcpy(&handle, &opaque, sizeof handle);
  return handle;
}

/// Memory of another process, and how many times the program has opened it.
struct Imported {
  Allocation* allocation;
  unsigned times;
};

std::map<Handle, Imported>& all_imported() {
  static auto& imported = indestructible<std::map<Handle, Imported>>();
  return imported;
}

/// Replaces the pages of an allocation by a file with the same contents. Returns null on failure.
std::shared_ptr<SharedFile> shared_file_of(const Allocation& allocation) {
  auto file = std::make_shared<SharedFile>(allocation.bytes);
  void* const copy = file->map(allocation.bytes);
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, allocation.base, allocation.bytes);
  munmap(copy, allocation.bytes);
  return file->map(allocation.bytes, allocation.base) == nullptr ? nullptr : std::move(file);
}

/// Enables access of the current device to the memory of another device.
cudaError_t enable_peer(int device) {
  if (device == current_device()) return cudaSuccess;
  const cudaError_t error = cudaDeviceEnablePeerAccess(device, 0);
  if (error != cudaErrorPeerAccessAlreadyEnabled) return error;
  cudaGetLastError();
  return cudaSuccess;
}

/// Replaces the memory of an allocation by a file, and returns a handle of the file.
cudaError_t share(Allocation& allocation, Handle& handle) {
  if (allocation.file == nullptr) allocation.file = shared_file_of(allocation);
  if (allocation.file == nullptr) return fail(cudaErrorMemoryAllocation);
  analysis::written_by_others(allocation);
  handle = {mark_of_memory,   getpid(),          allocation.file->file(),
            allocation.bytes, allocation.device, reinterpret_cast<std::uint64_t>(allocation.pool)};
  return lasting_error();
}

/// Maps memory of another process. Returns null if that process has ended.
Allocation* opened(const Handle& handle) {
  void* const base = SharedFile(handle.process, handle.file).map(handle.bytes);
  if (base == nullptr) return nullptr;
  Allocation* allocation = import_memory(base, handle.bytes, handle.device);
  analysis::written_by_others(*allocation);
  return allocation;
}

constexpr const char* has_ended = "the process that shares the memory has ended";

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  const Guard guard(runtime_mutex());
  Allocation* allocation = find_allocation(pointer);
  if (handle == nullptr || allocation == nullptr || allocation->space != MemorySpace::device ||
      !allocation->is_mapped || allocation->is_borrowed)
    return fail(cudaErrorInvalidValue,
                "cudaIpcGetMemHandle needs memory that this process has allocated with cudaMalloc");
  Handle shared{};
  const cudaError_t error = share(*allocation, shared);
  if (error == cudaSuccess) *handle = told<cudaIpcMemHandle_t>(shared);
  return error;
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t opaque, unsigned flags) {
  const Guard guard(runtime_mutex());
  const Handle handle = said(opaque);
  if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess ||
      handle.mark != mark_of_memory)
    return fail(cudaErrorInvalidValue);
  if (handle.process == getpid())
    return fail(cudaErrorDeviceUninitialized,
                "the handle belongs to memory of this process; only another process can open it");
  if (const cudaError_t error = enable_peer(handle.device); error != cudaSuccess) return error;
  Imported& imported = all_imported()[handle];
  if (imported.times == 0) {
    imported.allocation = opened(handle);
    if (imported.allocation == nullptr) {
      all_imported().erase(handle);
      return fail(cudaErrorInvalidResourceHandle, has_ended);
    }
  }
  ++imported.times;
  *pointer = imported.allocation->base;
  return lasting_error();
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  const Guard guard(runtime_mutex());
  for (auto& [handle, imported] : all_imported()) {
    if (imported.allocation->base != pointer) continue;
    for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
    if (--imported.times == 0) {
      release(imported.allocation);
      all_imported().erase(handle);
    }
    return fail(lasting_error());
  }
  return fail(
      cudaErrorInvalidValue,
      "the pointer does not come from cudaIpcOpenMemHandle, or the memory was already closed");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  if (handle == nullptr) return fail(cudaErrorInvalidValue);
  if (event == nullptr || event->shared == nullptr)
    return fail(cudaErrorInvalidResourceHandle,
                "the event was not created with cudaEventInterprocess");
  *handle = told<cudaIpcEventHandle_t>({mark_of_event, getpid(), event->shared->file->file(),
                                        sizeof(EventRecords), event->device, 0});
  return lasting_error();
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t opaque) {
  const Guard guard(runtime_mutex());
  const Handle handle = said(opaque);
  if (event == nullptr) return fail(cudaErrorInvalidValue);
  if (handle.mark != mark_of_event) return fail(cudaErrorMapBufferObjectFailed);
  if (handle.process == getpid())
    return fail(cudaErrorDeviceUninitialized,
                "the handle belongs to an event of this process; only another process can open it");
  auto shared =
      std::make_shared<SharedEvent>(std::make_unique<SharedFile>(handle.process, handle.file));
  if (shared->records == nullptr)
    return fail(cudaErrorMapBufferObjectFailed, "the process that shares the event has ended");
  auto made = std::make_unique<CUevent_st>();
  made->device = current_device();
  made->timing = false;
  made->shared = std::move(shared);
  give_event(event, std::move(made));
  return lasting_error();
}

cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  const Guard guard(runtime_mutex());
  if (handle == nullptr || pool == nullptr || !pool->is_shared || pool->is_imported ||
      type != cudaMemHandleTypePosixFileDescriptor || flags != 0)
    return fail(
        cudaErrorInvalidValue,
        "only a pool that this process has created with cudaMemHandleTypePosixFileDescriptor can "
        "be exported, as this type and with flags 0");
  SharedFile file(sizeof(Handle));
  void* const there = file.map(sizeof(Handle));
  if (there == nullptr) return fail(cudaErrorMemoryAllocation);
  const Handle identity{
      mark_of_pool, getpid(), 0, 0, pool->device, reinterpret_cast<std::uint64_t>(pool)};
  std::memcpy(there, &identity, sizeof identity);
  munmap(there, sizeof(Handle));
  *static_cast<int*>(handle) = file.give_away();
  pool->is_exported = true;
  return lasting_error();
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  const Guard guard(runtime_mutex());
  if (pool == nullptr || type != cudaMemHandleTypePosixFileDescriptor || flags != 0)
    return fail(cudaErrorInvalidValue);
  Handle identity{};
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  if (pread(file, &identity, sizeof identity, 0) != sizeof identity ||
      identity.mark != mark_of_pool)
    return fail(cudaErrorInvalidValue,
                "the handle is not a file descriptor from cudaMemPoolExportToShareableHandle");
  auto made = std::make_unique<CUmemPoolHandle_st>();
  made->device = identity.device;
  made->is_imported = true;
  made->of[0] = static_cast<std::uint64_t>(identity.process);
  made->of[1] = identity.pool;
  *pool = made.release();  // owned by the program until cudaMemPoolDestroy
  return lasting_error();
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  const Guard guard(runtime_mutex());
  Allocation* allocation = find_allocation(pointer);
  if (data == nullptr || allocation == nullptr || allocation->pool == nullptr ||
      !static_cast<const CUmemPoolHandle_st*>(allocation->pool)->is_exported)
    return fail(cudaErrorInvalidValue, "the memory does not belong to a pool that was exported");
  Handle shared{};
  const cudaError_t error = share(*allocation, shared);
  if (error == cudaSuccess) *data = told<cudaMemPoolPtrExportData>(shared);
  return error;
}

cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* data) {
  const Guard guard(runtime_mutex());
  if (pointer == nullptr || pool == nullptr || data == nullptr) return fail(cudaErrorInvalidValue);
  const Handle handle = said(*data);
  if (!pool->is_imported || handle.mark != mark_of_memory || handle.pool != pool->of[1] ||
      static_cast<std::uint64_t>(handle.process) != pool->of[0])
    return fail(cudaErrorInvalidValue,
                "the memory does not belong to this pool, or the pool was not imported");
  Allocation* allocation = opened(handle);
  if (allocation == nullptr) return fail(cudaErrorMapBufferObjectFailed, has_ended);
  *pointer = allocation->base;
  return lasting_error();
}
