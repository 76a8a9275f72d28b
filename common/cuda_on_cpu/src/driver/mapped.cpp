/// \file
/// Virtual memory management: the program maps device memory at addresses that it has reserved.
/// Each mapping becomes an allocation when the program gives access to it. All devices may then use
/// the allocation, even if the call of cuMemSetAccess names only some of them.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

constexpr std::size_t granularity = std::size_t{2} << 20;

/// Describes physical memory that one process exports as a file, for the processes that import the
/// file. In the file, the label follows the memory.
struct Label {
  std::uint64_t mark;
  std::uint64_t bytes;
  CUmemAllocationProp property;
};
constexpr std::uint64_t mark_of_mapped = 0x6375646f6e637075;

/// Physical memory, which exists until its handle is released and all its mappings are removed.
struct Physical {
  int file;
  std::size_t bytes;
  CUmemAllocationProp property;
  bool is_imported = false;  ///< whether the memory is imported, and therefore not counted for a
                             ///< device
  bool is_shared = false;    ///< whether other processes may access the memory
  bool held = true;
  unsigned mappings = 0;

  bool is_left() const { return held || mappings > 0; }
};

struct Mapping {
  std::size_t bytes;
  Physical* physical;
  Allocation* allocation = nullptr;  ///< null until cuMemSetAccess gives access
};

struct Mapped {
  std::map<CUdeviceptr, std::size_t> reserved;
  std::deque<Physical> physical;  // a handle is the index of an element plus 1
  std::map<CUdeviceptr, Mapping> mappings;
};

Mapped& mapped() {
  static auto& mapped = indestructible<Mapped>();
  return mapped;
}

Physical* physical_of(CUmemGenericAllocationHandle handle) {
  auto& all = mapped().physical;
  return handle >= 1 && handle <= all.size() && all[handle - 1].held ? &all[handle - 1] : nullptr;
}

bool is_whole(std::size_t bytes) { return bytes > 0 && bytes % granularity == 0; }

bool is_reserved(CUdeviceptr address, std::size_t bytes) {
  const auto& all = mapped().reserved;
  const auto after = all.upper_bound(address);
  if (after == all.begin()) return false;
  const auto& [begin, whole] = *std::prev(after);
  return address + bytes <= begin + whole;
}

/// Whether a range consists of complete mappings without gaps.
bool is_mapped(CUdeviceptr address, std::size_t bytes) {
  const CUdeviceptr end = address + bytes;
  while (address < end) {
    const auto found = mapped().mappings.find(address);
    if (found == mapped().mappings.end()) return false;
    address += found->second.bytes;
  }
  return address == end;
}

/// Returns physical memory to its device if no handle and no mapping is left.
void give_back_unless_left(const Physical& physical) {
  if (!physical.is_left() && !physical.is_imported)
    give_memory_back(physical.property.location.id, physical.bytes);
}

CUresult refuse(const char* sentence) { return fail_driver(CUDA_ERROR_INVALID_VALUE, sentence); }

