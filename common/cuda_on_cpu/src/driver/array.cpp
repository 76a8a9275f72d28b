/// \file
/// Implements arrays, textures and surfaces of the driver API: translates the descriptors and calls
/// the runtime.

#include <algorithm>

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

/// Translates a copy into the runtime's parameters. The width is in elements if the source or the
/// destination is an array, and otherwise in bytes.
cudaMemcpy3DParms copy_of(const CUDA_MEMCPY2D& c) {
  const Side from = side_of(c.srcMemoryType, const_cast<void*>(c.srcHost), c.srcDevice, c.srcArray,
                            c.srcPitch, c.srcXInBytes, c.srcY, c);
  const Side to = side_of(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch,
                          c.dstXInBytes, c.dstY, c);
  const std::size_t element = std::max(from.element, to.element);
  const bool from_host = c.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool to_host = c.dstMemoryType == CU_MEMORYTYPE_HOST;
  const cudaMemcpyKind kind = from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                              : to_host ? cudaMemcpyDeviceToHost
                                        : cudaMemcpyDeviceToDevice;
  return {from.array,
          from.at,
          from.memory,
          to.array,
          to.at,
          to.memory,
          {c.WidthInBytes / element, c.Height, 1},
          kind};
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
