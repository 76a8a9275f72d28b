/// \file
/// Driver calls for memory, except the inline functions of driver_api.hpp.

#include "../runtime/memory.hpp"

#include <cstring>
#include <mutex>

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

/// Fills memory with elements of several bytes: enqueues a memset of the runtime and replaces the
/// work of this operation.
/// \param element size of an element in bytes
CUresult fill(CUdeviceptr to, unsigned value, std::size_t element, std::size_t count,
              CUstream stream, const void* place) {
  const Guard guard(runtime_mutex());
  const DriverCall call;
  if (call.refusal() != CUDA_SUCCESS) return call.refusal();
  if (to % element != 0)
    return fail_driver(CUDA_ERROR_INVALID_VALUE,
                       "the address of a memset must be a multiple of the element size, " +
                           std::to_string(element) + " bytes");
  const cudaError_t error = cudaMemsetAsync(pointer_of(to), 0, count * element, stream);
  if (error != cudaSuccess || count == 0) return call.end(error);
  const CUstream_st& in = *find_stream(stream);
  Operation& operation =
      *(in.capture != nullptr ? in.capture->operations.back() : in.pending.back());
  operation.place = place;
  operation.work = [=](const Operation& self) {
    auto* bytes = static_cast<char*>(pointer_of(to));
    analysis::copy_access(bytes, count * element, analysis::write, self);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes + i * element, &value, element);
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
  return fill(to, value, sizeof value, count, nullptr, __builtin_return_address(0));
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(to, value, sizeof value, count, nullptr, __builtin_return_address(0));
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(to, value, sizeof value, count, stream, __builtin_return_address(0));
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(to, value, sizeof value, count, stream, __builtin_return_address(0));
}
