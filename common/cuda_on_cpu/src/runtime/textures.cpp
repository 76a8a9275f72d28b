/// \file
/// Arrays, which store rows of texels one after the other, and fetches from them.

#include "cuda_on_cpu/textures.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>

#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "stream.hpp"

struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // 0: the array lacks this dimension
  unsigned flags;
  char* data;

  std::size_t element() const { return (format.x + format.y + format.z + format.w) / 8; }
  std::size_t pitch() const { return extent.width * element(); }
  std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
  std::size_t slices() const { return std::max<std::size_t>(extent.depth, 1); }
  char* at(std::size_t x_bytes, std::size_t y, std::size_t z = 0) const {
    return data + (z * rows() + y) * pitch() + x_bytes;
  }
};

namespace cuda_on_cpu {
namespace {

const PlainImage no_plain_image;

}  // namespace

__thread const PlainImage* plain_images[most_plain_images] = {
    &no_plain_image, &no_plain_image, &no_plain_image, &no_plain_image,
    &no_plain_image, &no_plain_image, &no_plain_image, &no_plain_image};

namespace {

/// The memory and the parameters of a texture or surface object.
struct Image {
  char* data;
  std::size_t element, pitch, slice;  // bytes per texel, per row, per layer
  int width, height, depth;
  bool layered, cube;  // the faces of a cube are layers
  cudaChannelFormatDesc format;
  cudaTextureDesc how;
  cudaResourceDesc resource;
};

/// The subset of an image that the most frequent fetches need.
PlainImage plain_image_of(const Image& image, cudaTextureObject_t texture) {
  constexpr int most = 1 << 24;  // f32 represents all smaller integers exactly
  const bool is_fraction = image.how.readMode == cudaReadModeNormalizedFloat &&
                           image.format.f != cudaChannelFormatKindFloat;
  if (image.layered || is_fraction || std::max({image.width, image.height, image.depth}) > most)
    return {};
  PlainImage plain{
      .data = image.data, .element = image.element, .pitch = image.pitch, .slice = image.slice};
  (image.how.filterMode == cudaFilterModePoint ? plain.by_one : plain.between) = texture;
  const int extent[] = {image.width, image.height, image.depth};
  for (int i = 0; i < 3; ++i) {
    plain.extent[i] = static_cast<float>(extent[i]);
    plain.scale[i] = image.how.normalizedCoords != 0 ? plain.extent[i] : 1;
  }
  return plain;
}

/// All texture and surface objects that were ever created, so that uses of destroyed objects are
/// detected. An object is the index of its image, counted from 1. Images are stored in pages. Each
/// page has twice as many entries as the previous one and never moves, so kernels find their images
/// without a lock.
class Images {
 public:
  struct Entry {
    Image image;
    PlainImage plain;  // the subset for most fetches
    std::atomic<bool> alive = false;
  };

  /// The entry of a living object, or null.
  Entry* find(unsigned long long object) {
    if (object == 0) return nullptr;
    const auto page = page_of(object);
    Entry* const first = pages_[page].load(std::memory_order_acquire);
    if (first == nullptr) return nullptr;
    Entry& entry = first[object - (1ULL << page)];
    return entry.alive.load(std::memory_order_acquire) ? &entry : nullptr;
  }

  unsigned long long keep(const Image& image) {
    const std::scoped_lock guard(mutex_);
    const unsigned long long object = ++count_;
    const auto page = page_of(object);
    if (object == 1ULL << page) pages_[page] = std::make_unique<Entry[]>(object).release();
    Entry& entry = pages_[page][object - (1ULL << page)];
    entry.image = image;
    entry.plain = plain_image_of(image, object);
    entry.alive.store(true, std::memory_order_release);
    return object;
  }

 private:
  static std::size_t page_of(unsigned long long object) {
    return static_cast<std::size_t>(std::bit_width(object)) - 1;
  }

