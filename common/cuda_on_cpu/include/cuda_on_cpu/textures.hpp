/// \file
/// CUDA arrays, texture objects and surface objects. Texture references, which CUDA 12 removed, are
/// not supported.

#pragma once

#include "runtime_api.hpp"
#include "vectors.hpp"

// --- Formats

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};

/// A texel format: the number of bits of each channel, and the kind of the values.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

namespace cuda_on_cpu {

/// The number of channels of a texel type, and the type of a channel. A scalar has one channel.
template <typename Texel, typename = void>
struct Channels {
  using Number = Texel;
  static constexpr int count = 1;
};
template <typename Texel>
struct Channels<Texel, std::void_t<decltype(Texel::x)>> {
  using Number = decltype(Texel::x);
  static constexpr int count = sizeof(Texel) / sizeof(Number);
};

}  // namespace cuda_on_cpu

template <typename Texel>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Number = typename cuda_on_cpu::Channels<Texel>::Number;
  constexpr int bits = 8 * sizeof(Number), count = cuda_on_cpu::Channels<Texel>::count;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
          std::is_floating_point<Number>::value ? cudaChannelFormatKindFloat
          : std::is_signed<Number>::value       ? cudaChannelFormatKindSigned
                                                : cudaChannelFormatKindUnsigned};
}

// --- Arrays

struct cudaArray;
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;

inline constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                          cudaArrayCubemap = 4, cudaArrayTextureGather = 8;

struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, std::size_t pitch, std::size_t width,
                                          std::size_t height) {
  return {pointer, pitch, width, height};
}

/// The parameters of a three-dimensional copy. In x, positions and extents are in elements for
/// arrays, and in bytes for other memory.
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

/// The parameters of a three-dimensional copy between devices.
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height = 0, unsigned flags = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent);
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters);
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters,
                                  cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t x, std::size_t y,
                                   std::size_t bytes,
                                   cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind);

// --- Textures and surfaces

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface);

// All fetches are inline, so that the analysis attributes their loads to the source line of the
// fetch.
namespace cuda_on_cpu {

/// A texel that a fetch uses, and its weight.
struct Sample {
  const char* texel;  ///< null for the border colour
  float weight;
};

/// The texels that a fetch reads: one texel, or the neighbours of a point in one to three
/// dimensions.
struct Samples {
  Sample at[8];
  int count;
  bool normalised;  ///< whether integers are converted to fractions of their range
  cudaChannelFormatDesc format;
  float border[4];
};

Samples samples(cudaTextureObject_t texture, int dimensions, float x, float y, float z, int layer);
Samples samples_of_cube(cudaTextureObject_t texture, float x, float y, float z, int layer);
Samples sample_of_linear(cudaTextureObject_t texture, int i);
char* surface_texel(cudaSurfaceObject_t surface, int dimensions, int x, int y, int z, int layer,
                    std::size_t bytes, cudaSurfaceBoundaryMode mode);

/// The memory layout of a texture, for fetches that need no conversion.
struct PlainImage {
  static constexpr cudaTextureObject_t none = ~0ULL;

