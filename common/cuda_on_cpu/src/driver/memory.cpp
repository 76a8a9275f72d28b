/// \file
/// Driver calls for memory, except the inline functions of driver_api.hpp.

#include "../runtime/memory.hpp"

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "../analysis.hpp"
#include "../runtime/stream.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// Allocates memory with `allocate`, which calls a function of the runtime and stores the pointer.
/// \returns the translated error of this function; CUDA_ERROR_INVALID_VALUE if `address` is null or
/// `bytes` is 0
template <typename Allocate>
CUresult allocate_by(CUdeviceptr* address, std::size_t bytes, const Allocate& allocate) {
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (address == nullptr || bytes == 0)
    return fail_driver(CUDA_ERROR_INVALID_VALUE,
                       "the number of bytes is 0, or the pointer for the address is null");
  void* pointer = nullptr;
  const CUresult error = call.end(allocate(&pointer));
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return error;
}

/// The rows that a memset fills: their distance in bytes, and their lengths in elements.
struct Rows {
  std::size_t pitch, width, height;
};
Rows line(std::size_t count) { return {0, count, 1}; }

/// Fills memory with elements of several bytes: enqueues a memset of the runtime and replaces the
/// work of this operation.
/// \param element size of an element in bytes
CUresult fill(CUdeviceptr to, unsigned value, std::size_t element, const Rows& rows,
              CUstream stream, const void* place) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (to % element != 0 || rows.pitch % element != 0)
    return fail_driver(CUDA_ERROR_INVALID_VALUE,
                       "the address and the pitch of a memset must be multiples of the element "
                       "size, " +
                           std::to_string(element) + " bytes");
  const std::size_t width = rows.width * element;
  if (rows.height > 1 && rows.pitch < width)
    return fail_driver(CUDA_ERROR_INVALID_VALUE,
                       "the pitch of a memset, " + std::to_string(rows.pitch) +
                           " bytes, is less than the width of its rows, " + std::to_string(width));
  const cudaError_t error =
      cudaMemset2DAsync(pointer_of(to), rows.pitch, 0, width, rows.height, stream);
  if (error != cudaSuccess || width == 0 || rows.height == 0) return call.end(error);
  const CUstream_st& in = *find_stream(stream);
  Operation& operation =
      *(in.capture != nullptr ? in.capture->operations.back() : in.pending.back());
  operation.place = place;
  operation.work = [=](const Operation& self) {
    for (std::size_t y = 0; y < rows.height; ++y) {
      auto* bytes = static_cast<char*>(pointer_of(to)) + y * rows.pitch;
      analysis::copy_access(bytes, width, analysis::write, self);
      for (std::size_t x = 0; x < width; x += element) std::memcpy(bytes + x, &value, element);
    }
    return true;
  };
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return allocate_by(address, bytes, [&](void** pointer) { return cudaMalloc(pointer, bytes); });
}

CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element) {
  if (element != 4 && element != 8 && element != 16) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return allocate_by(address, width * height, [&](void** pointer) {
    return cudaMallocPitch(pointer, pitch, width, height);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return allocate_by(address, bytes,
                     [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate_by(address, bytes,
                     [&](void** pointer) { return cudaMallocAsync(pointer, bytes, stream); });
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return by_runtime([&] { return cudaHostAlloc(pointer, bytes, flags); });
}
CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return by_runtime([&] { return cudaHostRegister(pointer, bytes, flags); });
}
CUresult cuMemHostUnregister(void* pointer) {
  return by_runtime([&] { return cudaHostUnregister(pointer); });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned flags) {
  return by_runtime([&] {
    void* pointer = nullptr;
    const cudaError_t error = cudaHostGetDevicePointer(&pointer, host, flags);
    *address = reinterpret_cast<CUdeviceptr>(pointer);
    return error;
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  const Allocation* allocation = find_allocation(pointer_of(address));
  if (allocation == nullptr) return fail_driver(CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) *base = reinterpret_cast<CUdeviceptr>(allocation->base);
  if (bytes != nullptr) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  const Allocation* allocation = find_allocation(pointer_of(address));
  if (value == nullptr || allocation == nullptr)
    return fail_driver(CUDA_ERROR_INVALID_VALUE,
                       "the address does not belong to any allocation of CUDA");
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          allocation->on_host() && allocation->space != MemorySpace::managed ? CU_MEMORYTYPE_HOST
                                                                             : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!allocation->on_host()) return fail_driver(CUDA_ERROR_INVALID_VALUE);
      *static_cast<void**>(value) = pointer_of(address);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = allocation->space == MemorySpace::managed;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = allocation->device;
      return CUDA_SUCCESS;
    default:
      return fail_driver(CUDA_ERROR_NOT_SUPPORTED);
  }
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(to, value, sizeof value, line(count), nullptr, __builtin_return_address(0));
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(to, value, sizeof value, line(count), nullptr, __builtin_return_address(0));
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(to, value, sizeof value, line(count), stream, __builtin_return_address(0));
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(to, value, sizeof value, line(count), stream, __builtin_return_address(0));
}

CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return fill(to, value, sizeof value, {pitch, width, height}, nullptr,
              __builtin_return_address(0));
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, value, sizeof value, {pitch, width, height}, stream, __builtin_return_address(0));
}
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
  return fill(to, value, sizeof value, {pitch, width, height}, nullptr,
              __builtin_return_address(0));
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill(to, value, sizeof value, {pitch, width, height}, stream, __builtin_return_address(0));
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return fill(to, value, sizeof value, {pitch, width, height}, nullptr,
              __builtin_return_address(0));
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill(to, value, sizeof value, {pitch, width, height}, stream, __builtin_return_address(0));
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                CUdeviceptr address) {
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (attributes == nullptr || values == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < count; ++i) {
    const CUresult error = cuPointerGetAttribute(values[i], attributes[i], address);
    if (error == CUDA_ERROR_NOT_SUPPORTED) return error;
    if (error == CUDA_SUCCESS || values[i] == nullptr) continue;
    const bool is_number = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                           attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED;
    if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
      *static_cast<int*>(values[i]) = -2;  // as the runtime reports for unregistered memory
    else
      std::memset(values[i], 0, is_number ? sizeof(unsigned) : sizeof(void*));
  }
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return by_runtime([&] { return cudaHostGetFlags(flags, host); });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  cudaMemPoolProps same{};
  same.allocType = static_cast<cudaMemAllocationType>(properties->allocType);
  same.handleTypes = static_cast<cudaMemAllocationHandleType>(properties->handleTypes);
  same.location = {static_cast<cudaMemLocationType>(properties->location.type),
                   properties->location.id};
  same.maxSize = properties->maxSize;
  return by_runtime([&] { return cudaMemPoolCreate(pool, &same); });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return by_runtime([&] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return by_runtime([&] { return cudaMemPoolTrimTo(pool, bytes); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  if (pool == nullptr || value == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] { return cudaMemPoolSetAttribute(pool, attribute, value); });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  if (pool == nullptr || value == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] { return cudaMemPoolGetAttribute(pool, attribute, value); });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* allowed, std::size_t count) {
  if (pool == nullptr || (allowed == nullptr && count > 0))
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  std::vector<cudaMemAccessDesc> same;
  for (std::size_t i = 0; i < count; ++i)
    same.push_back(
        {{static_cast<cudaMemLocationType>(allowed[i].location.type), allowed[i].location.id},
         static_cast<cudaMemAccessFlags>(allowed[i].flags)});
  return by_runtime([&] { return cudaMemPoolSetAccess(pool, same.data(), count); });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  if (flags == nullptr || pool == nullptr || location == nullptr)
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  cudaMemAccessFlags found{};
  cudaMemLocation same = {static_cast<cudaMemLocationType>(location->type), location->id};
  const CUresult error = by_runtime([&] { return cudaMemPoolGetAccess(&found, pool, &same); });
  *flags = static_cast<CUmemAccess_flags>(found);
  return error;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate_by(address, bytes, [&](void** pointer) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
  });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return by_runtime([&] { return cudaIpcGetMemHandle(handle, pointer_of(address)); });
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  if (address == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  void* pointer = nullptr;
  const CUresult error = by_runtime([&] { return cudaIpcOpenMemHandle(&pointer, handle, flags); });
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return error;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return by_runtime([&] { return cudaIpcCloseMemHandle(pointer_of(address)); });
}
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return by_runtime([&] { return cudaIpcGetEventHandle(handle, event); });
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return by_runtime([&] { return cudaIpcOpenEventHandle(event, handle); });
}