  std::mutex mutex_;
  unsigned long long count_ = 0;
  std::array<std::atomic<Entry*>, 64> pages_ = {};
};

Images& images() {
  static auto& images = indestructible<Images>();
  return images;
}

/// The entry of an object that a kernel uses. Ends the launch if there is none.
const Images::Entry& entry_of(unsigned long long object) {
  const Images::Entry* entry = images().find(object);
  if (entry == nullptr) fail_launch(cudaErrorIllegalAddress);
  return *entry;
}

const Image& image_of(unsigned long long object) { return entry_of(object).image; }

bool is_format(const cudaChannelFormatDesc& format) {
  const int count = format.w != 0 ? 4 : format.z != 0 ? 3 : format.y != 0 ? 2 : 1;
  const int bits = format.x;
  const bool alike = (count < 2 || format.y == bits) && (count < 3 || format.z == bits) &&
                     (count < 4 || format.w == bits);
  return alike && count != 3 && (bits == 8 || bits == 16 || bits == 32) &&
         (format.f == cudaChannelFormatKindFloat ? bits == 32
                                                 : format.f != cudaChannelFormatKindNone);
}

cudaError_t image_of_resource(const cudaResourceDesc& resource, Image& image) {
  image = {};
  image.resource = resource;
  if (resource.resType == cudaResourceTypeArray) {
    const cudaArray* array = resource.res.array.array;
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    image.format = array->format;
    image.data = array->data;
    image.pitch = array->pitch();
    image.slice = array->rows() * array->pitch();
    image.width = static_cast<int>(array->extent.width);
    image.height = static_cast<int>(array->rows());
    image.depth = static_cast<int>(array->slices());
    image.cube = (array->flags & cudaArrayCubemap) != 0;
    image.layered = image.cube || (array->flags & cudaArrayLayered) != 0;
  } else if (resource.resType == cudaResourceTypeLinear) {
    image.format = resource.res.linear.desc;
    image.data = static_cast<char*>(resource.res.linear.devPtr);
    image.pitch = resource.res.linear.sizeInBytes;
    image.height = image.depth = 1;
  } else if (resource.resType == cudaResourceTypePitch2D) {
    image.format = resource.res.pitch2D.desc;
    image.data = static_cast<char*>(resource.res.pitch2D.devPtr);
    image.pitch = resource.res.pitch2D.pitchInBytes;
    image.width = static_cast<int>(resource.res.pitch2D.width);
    image.height = static_cast<int>(resource.res.pitch2D.height);
    image.depth = 1;
  } else {
    return cudaErrorNotSupported;
  }
  if (image.data == nullptr || !is_format(image.format)) return cudaErrorInvalidValue;
  const cudaChannelFormatDesc& format = image.format;
  image.element = (format.x + format.y + format.z + format.w) / 8;
  if (resource.resType == cudaResourceTypeLinear)
    image.width = static_cast<int>(image.pitch / image.element);
  return cudaSuccess;
}

char* slice_of(const cudaPitchedPtr& memory, std::size_t z) {
  return static_cast<char*>(memory.ptr) + z * memory.ysize * memory.pitch;
}

cudaError_t keep(const Image& image, unsigned long long* object) {
  *object = images().keep(image);
  return lasting_error();
}

cudaError_t forget(unsigned long long object) {
  Images::Entry* entry = images().find(object);
  if (entry == nullptr) return fail(cudaErrorInvalidResourceHandle);
  entry->alive = false;
  std::atomic_ref(entry->plain.by_one) = PlainImage::none;
  std::atomic_ref(entry->plain.between) = PlainImage::none;
  return lasting_error();
}

/// Two neighbours in one dimension and the weight of the second one. An index of -1 is beyond the
/// border.
struct Neighbours {
  int of[2];
  float second;
};

/// The index of a texel in one dimension after the address mode is applied; -1 if the texel is
/// beyond the border.
int resolved(long long i, int n, cudaTextureAddressMode mode) {
  if (i >= 0 && i < n) return static_cast<int>(i);
  const auto modulo = [&](long long period) { return ((i % period) + period) % period; };
  if (mode == cudaAddressModeWrap) return static_cast<int>(modulo(n));
  if (mode == cudaAddressModeMirror) {
    const long long at = modulo(2LL * n);
    return static_cast<int>(at < n ? at : 2LL * n - 1 - at);
  }
  if (mode == cudaAddressModeBorder && (i < 0 || i >= n)) return -1;
  return static_cast<int>(std::clamp<long long>(i, 0, n - 1));
}

/// The largest integer not above x, for x of moderate size, without a function call.
long long whole_below(float x) {
  const auto towards_nought = static_cast<long long>(x);
  return towards_nought - (static_cast<float>(towards_nought) > x ? 1 : 0);
}

/// Finds the neighbours of a coordinate. Weights have eight fractional bits, as on a GPU. The modes
/// wrap and mirror require normalised coordinates. The result is passed by reference: a result in
/// registers would be stored in halves and loaded as a whole, which stalls the processor.
void find_neighbours(float x, int n, cudaTextureAddressMode mode, const cudaTextureDesc& how,
                     Neighbours& found) {
  constexpr float far = 1e9F;
  if (how.normalizedCoords != 0)
    x *= static_cast<float>(n);
  else if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)
    mode = cudaAddressModeClamp;
  x = std::isnan(x) ? 0 : std::clamp(x, -far, far);
  if (how.filterMode == cudaFilterModePoint) {
    found.of[0] = resolved(whole_below(x), n, mode);
    found.second = 0;
    return;
  }
  x -= 0.5F;
  const long long first = whole_below(x);
  const double behind_point = x - static_cast<float>(first);
  found.of[0] = resolved(first, n, mode);
  found.of[1] = resolved(first + 1, n, mode);
  found.second = static_cast<float>(static_cast<int>(behind_point * 256 + 0.5)) / 256;
}

/// The face of a cube that a direction from the centre intersects, and the position on this face,
/// with coordinates from -1 to 1.
struct PlaceOnCube {
  int face;
  float s, t;
};

PlaceOnCube place_on_cube(float x, float y, float z) {
  const float far_x = std::abs(x), far_y = std::abs(y), far_z = std::abs(z);
  if (far_x >= far_y && far_x >= far_z) return {x < 0, (x < 0 ? z : -z) / far_x, -y / far_x};
  if (far_y >= far_z) return {2 + (y < 0), x / far_y, (y < 0 ? -z : z) / far_y};
  return {4 + (z < 0), (z < 0 ? -x : x) / far_z, -y / far_z};
}

/// Maps a position beyond an edge of a face to the adjacent face.
PlaceOnCube beyond_edge(const PlaceOnCube& at) {
  switch (at.face) {
    case 0:
      return place_on_cube(1, -at.t, -at.s);
    case 1:
      return place_on_cube(-1, -at.t, at.s);
    case 2:
      return place_on_cube(at.s, 1, at.t);
    case 3:
      return place_on_cube(at.s, -1, -at.t);
    case 4:
      return place_on_cube(at.s, -at.t, 1);
    default:
      return place_on_cube(-at.s, -at.t, -1);
  }
}

/// The layer to fetch from. Indices are unsigned, and an index beyond the last layer selects the
/// last layer.
int nearest_layer(int layer, int layers) {
  return static_cast<int>(
      std::min(static_cast<unsigned>(layer), static_cast<unsigned>(layers - 1)));
}

/// Adds the texels around a position: `most` neighbours in each dimension.
template <int dimensions, int most>
void take_in(const Image& image, const Neighbours (&along)[3], const char* data, Samples& found) {
  const auto weight = [](const Neighbours& of, int which) {
    return which == 1 ? of.second : 1 - of.second;
  };
  for (int k = 0; k < (dimensions > 2 ? most : 1); ++k)
    for (int j = 0; j < (dimensions > 1 ? most : 1); ++j) {
      const int slice = along[2].of[k], row = along[1].of[j];
      const std::size_t first = slice * image.slice + row * image.pitch;
      const float weight_of_row = weight(along[2], k) * weight(along[1], j);
      for (int i = 0; i < most; ++i) {
        const int at = along[0].of[i];
        const bool beyond = at < 0 || row < 0 || slice < 0;
        found.at[found.count++] = {beyond ? nullptr : data + first + at * image.element,
                                   weight(along[0], i) * weight_of_row};
      }
    }
}

Samples samples_of(const Image& image, const cudaTextureDesc& how, int dimensions, float x, float y,
                   float z, int layer) {
  Neighbours along[3] = {};
  find_neighbours(x, image.width, how.addressMode[0], how, along[0]);
  if (dimensions > 1) find_neighbours(y, image.height, how.addressMode[1], how, along[1]);
  if (dimensions > 2) find_neighbours(z, image.depth, how.addressMode[2], how, along[2]);
  Samples found;
  found.count = 0;
  found.normalised =
      how.readMode == cudaReadModeNormalizedFloat && image.format.f != cudaChannelFormatKindFloat;
  found.format = image.format;
  std::copy_n(how.borderColor, 4, found.border);
  const char* data = image.data;
  if (image.layered) data += nearest_layer(layer, image.depth) * image.slice;
  const bool is_linear = how.filterMode == cudaFilterModeLinear;
  if (dimensions == 1)
    is_linear ? take_in<1, 2>(image, along, data, found) : take_in<1, 1>(image, along, data, found);
  else if (dimensions == 2)
    is_linear ? take_in<2, 2>(image, along, data, found) : take_in<2, 1>(image, along, data, found);
  else
    is_linear ? take_in<3, 2>(image, along, data, found) : take_in<3, 1>(image, along, data, found);
  return found;
}

/// A position whose neighbours are all within the image: its first neighbour, and the weight of the
/// second one in each dimension.
template <int dimensions>
struct Between {
  const char* first;
  float second[dimensions];