bool is_property(const CUmemAllocationProp* property) {
  return property != nullptr && property->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         property->location.type == CU_MEM_LOCATION_TYPE_DEVICE && property->location.id >= 0 &&
         property->location.id < settings().devices;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* property,
                                       CUmemAllocationGranularity_flags) {
  if (bytes == nullptr || !is_property(property))
    return refuse(
        "cuMemGetAllocationGranularity needs properties of pinned memory on a device of this "
        "process");
  *bytes = granularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  if (address == nullptr || flags != 0 || !is_whole(bytes))
    return refuse(
        "cuMemAddressReserve needs flags 0 and a size that is a multiple of the granularity");
  const std::size_t step = std::max(alignment, granularity);
  void* found =
      mmap(nullptr, bytes + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return fail_driver(CUDA_ERROR_OUT_OF_MEMORY);
  *address = (reinterpret_cast<CUdeviceptr>(found) + step - 1) / step * step;
  mapped().reserved[*address] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  const Guard guard(runtime_mutex());
  const auto found = mapped().reserved.find(address);
  if (found == mapped().reserved.end() || found->second != bytes)
    return refuse("cuMemAddressFree needs the address and the size of a whole reserved range");
  const auto inside = mapped().mappings.lower_bound(address);
  if (inside != mapped().mappings.end() && inside->first < address + bytes)
    return refuse("memory is still mapped in the range; unmap it first");
  mapped().reserved.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* property, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  if (const DriverCall call; call.refusal() == CUDA_ERROR_NOT_INITIALIZED) return call.refusal();
  if (handle == nullptr || flags != 0 || !is_whole(bytes) || !is_property(property))
    return refuse(
        "cuMemCreate needs properties of pinned memory on a device of this process, flags 0, and a "
        "size that is a multiple of the granularity");
  if (property->requestedHandleTypes > CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return fail_driver(CUDA_ERROR_NOT_SUPPORTED,
                       "the CPU device exports memory only as a file descriptor "
                       "(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)");
  if (!take_memory(property->location.id, bytes)) return fail_driver(CUDA_ERROR_OUT_OF_MEMORY);
  const int file = memfd_create("mapped", MFD_CLOEXEC);
  const Label label{mark_of_mapped, bytes, *property};
  if (file < 0 || pwrite(file, &label, sizeof label, static_cast<off_t>(bytes)) != sizeof label) {
    if (file >= 0) close(file);
    give_memory_back(property->location.id, bytes);
    return fail_driver(CUDA_ERROR_OUT_OF_MEMORY);
  }
  mapped().physical.push_back({file, bytes, *property});
  *handle = mapped().physical.size();
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const Guard guard(runtime_mutex());
  Physical* physical = physical_of(handle);
  if (physical == nullptr) return refuse("the handle does not belong to any memory");
  physical->held = false;
  close(physical->file);  // the mappings of the file stay valid
  give_back_unless_left(*physical);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* property,
                                                CUmemGenericAllocationHandle handle) {
  const Guard guard(runtime_mutex());
  const Physical* physical = physical_of(handle);
  if (property == nullptr || physical == nullptr)
    return refuse("the handle does not belong to any memory");
  *property = physical->property;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* file, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  Physical* physical = physical_of(handle);
  if (file == nullptr || physical == nullptr || flags != 0 || type == CU_MEM_HANDLE_TYPE_NONE ||
      type != physical->property.requestedHandleTypes)
    return refuse(
        "cuMemExportToShareableHandle needs flags 0 and the handle type that was requested from "
        "cuMemCreate");
  const int copy = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return fail_driver(CUDA_ERROR_OUT_OF_MEMORY);
  *static_cast<int*>(file) = copy;
  physical->is_shared = true;
  for (const auto& [address, mapping] : mapped().mappings)
    if (mapping.physical == physical && mapping.allocation != nullptr)
      analysis::written_by_others(*mapping.allocation);
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* file,
                                        CUmemAllocationHandleType type) {
  const Guard guard(runtime_mutex());
  if (const DriverCall call; call.refusal() == CUDA_ERROR_NOT_INITIALIZED) return call.refusal();
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return refuse(
        "the CPU device imports memory only from a file descriptor "
        "(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)");
  const int copy =
      fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(file)), F_DUPFD_CLOEXEC, 0);
  const off_t end = lseek(copy, 0, SEEK_END);
  Label label{};
  if (end < static_cast<off_t>(sizeof label) ||
      pread(copy, &label, sizeof label, end - static_cast<off_t>(sizeof label)) != sizeof label ||
      label.mark != mark_of_mapped || label.bytes + sizeof label != static_cast<std::size_t>(end)) {
    if (copy >= 0) close(copy);
    return refuse("the file descriptor does not come from cuMemExportToShareableHandle");
  }
  if (!is_property(&label.property)) {
    close(copy);
    return fail_driver(
        CUDA_ERROR_INVALID_DEVICE,
        "the memory belongs to device " + std::to_string(label.property.location.id) +
            ", but the number of devices of this process is " + std::to_string(settings().devices));
  }
  mapped().physical.push_back({copy, label.bytes, label.property, true, true});
  *handle = mapped().physical.size();
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  Physical* physical = physical_of(handle);
  if (physical == nullptr || flags != 0 || offset != 0 || bytes != physical->bytes)
    return refuse(
        "cuMemMap maps only whole allocations: it needs a valid handle, offset 0, flags 0, and the "
        "size that cuMemCreate received");
  if (!is_reserved(address, bytes))
    return refuse("the addresses are not reserved; call cuMemAddressReserve first");
  const auto after = mapped().mappings.lower_bound(address);
  if (after != mapped().mappings.end() && after->first < address + bytes)
    return refuse("memory is already mapped in the range");
  if (mmap(pointer_of(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, 0) ==
      MAP_FAILED)
    return fail_driver(CUDA_ERROR_MAP_FAILED);
  mapped().mappings[address] = {bytes, physical};
  ++physical->mappings;
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const Guard guard(runtime_mutex());
  if (!is_mapped(address, bytes))
    return refuse("the range does not consist of whole mapped ranges");
  for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
  const auto first = mapped().mappings.find(address);
  auto last = first;
  for (; last != mapped().mappings.end() && last->first < address + bytes; ++last) {
    if (Allocation* allocation = last->second.allocation; allocation != nullptr) {
      analysis::freed(allocation->base, allocation->bytes, __builtin_return_address(0));
      release(allocation);
    }
    --last->second.physical->mappings;
    give_back_unless_left(*last->second.physical);
  }
  mapped().mappings.erase(first, last);
  mmap(pointer_of(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  const Guard guard(runtime_mutex());
  if (access == nullptr || count == 0 || !is_mapped(address, bytes))
    return refuse(
        "cuMemSetAccess needs at least one access descriptor, and the address and the size of "
        "whole mapped ranges");
  const bool any = std::any_of(access, access + count, [](const CUmemAccessDesc& each) {
    return each.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
  if (!any)
    return fail_driver(CUDA_ERROR_NOT_SUPPORTED,
                       "the CPU device cannot revoke access to mapped memory");
  mprotect(pointer_of(address), bytes, PROT_READ | PROT_WRITE);
  for (auto at = mapped().mappings.find(address);
       at != mapped().mappings.end() && at->first < address + bytes; ++at)
    if (Mapping& mapping = at->second; mapping.allocation == nullptr) {
      mapping.allocation =
          add_mapped(pointer_of(at->first), mapping.bytes, mapping.physical->property.location.id);
      if (mapping.physical->is_shared) analysis::written_by_others(*mapping.allocation);
    }
  return CUDA_SUCCESS;
}
