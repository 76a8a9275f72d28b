/// \file
/// Memory of devices that the program maps where it wants it. Each mapping is an allocation that
/// all devices may use once it is given access to: to which of them is not told apart.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "../analysis.hpp"
#include "../immortal.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<std::recursive_mutex>;

constexpr std::size_t granularity = std::size_t{2} << 20;

/// Memory that may be mapped, for as long as a handle or a mapping is left.
struct Physical {
  int file;
  std::size_t bytes;
  CUmemAllocationProp property;
  bool held = true;
};

struct Mapping {
  std::size_t bytes;
  Physical* physical;
  Allocation* allocation = nullptr;  ///< once there is access to it
};

struct Mapped {
  std::map<CUdeviceptr, std::size_t> reserved;
  std::deque<Physical> physical;  // a handle is a number in it, from 1 on
  std::map<CUdeviceptr, Mapping> mappings;
};

Mapped& mapped() {
  static auto& mapped = immortal<Mapped>();
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

/// Whether mappings lie in a range without a gap, each of them as a whole.
bool is_mapped(CUdeviceptr address, std::size_t bytes) {
  const CUdeviceptr end = address + bytes;
  while (address < end) {
    const auto found = mapped().mappings.find(address);
    if (found == mapped().mappings.end()) return false;
    address += found->second.bytes;
  }
  return address == end;
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
  if (bytes == nullptr || !is_property(property)) return refuse("the property is of no device");
  *bytes = granularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  if (address == nullptr || flags != 0 || !is_whole(bytes))
    return refuse("addresses are reserved in multiples of the granularity");
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
    return refuse("the range is none that was reserved");
  const auto inside = mapped().mappings.lower_bound(address);
  if (inside != mapped().mappings.end() && inside->first < address + bytes)
    return refuse("memory is still mapped in the range");
  mapped().reserved.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* property, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  if (const DriverCall call; call.refusal() == CUDA_ERROR_NOT_INITIALIZED) return call.refusal();
  if (handle == nullptr || flags != 0 || !is_whole(bytes) || !is_property(property))
    return refuse("memory is made of a device's, in multiples of the granularity");
  if (property->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return fail_driver(CUDA_ERROR_NOT_SUPPORTED, "memory is not handed to other processes");
  if (!take_memory(property->location.id, bytes)) return fail_driver(CUDA_ERROR_OUT_OF_MEMORY);
  const int file = memfd_create("mapped", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0)
    return fail_driver(CUDA_ERROR_OUT_OF_MEMORY);
  mapped().physical.push_back({file, bytes, *property});
  *handle = mapped().physical.size();
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const Guard guard(runtime_mutex());
  Physical* physical = physical_of(handle);
  if (physical == nullptr) return refuse("the handle is of no memory");
  physical->held = false;
  close(physical->file);  // what is mapped stays
  give_memory_back(physical->property.location.id, physical->bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const Guard guard(runtime_mutex());
  Physical* physical = physical_of(handle);
  if (physical == nullptr || flags != 0 || offset != 0 || bytes != physical->bytes)
    return refuse("memory is mapped as a whole, by its handle");
  if (!is_reserved(address, bytes)) return refuse("the addresses are not reserved");
  const auto after = mapped().mappings.lower_bound(address);
  if (after != mapped().mappings.end() && after->first < address + bytes)
    return fail_driver(CUDA_ERROR_ALREADY_MAPPED);
  if (mmap(pointer_of(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, 0) ==
      MAP_FAILED)
    return fail_driver(CUDA_ERROR_MAP_FAILED);
  mapped().mappings[address] = {bytes, physical};
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const Guard guard(runtime_mutex());
  if (!is_mapped(address, bytes)) return refuse("the range is not what was mapped");
  for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
  const auto first = mapped().mappings.find(address);
  auto last = first;
  for (; last != mapped().mappings.end() && last->first < address + bytes; ++last)
    if (Allocation* allocation = last->second.allocation; allocation != nullptr) {
      analysis::freed(allocation->base, allocation->bytes, __builtin_return_address(0));
      release(allocation);
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
    return refuse("access is given to what is mapped, as a whole");
  const bool any = std::any_of(access, access + count, [](const CUmemAccessDesc& each) {
    return each.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
  if (!any) return fail_driver(CUDA_ERROR_NOT_SUPPORTED, "access is not taken away again");
  mprotect(pointer_of(address), bytes, PROT_READ | PROT_WRITE);
  for (auto at = mapped().mappings.find(address);
       at != mapped().mappings.end() && at->first < address + bytes; ++at)
    if (Mapping& mapping = at->second; mapping.allocation == nullptr)
      mapping.allocation =
          add_mapped(pointer_of(at->first), mapping.bytes, mapping.physical->property.location.id);
  return CUDA_SUCCESS;
}