  /// \returns whether all neighbours are within the image
  bool find(const PlainImage& image, const float (&at)[3]) {
    const std::size_t steps[] = {image.element, image.pitch, image.slice};
    first = image.data;
    for (int i = 0; i < dimensions; ++i) {
      const float place = at[i] * image.scale[i] - 0.5F;
      if (!(place >= 0 && place < image.extent[i] - 1)) return false;
      const auto index = static_cast<int>(place);
      const double behind_point = place - static_cast<float>(index);
      second[i] = static_cast<float>(static_cast<int>(behind_point * 256 + 0.5)) / 256;
      first += static_cast<std::size_t>(index) * steps[i];
    }
    return true;
  }
};

/// The texel of a cube in a column and a row of a face. Just beyond an edge, the texel is on the
/// adjacent face.
const char* texel_of_cube(const Image& image, int layer, int face, int column, int row) {
  constexpr int faces = 6;
  const int n = image.width;
  const auto place = [&](int i) {
    return (2 * static_cast<float>(i) + 1) / static_cast<float>(n) - 1;
  };
  const auto index = [&](float at) {
    return std::clamp(static_cast<int>((at + 1) / 2 * static_cast<float>(n)), 0, n - 1);
  };
  if (column < 0 || column >= n || row < 0 || row >= n) {
    const PlaceOnCube beside = beyond_edge({face, place(column), place(row)});
    face = beside.face;
    column = index(beside.s);
    row = index(beside.t);
  }
  return image.data + (layer * faces + face) * image.slice + row * image.pitch +
         column * image.element;
}

/// The four texels around a position on a cube. At an edge, they belong to two faces. At a corner,
/// there are only three texels, which share the weight of the fourth.
Samples samples_across_edges(const Image& image, const PlaceOnCube& at, int layer) {
  Samples found =
      samples_of(image, image.how, 2, 0, 0, 0, 0);  // only the parameters of this result are used
  const auto n = static_cast<float>(image.width);
  const float x = (at.s + 1) / 2 * n - 0.5F, y = (at.t + 1) / 2 * n - 0.5F;
  const int column = static_cast<int>(std::floor(x)), row = static_cast<int>(std::floor(y));
  const auto weight = [](float of, int which) {
    const float second = std::round((of - std::floor(of)) * 256) / 256;
    return which == 1 ? second : 1 - second;
  };
  const auto is_beyond = [&](int i) { return i < 0 || i >= image.width; };
  float missing = 0;
  found.count = 0;
  for (const int j : {0, 1})
    for (const int i : {0, 1}) {
      const float share = weight(x, i) * weight(y, j);
      if (is_beyond(column + i) && is_beyond(row + j))
        missing += share;
      else
        found.at[found.count++] = {texel_of_cube(image, layer, at.face, column + i, row + j),
                                   share};
    }
  for (int i = 0; i < found.count; ++i)
    found.at[i].weight += missing / static_cast<float>(found.count);
  return found;
}

}  // namespace