  cudaTextureObject_t by_one = none;   ///< handle of a texture whose fetches read one texel; `none`
                                       ///< after its destruction
  cudaTextureObject_t between = none;  ///< handle of a texture whose fetches interpolate; `none`
                                       ///< after its destruction
  const char* data = nullptr;
  std::size_t element = 0, pitch = 0, slice = 0;
  float scale[3] = {}, extent[3] = {};  ///< scale factor of each coordinate, and upper bound of the
                                        ///< scaled coordinate
};

/// The most recently used textures, at the index `handle % most_plain_images`.
inline constexpr unsigned most_plain_images = 8;
extern __thread const PlainImage* plain_images[most_plain_images] CUDA_ON_CPU_OF_PROGRAM;

/// The address of the texel at a point in an image, or null if the point is outside the image.
__forceinline__ const char* texel_within(const PlainImage& image, int dimensions, float x, float y,
                                         float z) {
  const char* texel = image.data;
  const float at[] = {x, y, z};
  const std::size_t steps[] = {image.element, image.pitch, image.slice};
  for (int i = 0; i < dimensions; ++i) {
    const float place = at[i] * image.scale[i];
    if (!(place >= 0 && place < image.extent[i])) return nullptr;
    texel += static_cast<unsigned>(static_cast<int>(place)) * steps[i];
  }
  return texel;
}

/// Interpolates between 32-bit texels, channel by channel, at a point in the interior of an image.
/// \returns false if this fast path does not apply
template <int dimensions>
bool blend_within(cudaTextureObject_t texture, float x, float y, float z, float* result,
                  int channels);

/// A fast path for the most common fetches. Analysed programs do not use this path.
/// \returns whether the fetch was performed
#ifdef CUDA_ON_CPU_ANALYSE
template <int dimensions, typename Texel>
__forceinline__ bool is_plain_fetch(cudaTextureObject_t, float, float, float, Texel*) {
  return false;
}
#else
template <int dimensions, typename Texel>
__forceinline__ bool is_plain_fetch(cudaTextureObject_t texture, float x, float y, float z,
                                    Texel* result) {
  const PlainImage& image = *plain_images[texture % most_plain_images];
  if (__atomic_load_n(&image.by_one, __ATOMIC_RELAXED) == texture) {
    const char* texel = texel_within(image, dimensions, x, y, z);
    if (texel != nullptr) *result = *reinterpret_cast<const Texel*>(texel);
    return texel != nullptr;
  }
  if constexpr (std::is_same_v<typename Channels<Texel>::Number, float>)
    return blend_within<dimensions>(texture, x, y, z, reinterpret_cast<float*>(result),
                                    Channels<Texel>::count);
  return false;
}
#endif

/// Converts an integer to a fraction of the largest value of its type.
template <typename Number>
__forceinline__ float fraction(const char* texel, int channel) {
  const auto value = static_cast<float>(reinterpret_cast<const Number*>(texel)[channel]);
  const float most =
      static_cast<float>((1LL << (8 * sizeof(Number) - std::is_signed<Number>::value)) - 1);
  const float of_most = value / most;
  return of_most < -1 ? -1 : of_most;
}

template <typename Number>
__forceinline__ float channel_of(const Samples& from, const Sample& sample, int channel) {
  if (sample.texel == nullptr) return from.border[channel];
  if (!from.normalised)
    return static_cast<float>(reinterpret_cast<const Number*>(sample.texel)[channel]);
  if (from.format.f == cudaChannelFormatKindSigned)
    return from.format.x == 8 ? fraction<signed char>(sample.texel, channel)
                              : fraction<short>(sample.texel, channel);
  return from.format.x == 8 ? fraction<unsigned char>(sample.texel, channel)
                            : fraction<unsigned short>(sample.texel, channel);
}

/// The weighted sum of the samples, channel by channel. A single sample that needs no conversion is
/// returned unchanged.
template <typename Texel>
__forceinline__ Texel blended(const Samples& from) {
  using Number = typename Channels<Texel>::Number;
  if (from.count == 1 && !from.normalised && from.at[0].texel != nullptr)
    return *reinterpret_cast<const Texel*>(from.at[0].texel);
  Texel result;
  for (int c = 0; c < Channels<Texel>::count; ++c) {
    float sum = 0;
    for (int s = 0; s < from.count; ++s)
      sum += from.at[s].weight * channel_of<Number>(from, from.at[s], c);
    reinterpret_cast<Number*>(&result)[c] = static_cast<Number>(sum);
  }
  return result;
}

}  // namespace cuda_on_cpu

