/// \file
/// Implements arrays, textures and surfaces of the driver API: translates the descriptors and calls
/// the runtime.

#include <algorithm>

#include "array.hpp"
#include "cuda_on_cpu/driver_api.hpp"
#include "cuda_on_cpu/textures.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

cudaChannelFormatDesc format_of(CUarray_format format, unsigned channels) {
  const int bits = format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT8 ? 8
                   : format == CU_AD_FORMAT_UNSIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                           format == CU_AD_FORMAT_HALF
                       ? 16
                       : 32;
  const cudaChannelFormatKind kind =
      format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT ? cudaChannelFormatKindFloat
      : format < CU_AD_FORMAT_SIGNED_INT8                         ? cudaChannelFormatKindUnsigned
                                                                  : cudaChannelFormatKindSigned;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

CUarray_format format_of(const cudaChannelFormatDesc& format) {
  if (format.f == cudaChannelFormatKindFloat)
    return format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  const int first = format.f == cudaChannelFormatKindSigned ? CU_AD_FORMAT_SIGNED_INT8
                                                            : CU_AD_FORMAT_UNSIGNED_INT8;
  return static_cast<CUarray_format>(first + (format.x == 16 ? 1 : format.x == 32 ? 2 : 0));
}

/// The source or the destination of a two-dimensional copy.
struct Side {
  cudaArray_t array = nullptr;
  cudaPos at = {};
  cudaPitchedPtr memory = {};
  std::size_t element = 1;
};

Side side_of(CUmemorytype type, void* host, CUdeviceptr device, CUarray array, std::size_t pitch,
             std::size_t x, std::size_t y, const CUDA_MEMCPY2D& copy) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    cudaChannelFormatDesc format{};
    cudaGetChannelDesc(&format, array_of(array));
    const auto element = static_cast<std::size_t>((format.x + format.y + format.z + format.w) / 8);
    return {array_of(array), {x / std::max<std::size_t>(element, 1), y, 0}, {}, element};
  }
  void* memory = type == CU_MEMORYTYPE_HOST ? host : pointer_of(device);
  return {nullptr,
          {x, y, 0},
          {memory, pitch != 0 ? pitch : copy.WidthInBytes, copy.WidthInBytes, copy.Height}};
}

/// The kind of a copy between two sides. For unified memory, the runtime derives the side from the
/// address.
cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  const bool from_host = from == CU_MEMORYTYPE_HOST, to_host = to == CU_MEMORYTYPE_HOST;
  return from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
         : to_host ? cudaMemcpyDeviceToHost
                   : cudaMemcpyDeviceToDevice;
}

/// Translates a copy to the runtime's parameters. The width is in elements if a side is an array,
/// and otherwise in bytes.
cudaMemcpy3DParms copy_of(const CUDA_MEMCPY2D& c) {
  const Side from = side_of(c.srcMemoryType, const_cast<void*>(c.srcHost), c.srcDevice, c.srcArray,
                            c.srcPitch, c.srcXInBytes, c.srcY, c);
  const Side to = side_of(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch,
                          c.dstXInBytes, c.dstY, c);
  const std::size_t element = std::max(from.element, to.element);
  return {from.array,
          from.at,
          from.memory,
          to.array,
          to.at,
          to.memory,
          {c.WidthInBytes / element, c.Height, 1},
          kind_of(c.srcMemoryType, c.dstMemoryType)};
}

}  // namespace

cudaMemcpy3DParms box_of(const CUDA_MEMCPY3D& c) {
  CUDA_MEMCPY2D rows{};
  rows.WidthInBytes = c.WidthInBytes;
  rows.Height = c.Height;
  Side from = side_of(c.srcMemoryType, const_cast<void*>(c.srcHost), c.srcDevice, c.srcArray,
                      c.srcPitch, c.srcXInBytes, c.srcY, rows);
  Side to = side_of(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, c.dstXInBytes,
                    c.dstY, rows);
  from.at.z = c.srcZ;
  to.at.z = c.dstZ;
  if (c.srcHeight != 0) from.memory.ysize = c.srcHeight;
  if (c.dstHeight != 0) to.memory.ysize = c.dstHeight;
  const std::size_t element = std::max(from.element, to.element);
  return {from.array,
          from.at,
          from.memory,
          to.array,
          to.at,
          to.memory,
          {c.WidthInBytes / element, c.Height, c.Depth},
          kind_of(c.srcMemoryType, c.dstMemoryType)};
}