// Declared with blended().
template <int dimensions>
bool blend_within(cudaTextureObject_t texture, float x, float y, float z, float* result,
                  int channels) {
  const PlainImage& image = *plain_images[texture % most_plain_images];
  if (__atomic_load_n(&image.between, __ATOMIC_RELAXED) != texture) return false;
  Between<dimensions> between;
  if (!between.find(image, {x, y, z})) return false;
  const std::size_t steps[] = {image.element, image.pitch, image.slice};
  const auto weight = [&](int direction, int which) {
    return which == 1 ? between.second[direction] : 1 - between.second[direction];
  };
  for (int channel = 0; channel < channels; ++channel) {
    float sum = 0;
    for (int k = 0; k < (dimensions > 2 ? 2 : 1); ++k)
      for (int j = 0; j < (dimensions > 1 ? 2 : 1); ++j) {
        float weight_of_row = 1;
        if constexpr (dimensions > 2) weight_of_row *= weight(2, k);
        if constexpr (dimensions > 1) weight_of_row *= weight(1, j);
        const char* row = between.first + k * steps[2] + j * steps[1];
        for (int i = 0; i < 2; ++i)
          sum += weight(0, i) * weight_of_row *
                 reinterpret_cast<const float*>(row + i * steps[0])[channel];
      }
    result[channel] = sum;
  }
  return true;
}
template bool blend_within<1>(cudaTextureObject_t, float, float, float, float*, int);
template bool blend_within<2>(cudaTextureObject_t, float, float, float, float*, int);
template bool blend_within<3>(cudaTextureObject_t, float, float, float, float*, int);