template <typename Texel>
__forceinline__ Texel tex1Dfetch(cudaTextureObject_t texture, int i) {
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::sample_of_linear(texture, i));
}
template <typename Texel>
__forceinline__ Texel tex1D(cudaTextureObject_t texture, float x) {
  Texel result;
  if (cuda_on_cpu::is_plain_fetch<1>(texture, x, 0, 0, &result)) return result;
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples(texture, 1, x, 0, 0, 0));
}
template <typename Texel>
__forceinline__ Texel tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples(texture, 1, x, 0, 0, layer));
}
template <typename Texel>
__forceinline__ Texel tex2D(cudaTextureObject_t texture, float x, float y) {
  Texel result;
  if (cuda_on_cpu::is_plain_fetch<2>(texture, x, y, 0, &result)) return result;
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples(texture, 2, x, y, 0, 0));
}
template <typename Texel>
__forceinline__ Texel tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples(texture, 2, x, y, 0, layer));
}
template <typename Texel>
__forceinline__ Texel tex3D(cudaTextureObject_t texture, float x, float y, float z) {
  Texel result;
  if (cuda_on_cpu::is_plain_fetch<3>(texture, x, y, z, &result)) return result;
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples(texture, 3, x, y, z, 0));
}
template <typename Texel>
__forceinline__ Texel texCubemap(cudaTextureObject_t texture, float x, float y, float z) {
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples_of_cube(texture, x, y, z, 0));
}
template <typename Texel>
__forceinline__ Texel texCubemapLayered(cudaTextureObject_t texture, float x, float y, float z,
                                        int layer) {
  return cuda_on_cpu::blended<Texel>(cuda_on_cpu::samples_of_cube(texture, x, y, z, layer));
}
// The older signature, whose first parameter receives the result.
template <typename Texel>
__forceinline__ void tex1Dfetch(Texel* value, cudaTextureObject_t texture, int i) {
  *value = tex1Dfetch<Texel>(texture, i);
}
template <typename Texel>
__forceinline__ void tex1D(Texel* value, cudaTextureObject_t texture, float x) {
  *value = tex1D<Texel>(texture, x);
}
template <typename Texel>
__forceinline__ void tex2D(Texel* value, cudaTextureObject_t texture, float x, float y) {
  *value = tex2D<Texel>(texture, x, y);
}
template <typename Texel>
__forceinline__ void tex3D(Texel* value, cudaTextureObject_t texture, float x, float y, float z) {
  *value = tex3D<Texel>(texture, x, y, z);
}
template <typename Texel>
__forceinline__ void tex1DLayered(Texel* value, cudaTextureObject_t texture, float x, int layer) {
  *value = tex1DLayered<Texel>(texture, x, layer);
}
template <typename Texel>
__forceinline__ void tex2DLayered(Texel* value, cudaTextureObject_t texture, float x, float y,
                                  int layer) {
  *value = tex2DLayered<Texel>(texture, x, y, layer);
}
template <typename Texel>
__forceinline__ void texCubemap(Texel* value, cudaTextureObject_t texture, float x, float y,
                                float z) {
  *value = texCubemap<Texel>(texture, x, y, z);
}
template <typename Texel>
__forceinline__ void texCubemapLayered(Texel* value, cudaTextureObject_t texture, float x, float y,
                                       float z, int layer) {
  *value = texCubemapLayered<Texel>(texture, x, y, z, layer);
}

#define CUDA_ON_CPU_SURFACE(name, dimensions, parameters, place)                               \
  template <typename Texel>                                                                    \
  __forceinline__ Texel name##read(cudaSurfaceObject_t surface, parameters,                    \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    const char* texel =                                                                        \
        cuda_on_cpu::surface_texel(surface, dimensions, place, sizeof(Texel), mode);           \
    return texel != nullptr ? *reinterpret_cast<const Texel*>(texel) : Texel{};                \
  }                                                                                            \
  template <typename Texel>                                                                    \
  __forceinline__ void name##read(Texel* value, cudaSurfaceObject_t surface, parameters,       \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    const char* texel =                                                                        \
        cuda_on_cpu::surface_texel(surface, dimensions, place, sizeof(Texel), mode);           \
    *value = texel != nullptr ? *reinterpret_cast<const Texel*>(texel) : Texel{};              \
  }                                                                                            \
  template <typename Texel>                                                                    \
  __forceinline__ void name##write(Texel value, cudaSurfaceObject_t surface, parameters,       \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    char* texel = cuda_on_cpu::surface_texel(surface, dimensions, place, sizeof(Texel), mode); \
    if (texel != nullptr) *reinterpret_cast<Texel*>(texel) = value;                            \
  }
#define CUDA_ON_CPU_LIST(...) __VA_ARGS__
CUDA_ON_CPU_SURFACE(surf1D, 1, int x, CUDA_ON_CPU_LIST(x, 0, 0, 0))
CUDA_ON_CPU_SURFACE(surf1DLayered, 1, CUDA_ON_CPU_LIST(int x, int layer),
                    CUDA_ON_CPU_LIST(x, 0, 0, layer))
CUDA_ON_CPU_SURFACE(surf2D, 2, CUDA_ON_CPU_LIST(int x, int y), CUDA_ON_CPU_LIST(x, y, 0, 0))
CUDA_ON_CPU_SURFACE(surf2DLayered, 2, CUDA_ON_CPU_LIST(int x, int y, int layer),
                    CUDA_ON_CPU_LIST(x, y, 0, layer))
CUDA_ON_CPU_SURFACE(surfCubemap, 2, CUDA_ON_CPU_LIST(int x, int y, int face),
                    CUDA_ON_CPU_LIST(x, y, 0, face))
CUDA_ON_CPU_SURFACE(surfCubemapLayered, 2, CUDA_ON_CPU_LIST(int x, int y, int face_of_layer),
                    CUDA_ON_CPU_LIST(x, y, 0, face_of_layer))
CUDA_ON_CPU_SURFACE(surf3D, 3, CUDA_ON_CPU_LIST(int x, int y, int z), CUDA_ON_CPU_LIST(x, y, z, 0))
#undef CUDA_ON_CPU_LIST
#undef CUDA_ON_CPU_SURFACE