namespace {

cudaMemcpy3DParms box_between_contexts(const CUDA_MEMCPY3D_PEER& c) {
  return box_of(
      CUDA_MEMCPY3D{c.srcXInBytes,   c.srcY,        c.srcZ,         c.srcLOD,   c.srcMemoryType,
                    c.srcHost,       c.srcDevice,   c.srcArray,     nullptr,    c.srcPitch,
                    c.srcHeight,     c.dstXInBytes, c.dstY,         c.dstZ,     c.dstLOD,
                    c.dstMemoryType, c.dstHost,     c.dstDevice,    c.dstArray, nullptr,
                    c.dstPitch,      c.dstHeight,   c.WidthInBytes, c.Height,   c.Depth});
}

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& resource) {
  cudaResourceDesc same{};
  same.resType = static_cast<cudaResourceType>(resource.resType);
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR) {
    const auto& linear = resource.res.linear;
    same.res.linear = {pointer_of(linear.devPtr), format_of(linear.format, linear.numChannels),
                       linear.sizeInBytes};
  } else if (resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
    const auto& rows = resource.res.pitch2D;
    same.res.pitch2D = {pointer_of(rows.devPtr), format_of(rows.format, rows.numChannels),
                        rows.width, rows.height, rows.pitchInBytes};
  } else {
    same.res.array.array = array_of(resource.res.array.hArray);
  }
  return same;
}

/// Whether a texture reads elements without conversion. A conversion turns integers of 8 or 16 bits
/// into fractions.
bool reads_as_it_is(const CUDA_TEXTURE_DESC& how, const cudaResourceDesc& resource) {
  if ((how.flags & CU_TRSF_READ_AS_INTEGER) != 0) return true;
  cudaChannelFormatDesc format = resource.res.linear.desc;
  if (resource.resType == cudaResourceTypePitch2D) format = resource.res.pitch2D.desc;
  if (resource.resType == cudaResourceTypeArray)
    cudaGetChannelDesc(&format, resource.res.array.array);
  return format.f == cudaChannelFormatKindFloat || format.x == 32;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& how, const cudaResourceDesc& resource) {
  cudaTextureDesc same{};
  for (int i = 0; i < 3; ++i)
    same.addressMode[i] = static_cast<cudaTextureAddressMode>(how.addressMode[i]);
  same.filterMode = static_cast<cudaTextureFilterMode>(how.filterMode);
  same.readMode =
      reads_as_it_is(how, resource) ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  same.sRGB = (how.flags & CU_TRSF_SRGB) != 0;
  same.normalizedCoords = (how.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  std::copy_n(how.borderColor, 4, same.borderColor);
  return same;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  if (array == nullptr || descriptor == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const cudaChannelFormatDesc format = format_of(descriptor->Format, descriptor->NumChannels);
  return by_runtime([&] {
    cudaArray_t made = nullptr;
    const cudaError_t error =
        cudaMallocArray(&made, &format, descriptor->Width, descriptor->Height);
    *array = reinterpret_cast<CUarray>(made);
    return error;
  });
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  if (descriptor == nullptr || array == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, array_of(array));
    const unsigned channels = 1u + (format.y != 0) + (format.z != 0) + (format.w != 0);
    *descriptor = {extent.width, extent.height, format_of(format), channels};
    return error;
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return by_runtime([&] { return cudaFreeArray(array_of(array)); });
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  return by_runtime([&] {
    const cudaMemcpy3DParms same = copy_of(*copy);
    return cudaMemcpy3D(&same);
  });
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return by_runtime([&] {
    const cudaMemcpy3DParms same = copy_of(*copy);
    return cudaMemcpy3DAsync(&same, stream);
  });
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return cuMemcpy2D(copy); }

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  if (array == nullptr || descriptor == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  const cudaChannelFormatDesc format = format_of(descriptor->Format, descriptor->NumChannels);
  return by_runtime([&] {
    cudaArray_t made = nullptr;
    const cudaError_t error = cudaMalloc3DArray(
        &made, &format, {descriptor->Width, descriptor->Height, descriptor->Depth},
        descriptor->Flags);
    *array = reinterpret_cast<CUarray>(made);
    return error;
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  if (descriptor == nullptr || array == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, array_of(array));
    const unsigned channels = 1u + (format.y != 0) + (format.z != 0) + (format.w != 0);
    *descriptor = {extent.width, extent.height, extent.depth, format_of(format), channels, flags};
    return error;
  });
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) {
  if (copy == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaMemcpy3DParms same = box_of(*copy);
    return cudaMemcpy3D(&same);
  });
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  if (copy == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaMemcpy3DParms same = box_of(*copy);
    return cudaMemcpy3DAsync(&same, stream);
  });
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  if (copy == nullptr || copy->srcContext == nullptr || copy->dstContext == nullptr)
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaMemcpy3DParms same = box_between_contexts(*copy);
    return cudaMemcpy3D(&same);
  });
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  if (copy == nullptr || copy->srcContext == nullptr || copy->dstContext == nullptr)
    return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaMemcpy3DParms same = box_between_contexts(*copy);
    return cudaMemcpy3DAsync(&same, stream);
  });
}

CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return by_runtime([&] {
    return cudaMemcpyToArray(array_of(to), offset, 0, pointer_of(from), bytes,
                             cudaMemcpyDeviceToDevice);
  });
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return by_runtime([&] {
    return cudaMemcpyFromArray(pointer_of(to), array_of(from), offset, 0, bytes,
                               cudaMemcpyDeviceToDevice);
  });
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return by_runtime([&] {
    return cudaMemcpyToArray(array_of(to), offset, 0, from, bytes, cudaMemcpyHostToDevice);
  });
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return by_runtime([&] {
    return cudaMemcpyFromArray(to, array_of(from), offset, 0, bytes, cudaMemcpyDeviceToHost);
  });
}
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t offset,
                      std::size_t bytes) {
  return by_runtime([&] {
    return cudaMemcpyArrayToArray(array_of(to), to_offset, 0, array_of(from), offset, 0, bytes);
  });
}
CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                           CUstream stream) {
  return by_runtime([&] {
    return cudaMemcpyToArrayAsync(array_of(to), offset, 0, from, bytes, cudaMemcpyHostToDevice,
                                  stream);
  });
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                           CUstream stream) {
  return by_runtime([&] {
    return cudaMemcpyFromArrayAsync(to, array_of(from), offset, 0, bytes, cudaMemcpyDeviceToHost,
                                    stream);
  });
}

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (resource == nullptr || how == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  if (view != nullptr)
    return fail_driver(CUDA_ERROR_NOT_SUPPORTED, "the CPU device does not support resource views");
  return by_runtime([&] {
    const cudaResourceDesc same = resource_of(*resource);
    const cudaTextureDesc in_runtime = texture_of(*how, same);
    return cudaCreateTextureObject(texture, &same, &in_runtime, nullptr);
  });
}

CUresult cuTexObjectDestroy(CUtexObject texture) {
  return by_runtime([&] { return cudaDestroyTextureObject(texture); });
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  if (resource == nullptr) return fail_driver(CUDA_ERROR_INVALID_VALUE);
  return by_runtime([&] {
    const cudaResourceDesc same = resource_of(*resource);
    return cudaCreateSurfaceObject(surface, &same);
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return by_runtime([&] { return cudaDestroySurfaceObject(surface); });
}