Samples samples(cudaTextureObject_t texture, int dimensions, float x, float y, float z, int layer) {
  const Images::Entry& entry = entry_of(texture);
  plain_images[texture % most_plain_images] = &entry.plain;
  return samples_of(entry.image, entry.image.how, dimensions, x, y, z, layer);
}

Samples samples_of_cube(cudaTextureObject_t texture, float x, float y, float z, int layer) {
  constexpr int faces = 6;
  const Image& image = image_of(texture);
  cudaTextureDesc how = image.how;
  how.normalizedCoords = 1;
  const PlaceOnCube at = place_on_cube(x, y, z);
  layer = nearest_layer(layer, std::max(image.depth / faces, 1));
  if (how.seamlessCubemap != 0 && how.filterMode == cudaFilterModeLinear)
    return samples_across_edges(image, at, layer);
  return samples_of(image, how, 2, (at.s + 1) / 2, (at.t + 1) / 2, 0, layer * faces + at.face);
}

Samples sample_of_linear(cudaTextureObject_t texture, int i) {
  const Image& image = image_of(texture);
  Samples found{};
  found.count = 1;
  found.normalised = image.how.readMode == cudaReadModeNormalizedFloat &&
                     image.format.f != cudaChannelFormatKindFloat;
  found.format = image.format;
  const bool inside = i >= 0 && i < image.width;
  found.at[0] = {inside ? image.data + i * image.element : nullptr, 1};
  return found;
}

