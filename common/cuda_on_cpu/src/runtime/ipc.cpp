/// \file
/// Memory and events that processes share. In programs that call this, memory of the device is
/// mapped, so that a file can take its place when it is exported.

#include <sys/mman.h>
#include <unistd.h>

#include <compare>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "../analysis.hpp"
#include "../immortal.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/ipc.hpp"
#include "memory.hpp"
#include "shared_events.hpp"
#include "stream.hpp"

// Who links this has memory that can be exported.
extern "C" const char cuda_on_cpu_exports_memory = 1;

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<std::recursive_mutex>;

constexpr std::uint64_t mark_of_memory = 0xC0DE'3E30;
constexpr std::uint64_t mark_of_event = 0xC0DE'E7E7;

/// What a handle says.
struct Handle {
  std::uint64_t mark;
  pid_t process;
  int file;
  std::size_t bytes;
  int device;

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

/// Memory of another process, and how often it is open.
struct Imported {
  Allocation* allocation;
  unsigned times;
};

std::map<Handle, Imported>& all_imported() {
  static auto& imported = immortal<std::map<Handle, Imported>>();
  return imported;
}

/// Puts a file in the place of an allocation's memory; null if that fails.
std::shared_ptr<SharedFile> shared_file_of(const Allocation& allocation) {
  auto file = std::make_shared<SharedFile>(allocation.bytes);
  void* const copy = file->map(allocation.bytes);
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, allocation.base, allocation.bytes);
  munmap(copy, allocation.bytes);
  return file->map(allocation.bytes, allocation.base) == nullptr ? nullptr : std::move(file);
}

/// Lets the current device use memory of another one.
cudaError_t enable_peer(int device) {
  if (device == current_device()) return cudaSuccess;
  const cudaError_t error = cudaDeviceEnablePeerAccess(device, 0);
  if (error != cudaErrorPeerAccessAlreadyEnabled) return error;
  cudaGetLastError();
  return cudaSuccess;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  const Guard guard(runtime_mutex());
  Allocation* allocation = find_allocation(pointer);
  if (handle == nullptr || allocation == nullptr || allocation->space != MemorySpace::device ||
      !allocation->is_mapped || allocation->is_borrowed)
    return fail(cudaErrorInvalidValue, "only memory of this process by cudaMalloc is shared");
  if (allocation->file == nullptr) allocation->file = shared_file_of(*allocation);
  if (allocation->file == nullptr) return fail(cudaErrorMemoryAllocation);
  analysis::written_by_others(*allocation);
  *handle = told<cudaIpcMemHandle_t>(
      {mark_of_memory, getpid(), allocation->file->file(), allocation->bytes, allocation->device});
  return lasting_error();
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t opaque, unsigned flags) {
  const Guard guard(runtime_mutex());
  const Handle handle = said(opaque);
  if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess ||
      handle.mark != mark_of_memory)
    return fail(cudaErrorInvalidValue);
  if (handle.process == getpid())
    return fail(cudaErrorDeviceUninitialized, "it is this process that shares the memory");
  if (const cudaError_t error = enable_peer(handle.device); error != cudaSuccess) return error;
  Imported& imported = all_imported()[handle];
  if (imported.times == 0) {
    void* const base = SharedFile(handle.process, handle.file).map(handle.bytes);
    if (base == nullptr) {
      all_imported().erase(handle);
      return fail(cudaErrorMapBufferObjectFailed, "the process that shares the memory has ended");
    }
    imported.allocation = import_memory(base, handle.bytes, handle.device);
    analysis::written_by_others(*imported.allocation);
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
  return fail(cudaErrorInvalidValue, "it closes memory that was not opened");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  const Guard guard(runtime_mutex());
  if (handle == nullptr) return fail(cudaErrorInvalidValue);
  if (event == nullptr || event->shared == nullptr)
    return fail(cudaErrorInvalidResourceHandle, "the event is not made with cudaEventInterprocess");
  *handle = told<cudaIpcEventHandle_t>(
      {mark_of_event, getpid(), event->shared->file->file(), sizeof(EventRecords), event->device});
  return lasting_error();
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t opaque) {
  const Guard guard(runtime_mutex());
  const Handle handle = said(opaque);
  if (event == nullptr || handle.mark != mark_of_event) return fail(cudaErrorInvalidValue);
  if (handle.process == getpid())
    return fail(cudaErrorDeviceUninitialized, "it is this process that shares the event");
  auto shared =
      std::make_shared<SharedEvent>(std::make_unique<SharedFile>(handle.process, handle.file));
  if (shared->records == nullptr)
    return fail(cudaErrorMapBufferObjectFailed, "the process that shares the event has ended");
  auto made = std::make_unique<CUevent_st>();
  made->device = current_device();
  made->timing = false;
  made->shared = std::move(shared);
  *event = made.release();  // cudaEventDestroy takes it back
  return lasting_error();
}