char* surface_texel(cudaSurfaceObject_t surface, int dimensions, int x, int y, int z, int layer,
                    std::size_t bytes, cudaSurfaceBoundaryMode mode) {
  const Image& image = image_of(surface);
  const int row = static_cast<int>(image.width * image.element),
            last = row - static_cast<int>(bytes);
  const bool inside = x >= 0 && x <= last && (dimensions < 2 || (y >= 0 && y < image.height)) &&
                      (dimensions < 3 || (z >= 0 && z < image.depth)) &&
                      (!image.layered || (layer >= 0 && layer < image.depth));
  if (!inside && mode == cudaBoundaryModeTrap) fail_launch(cudaErrorLaunchFailure);
  if (!inside && mode == cudaBoundaryModeZero) return nullptr;
  x = std::clamp(x, 0, last);
  y = std::clamp(y, 0, image.height - 1);
  z = std::clamp(image.layered ? layer : z, 0, image.depth - 1);
  return image.data + z * image.slice + y * image.pitch + x;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

/// Whether an array can have this extent. A cube map has six square faces, and depth counts the
/// layers.
static bool is_extent(const cudaExtent& extent, unsigned flags) {
  if (extent.width == 0) return false;
  const bool layered = (flags & cudaArrayLayered) != 0;
  if ((flags & cudaArrayCubemap) != 0)
    return extent.width == extent.height && extent.depth % 6 == 0 &&
           (layered ? extent.depth > 0 : extent.depth == 6);
  return !layered || extent.depth > 0;
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  if (array == nullptr || format == nullptr || !is_extent(extent, flags))
    return fail(cudaErrorInvalidValue);
  if (!is_format(*format)) return fail(cudaErrorInvalidChannelDescriptor);
  auto made = std::make_unique<cudaArray>(cudaArray{*format, extent, flags, nullptr});
  const cudaError_t error = cudaMalloc(&made->data, made->slices() * made->rows() * made->pitch());
  if (error == cudaSuccess) *array = made.release();
  return error;
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  const std::unique_ptr<cudaArray> freed(array);
  return freed == nullptr ? lasting_error() : cudaFree(freed->data);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (array == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return lasting_error();
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (array == nullptr) return fail(cudaErrorInvalidResourceHandle);
  *format = array->format;
  return lasting_error();
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  *pointer = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const cudaError_t error =
        cudaMemset2D(slice_of(pointer, z), pointer.pitch, value, extent.width, extent.height);
    if (error != cudaSuccess) return error;
  }
  return lasting_error();
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const cudaError_t error = cudaMemset2DAsync(slice_of(pointer, z), pointer.pitch, value,
                                                extent.width, extent.height, stream);
    if (error != cudaSuccess) return error;
  }
  return lasting_error();
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  const cudaMemcpy3DParms& p = *parameters;
  if ((p.srcArray == nullptr) == (p.srcPtr.ptr == nullptr) ||
      (p.dstArray == nullptr) == (p.dstPtr.ptr == nullptr))
    return fail(cudaErrorInvalidValue);
  const cudaArray* array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  const std::size_t unit = array != nullptr ? array->element() : 1;
  const auto place = [&](cudaArray_t in, const cudaPitchedPtr& memory, const cudaPos& at,
                         std::size_t z) {
    if (in != nullptr) return in->at(at.x * in->element(), at.y, at.z + z);
    return static_cast<char*>(memory.ptr) + ((at.z + z) * memory.ysize + at.y) * memory.pitch +
           at.x;
  };
  const auto pitch = [](cudaArray_t in, const cudaPitchedPtr& memory) {
    return in != nullptr ? in->pitch() : memory.pitch;
  };
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    const cudaError_t error =
        cudaMemcpy2DAsync(place(p.dstArray, p.dstPtr, p.dstPos, z), pitch(p.dstArray, p.dstPtr),
                          place(p.srcArray, p.srcPtr, p.srcPos, z), pitch(p.srcArray, p.srcPtr),
                          p.extent.width * unit, p.extent.height, p.kind, stream);
    if (error != cudaSuccess) return error;
  }
  return lasting_error();
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  const cudaError_t error = cudaMemcpy3DAsync(parameters, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

namespace {

bool is_device(int device) {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && device >= 0 && device < count;
}

}  // namespace

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  const cudaMemcpy3DPeerParms& p = *parameters;
  if (!is_device(p.srcDevice) || !is_device(p.dstDevice)) return fail(cudaErrorInvalidDevice);
  const cudaMemcpy3DParms same = {p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
                                  p.dstPos,   p.dstPtr, p.extent, cudaMemcpyDeviceToDevice};
  return cudaMemcpy3DAsync(&same, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  const cudaError_t error = cudaMemcpy3DPeerAsync(parameters, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  if (to == nullptr || x + width > to->pitch() || y + height > to->rows())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy2DAsync(to->at(x, y), to->pitch(), from, pitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  if (to == nullptr || x + width > to->pitch() || y + height > to->rows())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy2D(to->at(x, y), to->pitch(), from, pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  if (from == nullptr || x + width > from->pitch() || y + height > from->rows())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy2D(to, pitch, from->at(x, y), from->pitch(), width, height, kind);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  if (from == nullptr || x + width > from->pitch() || y + height > from->rows())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy2DAsync(to, pitch, from->at(x, y), from->pitch(), width, height, kind, stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (from == nullptr || x + width > from->pitch() || y + height > from->rows())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy2DToArray(to, to_x, to_y, from->at(x, y), from->pitch(), width, height, kind);
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t x, std::size_t y,
                                   std::size_t bytes, cudaMemcpyKind kind) {
  if (from == nullptr || y * from->pitch() + x + bytes > from->rows() * from->pitch())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpyToArray(to, to_x, to_y, from->at(x, y), bytes, kind);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (to == nullptr || y * to->pitch() + x + bytes > to->rows() * to->pitch())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpyAsync(to->at(x, y), from, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (from == nullptr || y * from->pitch() + x + bytes > from->rows() * from->pitch())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpyAsync(to, from->at(x, y), bytes, kind, stream);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  if (to == nullptr || y * to->pitch() + x + bytes > to->rows() * to->pitch())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy(to->at(x, y), from, bytes, kind);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  if (from == nullptr || y * from->pitch() + x + bytes > from->rows() * from->pitch())
    return fail(cudaErrorInvalidValue);
  return cudaMemcpy(to, from->at(x, y), bytes, kind);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc*) {
  if (texture == nullptr || resource == nullptr || how == nullptr)
    return fail(cudaErrorInvalidValue);
  Image image;
  const cudaError_t error = image_of_resource(*resource, image);
  if (error != cudaSuccess) return fail(error);
  const bool floats =
      image.format.f == cudaChannelFormatKindFloat || how->readMode == cudaReadModeNormalizedFloat;
  // Only floating-point results are filtered, and 32-bit integers cannot be converted to fractions.
  if (how->filterMode == cudaFilterModeLinear && !floats)
    return fail(cudaErrorInvalidFilterSetting);
  if (how->readMode == cudaReadModeNormalizedFloat && image.format.x == 32 &&
      image.format.f != cudaChannelFormatKindFloat)
    return fail(cudaErrorInvalidNormSetting);
  image.how = *how;
  return keep(image, texture);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return texture == 0 ? lasting_error() : forget(texture);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
    return fail(cudaErrorInvalidValue);
  Image image;
  const cudaError_t error = image_of_resource(*resource, image);
  return error != cudaSuccess ? fail(error) : keep(image, surface);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return forget(surface); }

namespace {

/// Returns a member of the image of a texture or surface object.
template <typename Value>
cudaError_t member_of(unsigned long long object, Value Image::*member, Value* value) {
  const Images::Entry* entry = images().find(object);
  if (value == nullptr || entry == nullptr) return fail(cudaErrorInvalidValue);
  *value = entry->image.*member;
  return lasting_error();
}

}  // namespace

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return member_of(texture, &Image::resource, resource);
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture) {
  return member_of(texture, &Image::how, how);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
  return member_of(surface, &Image::resource, resource);
}
