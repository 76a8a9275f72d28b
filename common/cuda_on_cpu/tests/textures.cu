/// \file
/// Arrays, textures and surfaces: fetches at texels, between texels and beyond the border.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_error;
using tap::expect_near;
using tap::expect_refusal;
using tap::random_value;
using tap::random_values;
using tap::table;

namespace {

/// A one- or two-dimensional CUDA array with given values.
template <typename T>
class Image {
 public:
  Image(int width, int height, const std::vector<T>& values, unsigned flags = 0) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    check(cudaMallocArray(&array_, &format, width, height, flags));
    check(cudaMemcpy2DToArray(array_, 0, 0, values.data(), width * sizeof(T), width * sizeof(T),
                              std::max(height, 1), cudaMemcpyHostToDevice));
  }
  ~Image() { cudaFreeArray(array_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  cudaArray_t get() const { return array_; }

 private:
  cudaArray_t array_ = nullptr;
};

/// A three-dimensional or layered CUDA array with given values.
template <typename T>
class Box {
 public:
  Box(cudaExtent extent, const std::vector<T>& values, unsigned flags) : size_(values.size()) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    check(cudaMalloc3DArray(&array_, &format, extent, flags));
    extent.height = std::max<std::size_t>(extent.height, 1);
    copy_.extent = extent;
    cudaMemcpy3DParms copy = copy_;
    copy.srcPtr = memory(const_cast<T*>(values.data()));
    copy.dstArray = array_;
    copy.kind = cudaMemcpyHostToDevice;
    check(cudaMemcpy3D(&copy));
  }
  ~Box() { cudaFreeArray(array_); }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  cudaArray_t get() const { return array_; }

  std::vector<T> values() const {
    std::vector<T> all(size_);
    cudaMemcpy3DParms copy = copy_;
    copy.srcArray = array_;
    copy.dstPtr = memory(all.data());
    copy.kind = cudaMemcpyDeviceToHost;
    check(cudaMemcpy3D(&copy));
    return all;
  }

 private:
  cudaPitchedPtr memory(T* values) const {
    const cudaExtent& extent = copy_.extent;
    return make_cudaPitchedPtr(values, extent.width * sizeof(T), extent.width, extent.height);
  }

  std::size_t size_;
  cudaArray_t array_ = nullptr;
  cudaMemcpy3DParms copy_{};
};

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureDesc manner(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalised) {
  cudaTextureDesc how{};
  for (cudaTextureAddressMode& each : how.addressMode) each = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalised;
  how.borderColor[0] = 0.75F;
  return how;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  cudaTextureObject_t texture = 0;
  check(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

/// The index of the texel that an address mode selects for index i, or -1 for the border.
int taken(int i, int n, cudaTextureAddressMode mode) {
  const int period = mode == cudaAddressModeMirror ? 2 * n : n;
  const int in_period = ((i % period) + period) % period;
  switch (mode) {
    case cudaAddressModeWrap:
      return in_period;
    case cudaAddressModeMirror:
      return in_period < n ? in_period : period - 1 - in_period;
    case cudaAddressModeClamp:
      return std::clamp(i, 0, n - 1);
    default:
      return i < 0 || i >= n ? -1 : i;
  }
}

}  // namespace

__global__ void fetch_line(cudaTextureObject_t texture, int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + 4) values[i] = tex1Dfetch<int>(texture, i - 2);
}

TEST(linear_memory_is_fetched_by_index_and_is_zero_beyond_its_ends) {
  for (const int n : {1, 31, 257}) {
    const std::vector<int> values = random_values(n, -1000, 1000);
    Device<int> memory(values), fetched(n + 4);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory.get();
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = memory.bytes();
    const cudaTextureObject_t texture = texture_of(resource, cudaTextureDesc{});
    fetch_line<<<(n + 67) / 64, 64>>>(texture, fetched.get(), n);
    expect_equal(fetched.to_host(),
                 table<int>(n + 4, [&](int i) { return i < 2 || i >= n + 2 ? 0 : values[i - 2]; }));
    check(cudaDestroyTextureObject(texture));
  }
}

struct Place {
  float x, y;
};

__global__ void fetch_places(cudaTextureObject_t texture, const Place* places, float* values,
                             int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = tex2D<float>(texture, places[i].x, places[i].y);
}

/// Compares fetches at random positions with the four texels around each position.
void expect_fetched(int width, int height, cudaTextureAddressMode mode,
                    cudaTextureFilterMode filter, bool normalised) {
  constexpr int n = 400;
  const std::vector<float> values = random_values(std::size_t(width) * height, -1.F, 1.F);
  const Image<float> image(width, height, values);
  const cudaTextureObject_t texture =
      texture_of(resource_of(image.get()), manner(mode, filter, normalised));
  std::vector<Place> places(n);
  for (Place& place : places) place = {random_value(-2.F, 3.F), random_value(-2.F, 3.F)};
  if (!normalised)
    for (Place& place : places) place = {place.x * float(width), place.y * float(height)};
  Device<Place> at(places);
  Device<float> fetched(n);
  fetch_places<<<4, 100>>>(texture, at.get(), fetched.get(), n);
  const std::vector<float> found = fetched.to_host();
  // The modes wrap and mirror require normalised coordinates.
  const bool wraps = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
  const cudaTextureAddressMode meant = wraps && !normalised ? cudaAddressModeClamp : mode;
  const bool between = filter == cudaFilterModeLinear;
  for (int i = 0; i < n; ++i) {
    const float x = places[i].x * float(normalised ? width : 1) - (between ? 0.5F : 0);
    const float y = places[i].y * float(normalised ? height : 1) - (between ? 0.5F : 0);
    const double right = between ? x - std::floor(x) : 0, down = between ? y - std::floor(y) : 0;
    double sum = 0;
    for (const int j : {0, 1})
      for (const int k : {0, 1}) {
        const int column = taken(int(std::floor(x)) + k, width, meant);
        const int row = taken(int(std::floor(y)) + j, height, meant);
        const double value = column < 0 || row < 0 ? 0.75 : values[row * width + column];
        sum += (k == 1 ? right : 1 - right) * (j == 1 ? down : 1 - down) * value;
      }
    // The weights of both directions are rounded to eight bits. A GPU's result differed slightly
    // more, so the tolerance is 1.5 times the resulting error bound.
    expect_near(double(found[i]), sum, between ? 6. / 512 : 0.);
  }
  check(cudaDestroyTextureObject(texture));
}

TEST(places_are_addressed_in_four_ways) {
  for (const auto mode :
       {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (const bool normalised : {true, false}) {
      expect_fetched(7, 5, mode, cudaFilterModePoint, normalised);
      expect_fetched(1, 33, mode, cudaFilterModePoint, normalised);
    }
}

TEST(values_between_places_are_interpolated_with_eight_bits) {
  for (const auto mode :
       {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (const bool normalised : {true, false}) {
      expect_fetched(8, 6, mode, cudaFilterModeLinear, normalised);
      expect_fetched(31, 1, mode, cudaFilterModeLinear, normalised);
    }
}

__global__ void fetch_fractions(cudaTextureObject_t texture, float4* values, int width) {
  values[threadIdx.x] =
      tex2D<float4>(texture, float(threadIdx.x % width) + 0.5F, float(threadIdx.x / width) + 0.5F);
}

TEST(whole_numbers_become_fractions) {
  constexpr int width = 8, height = 4;
  std::vector<uchar4> values(width * height);
  for (uchar4& value : values)
    value = make_uchar4(random_value<unsigned char>(0, 255), 0, 255,
                        random_value<unsigned char>(0, 255));
  const Image<uchar4> image(width, height, values);
  cudaTextureDesc how = manner(cudaAddressModeClamp, cudaFilterModePoint, false);
  how.readMode = cudaReadModeNormalizedFloat;
  const cudaTextureObject_t texture = texture_of(resource_of(image.get()), how);
  Device<float4> fetched(values.size());
  fetch_fractions<<<1, width * height>>>(texture, fetched.get(), width);
  const std::vector<float4> found = fetched.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    expect_near(found[i].x, float(values[i].x) / 255, 1e-6F);
    expect_equal(found[i].y, 0);
    expect_equal(found[i].z, 1);
    expect_near(found[i].w, float(values[i].w) / 255, 1e-6F);
  }
  check(cudaDestroyTextureObject(texture));
}

__global__ void fetch_box(cudaTextureObject_t texture, short2* values, dim3 extent) {
  const unsigned i = threadIdx.x, x = i % extent.x, y = i / extent.x % extent.y;
  const unsigned z = i / (extent.x * extent.y);
  values[i] = tex3D<short2>(texture, float(x) + 0.5F, float(y) + 0.5F, float(z) + 0.5F);
}

__global__ void fetch_layers(cudaTextureObject_t texture, short2* values, dim3 extent) {
  const unsigned i = threadIdx.x, x = i % extent.x, y = i / extent.x % extent.y;
  const int layer = int(i / (extent.x * extent.y));
  values[i] = tex2DLayered<short2>(texture, float(x), float(y), layer);
}

TEST(boxes_and_layers_are_copied_in_and_fetched) {
  const dim3 extent(5, 7, 3);
  const std::size_t size = 5 * 7 * 3;
  std::vector<short2> values(size);
  for (short2& value : values)
    value = make_short2(random_value<short>(-999, 999), random_value<short>(-999, 999));
  for (const unsigned flags : {cudaArrayDefault, cudaArrayLayered}) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<short2>();
    cudaArray_t array = nullptr;
    check(cudaMalloc3DArray(&array, &format, make_cudaExtent(5, 7, 3), flags));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 5 * sizeof(short2), 5, 7);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(5, 7, 3);
    copy.kind = cudaMemcpyHostToDevice;
    check(cudaMemcpy3D(&copy));
    const cudaTextureObject_t texture =
        texture_of(resource_of(array), manner(cudaAddressModeClamp, cudaFilterModePoint, false));
    Device<short2> fetched(size);
    if (flags == cudaArrayLayered)
      fetch_layers<<<1, size>>>(texture, fetched.get(), extent);
    else
      fetch_box<<<1, size>>>(texture, fetched.get(), extent);
    const std::vector<short2> found = fetched.to_host();
    expect(std::equal(found.begin(), found.end(), values.begin(),
                      [](short2 a, short2 b) { return a.x == b.x && a.y == b.y; }),
           "all numbers of the box are where they were put");
    check(cudaDestroyTextureObject(texture));
    check(cudaFreeArray(array));
  }
}

__global__ void fetch_rows(cudaTextureObject_t texture, float* values, int width, int layers) {
  const int i = threadIdx.x;
  const int layer = i / width;
  values[i] = tex1DLayered<float>(texture, float(i % width) + 0.5F, layer);
  if (layer == 0) tex1DLayered(&values[i], texture, float(i) + 0.5F, 0);
  // A layer index is unsigned, so -1 is beyond the last layer.
  if (layer == layers - 1)
    values[i] = tex1DLayered<float>(texture, float(i % width), i % 2 == 0 ? layers + 3 : -1);
}

TEST(layers_of_one_dimension_are_fetched_and_the_last_beyond_them) {
  constexpr int width = 9, layers = 5;
  const std::vector<float> values = random_values(width * layers, -1.F, 1.F);
  const Box<float> rows(make_cudaExtent(width, 0, layers), values, cudaArrayLayered);
  const cudaTextureObject_t texture =
      texture_of(resource_of(rows.get()), manner(cudaAddressModeClamp, cudaFilterModePoint, false));
  Device<float> fetched(values.size());
  fetch_rows<<<1, width * layers>>>(texture, fetched.get(), width, layers);
  expect_equal(fetched.to_host(), values);
  check(cudaDestroyTextureObject(texture));
}

// --- Cube maps

struct Direction {
  float x, y, z;
};

/// The intersection of a direction with a cube: the face, and coordinates on it from -1 to 1.
struct OnCube {
  int layer, face;
  float s, t;
};

/// A direction with a given length that intersects the cube at a position.
Direction direction_to(const OnCube& place, float length) {
  const float s = place.s * length, t = place.t * length;
  const Direction all[] = {{length, -t, -s}, {-length, -t, s}, {s, length, t},
                           {s, -length, -t}, {s, -t, length},  {-s, -t, -length}};
  return all[place.face];
}

__global__ void fetch_directions(cudaTextureObject_t texture, const Direction* to, float* values,
                                 const OnCube* places, bool layered) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Direction d = to[i];
  if (layered)
    values[i] = texCubemapLayered<float>(texture, d.x, d.y, d.z, places[i].layer);
  else
    texCubemap(&values[i], texture, d.x, d.y, d.z);
}

/// The texel of another face that is nearest to a position just beyond an edge of a face.
float nearest_beyond(const std::vector<float>& values, int width, const OnCube& at, int column,
                     int row) {
  const auto centre = [&](int face, int i, int j) {
    return direction_to(
        {at.layer, face, (2 * i + 1.F) / float(width) - 1, (2 * j + 1.F) / float(width) - 1}, 1);
  };
  const Direction to = centre(at.face, column, row);
  float nearest = -2, found = 0;
  for (int face = 0; face < 6; ++face)
    for (int j = 0; j < width; ++j)
      for (int i = 0; i < width; ++i) {
        const Direction d = centre(face, i, j);
        const float cosine =
            (d.x * to.x + d.y * to.y + d.z * to.z) / std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        if (face == at.face || cosine <= nearest) continue;
        nearest = cosine;
        found = values[((6 * at.layer + face) * width + j) * width + i];
      }
  return found;
}

/// The interpolated value at a position of a cube map with seamless filtering.
double between_faces(const std::vector<float>& values, int width, const OnCube& at, double x,
                     double y) {
  double sum = 0, all = 0, weights = 0;
  int numbers = 0;
  for (const int j : {0, 1})
    for (const int i : {0, 1}) {
      const int column = int(std::floor(x)) + i, row = int(std::floor(y)) + j;
      const bool beyond_x = column < 0 || column >= width, beyond_y = row < 0 || row >= width;
      if (beyond_x && beyond_y) continue;  // a corner of the cube, at which three faces join
      const double value = beyond_x || beyond_y
                               ? nearest_beyond(values, width, at, column, row)
                               : values[((6 * at.layer + at.face) * width + row) * width + column];
      const double right = x - std::floor(x), down = y - std::floor(y);
      const double weight = (i == 1 ? right : 1 - right) * (j == 1 ? down : 1 - down);
      sum += weight * value;
      weights += weight;
      all += value;
      ++numbers;
    }
  return sum + (1 - weights) * all / numbers;
}

/// Compares fetches in random directions with the texels around the point on the cube.
void expect_fetched_of_cube(int width, int layers, cudaTextureFilterMode filter,
                            bool seamless = false) {
  constexpr int n = 512;
  const int faces = 6 * layers;
  const std::vector<float> values = random_values(std::size_t(width) * width * faces, -1.F, 1.F);
  const Box<float> cube(make_cudaExtent(width, width, faces), values,
                        cudaArrayCubemap | (layers > 1 ? cudaArrayLayered : 0));
  cudaTextureDesc how = manner(cudaAddressModeClamp, filter, true);
  how.seamlessCubemap = seamless;
  const cudaTextureObject_t texture = texture_of(resource_of(cube.get()), how);
  std::vector<OnCube> places(n);
  for (OnCube& place : places)
    place = {random_value(0, layers - 1), random_value(0, 5), random_value(-0.999F, 0.999F),
             random_value(-0.999F, 0.999F)};
  const auto directions = table<Direction>(
      n, [&](int i) { return direction_to(places[i], random_value(0.01F, 100.F)); });
  Device<OnCube> device_places(places);
  Device<Direction> to(directions);
  Device<float> fetched(n);
  fetch_directions<<<4, n / 4>>>(texture, to.get(), fetched.get(), device_places.get(), layers > 1);
  const std::vector<float> found = fetched.to_host();
  const bool between = filter == cudaFilterModeLinear;
  for (int i = 0; i < n; ++i) {
    const OnCube& at = places[i];
    const double x = (at.s + 1.) / 2 * width - (between ? 0.5 : 0);
    const double y = (at.t + 1.) / 2 * width - (between ? 0.5 : 0);
    // If rounding may select the neighbouring texel, no value is expected.
    if (!between && (std::abs(x - std::round(x)) < 1e-4 || std::abs(y - std::round(y)) < 1e-4))
      continue;
    const double right = between ? x - std::floor(x) : 0, down = between ? y - std::floor(y) : 0;
    double sum = 0;
    for (const int j : {0, 1})
      for (const int k : {0, 1}) {
        const int column = taken(int(std::floor(x)) + k, width, cudaAddressModeClamp);
        const int row = taken(int(std::floor(y)) + j, width, cudaAddressModeClamp);
        sum += (k == 1 ? right : 1 - right) * (j == 1 ? down : 1 - down) *
               values[((6 * at.layer + at.face) * width + row) * width + column];
      }
    if (seamless && between) sum = between_faces(values, width, at, x, y);
    expect_near(double(found[i]), sum, between ? 6. / 512 : 0.);
  }
  check(cudaDestroyTextureObject(texture));
}

TEST(cubes_are_fetched_by_direction) {
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    expect_fetched_of_cube(1, 1, filter);
    expect_fetched_of_cube(8, 1, filter);
    expect_fetched_of_cube(5, 3, filter);
  }
}

TEST(cubes_without_seams_go_on_behind_their_edges) {
  expect_fetched_of_cube(2, 1, cudaFilterModeLinear, true);
  expect_fetched_of_cube(5, 3, cudaFilterModeLinear, true);
  expect_fetched_of_cube(16, 1, cudaFilterModeLinear, true);
  expect_fetched_of_cube(5, 1, cudaFilterModePoint, true);
}

__global__ void fill_faces(cudaSurfaceObject_t surface, bool layered) {
  const int x = int(threadIdx.x), y = int(threadIdx.y), face = int(threadIdx.z);
  const int size = sizeof(int), value = 100 * face + 10 * y + x;
  if (layered)
    surfCubemapLayeredwrite(value, surface, x * size, y, face);
  else
    surfCubemapwrite(surfCubemapread<int>(surface, x * size, y, face) + value, surface, x * size, y,
                     face);
}

TEST(faces_of_cubes_are_read_and_written_as_surfaces) {
  constexpr int width = 3;
  for (const int layers : {1, 2}) {
    const int size = width * width * 6 * layers;
    const Box<int> cube(
        make_cudaExtent(width, width, 6 * layers), std::vector<int>(size, 0),
        cudaArrayCubemap | cudaArraySurfaceLoadStore | (layers > 1 ? cudaArrayLayered : 0));
    const cudaResourceDesc resource = resource_of(cube.get());
    cudaSurfaceObject_t surface = 0;
    check(cudaCreateSurfaceObject(&surface, &resource));
    fill_faces<<<1, dim3(width, width, 6 * layers)>>>(surface, layers > 1);
    expect_equal(cube.values(), table<int>(size, [&](int i) {
                   return 100 * (i / (width * width)) + 10 * (i / width % width) + i % width;
                 }));
    check(cudaDestroySurfaceObject(surface));
  }
}

TEST(what_is_no_cube_is_refused) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  const unsigned layers_of_cubes = cudaArrayCubemap | cudaArrayLayered;
  const auto make = [&](std::size_t width, std::size_t height, std::size_t depth, unsigned flags) {
    return cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags);
  };
  expect_refusal(make(4, 5, 6, cudaArrayCubemap), cudaErrorInvalidValue);
  expect_refusal(make(4, 4, 12, cudaArrayCubemap), cudaErrorInvalidValue);
  expect_refusal(make(4, 4, 8, layers_of_cubes), cudaErrorInvalidValue);
  expect_refusal(make(4, 4, 0, cudaArrayLayered), cudaErrorInvalidValue);
}

// --- Surfaces

__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n) {
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  const int size = sizeof(float);
  surf2Dwrite(surf2Dread<float>(from, x * size, y), to, (n - 1 - y) * size, x);
}

__global__ void read_beyond(cudaSurfaceObject_t surface, float* values, int n,
                            cudaSurfaceBoundaryMode mode) {
  surf2Dread(&values[0], surface, -4, 0, mode);
  surf2Dread(&values[1], surface, n * 4, 1, mode);
  surf2Dwrite(5.F, surface, 0, n + 1, cudaBoundaryModeZero);
}

TEST(surfaces_are_read_and_written) {
  constexpr int n = 13;
  const std::vector<float> values = random_values(n * n, -1.F, 1.F);
  const Image<float> from(n, n, values, cudaArraySurfaceLoadStore);
  const Image<float> to(n, n, values, cudaArraySurfaceLoadStore);
  std::array<cudaSurfaceObject_t, 2> surfaces{};
  const cudaResourceDesc resources[] = {resource_of(from.get()), resource_of(to.get())};
  for (const int i : {0, 1}) check(cudaCreateSurfaceObject(&surfaces[i], &resources[i]));
  turn<<<1, dim3(n, n)>>>(surfaces[0], surfaces[1], n);
  std::vector<float> found(n * n);
  check(cudaMemcpy2DFromArray(found.data(), n * sizeof(float), to.get(), 0, 0, n * sizeof(float), n,
                              cudaMemcpyDeviceToHost));
  expect_equal(found,
               table<float>(n * n, [&](int i) { return values[(n - 1 - i % n) * n + i / n]; }));
  Device<float> beyond(2);
  read_beyond<<<1, 1>>>(surfaces[0], beyond.get(), n, cudaBoundaryModeZero);
  expect_equal(beyond.to_host(), std::vector<float>{0, 0});
  read_beyond<<<1, 1>>>(surfaces[0], beyond.get(), n, cudaBoundaryModeClamp);
  expect_equal(beyond.to_host(), std::vector<float>{values[0], values[2 * n - 1]});
  for (const cudaSurfaceObject_t surface : surfaces) check(cudaDestroySurfaceObject(surface));
}

TEST(what_cannot_be_is_refused) {
  const Image<int> image(4, 4, std::vector<int>(16));
  const cudaResourceDesc resource = resource_of(image.get());
  cudaTextureDesc how = manner(cudaAddressModeClamp, cudaFilterModeLinear, false);
  cudaTextureObject_t texture = 0;
  expect_refusal(cudaCreateTextureObject(&texture, &resource, &how, nullptr),
                 cudaErrorInvalidFilterSetting);
  how = manner(cudaAddressModeClamp, cudaFilterModePoint, false);
  how.readMode = cudaReadModeNormalizedFloat;
  expect_refusal(cudaCreateTextureObject(&texture, &resource, &how, nullptr),
                 cudaErrorInvalidNormSetting);
  const cudaChannelFormatDesc three = cudaCreateChannelDesc<float3>();
  cudaArray_t array = nullptr;
  expect_refusal(cudaMallocArray(&array, &three, 4, 4), cudaErrorInvalidChannelDescriptor);
  check(cudaDestroyTextureObject(0));
  std::vector<int> row(5);
  expect_refusal(
      cudaMemcpy2DToArray(image.get(), 0, 0, row.data(), 20, 20, 1, cudaMemcpyHostToDevice),
      cudaErrorInvalidValue);
}

// --- Copies between arrays, and queries

TEST(arrays_are_copied_to_arrays_and_in_streams) {
  constexpr int width = 6, height = 4, row = width * sizeof(float);
  const std::vector<float> values = random_values(width * height, -1.F, 1.F);
  const Image<float> from(width, height, values);
  const Image<float> to(width, height, std::vector<float>(width * height, 5.F));
  const tap::Stream stream;
  std::vector<float> found(width * height);
  check(cudaMemcpy2DArrayToArray(to.get(), sizeof(float), 2, from.get(), 2 * sizeof(float), 1,
                                 3 * sizeof(float), 2));
  check(cudaDeviceSynchronize());  // the call may return before the copy is complete
  check(cudaMemcpy2DFromArrayAsync(found.data(), row, to.get(), 0, 0, row, height,
                                   cudaMemcpyDeviceToHost, stream.get()));
  check(cudaStreamSynchronize(stream.get()));
  expect_equal(found, table<float>(width * height, [&](int i) {
                 const int x = i % width, y = i / width;
                 return x >= 1 && x < 4 && y >= 2 ? values[(y - 1) * width + x + 1] : 5.F;
               }));
  expect_refusal(cudaMemcpy2DArrayToArray(to.get(), 0, 3, from.get(), 0, 0, row, 2),
                 cudaErrorInvalidValue);
}

TEST(boxes_are_filled_and_copied_between_devices) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  const cudaExtent extent = make_cudaExtent(8, 3, 2);
  const tap::Stream stream;
  cudaPitchedPtr from{}, to{};
  check(cudaMalloc3D(&from, extent));
  check(cudaSetDevice(devices - 1));
  check(cudaMalloc3D(&to, extent));
  check(cudaMemset3D(to, 1, extent));
  check(cudaDeviceSynchronize());
  check(cudaSetDevice(0));
  check(cudaMemset3DAsync(from, 9, extent, stream.get()));
  cudaMemcpy3DPeerParms copy{};
  copy.srcPtr = from;
  copy.dstPtr = to;
  copy.dstPos = make_cudaPos(2, 1, 1);
  copy.dstDevice = devices - 1;
  copy.extent = make_cudaExtent(4, 2, 1);
  check(cudaMemcpy3DPeerAsync(&copy, stream.get()));
  check(cudaStreamSynchronize(stream.get()));
  copy.dstPos = make_cudaPos(0, 0, 0);
  copy.extent = make_cudaExtent(1, 1, 1);
  check(cudaMemcpy3DPeer(&copy));
  std::vector<char> found(8 * 3 * 2);
  cudaMemcpy3DParms back{};
  back.srcPtr = to;
  back.dstPtr = make_cudaPitchedPtr(found.data(), 8, 8, 3);
  back.extent = extent;
  back.kind = cudaMemcpyDeviceToHost;
  check(cudaMemcpy3D(&back));
  expect_equal(found, table<char>(found.size(), [](int i) {
                 const int x = i % 8, y = i / 8 % 3, z = i / 24;
                 return i == 0 || (x >= 2 && x < 6 && y >= 1 && z == 1) ? 9 : 1;
               }));
  copy.dstDevice = devices;
  expect_refusal(cudaMemcpy3DPeer(&copy), cudaErrorInvalidDevice);
  check(cudaFree(from.ptr));
  check(cudaFree(to.ptr));
}

TEST(objects_tell_how_they_were_made) {
  const Image<float> image(4, 4, std::vector<float>(16), cudaArraySurfaceLoadStore);
  const cudaResourceDesc resource = resource_of(image.get());
  const cudaTextureDesc how = manner(cudaAddressModeMirror, cudaFilterModeLinear, true);
  const cudaTextureObject_t texture = texture_of(resource, how);
  cudaSurfaceObject_t surface = 0;
  check(cudaCreateSurfaceObject(&surface, &resource));
  cudaResourceDesc of_texture{}, of_surface{};
  cudaTextureDesc found{};
  check(cudaGetTextureObjectResourceDesc(&of_texture, texture));
  check(cudaGetSurfaceObjectResourceDesc(&of_surface, surface));
  check(cudaGetTextureObjectTextureDesc(&found, texture));
  expect_equal(of_texture.resType, cudaResourceTypeArray);
  expect(of_texture.res.array.array == image.get(), "the texture has its array");
  expect(of_surface.res.array.array == image.get(), "the surface has its array");
  expect_equal(found.addressMode[0], cudaAddressModeMirror);
  expect_equal(found.filterMode, cudaFilterModeLinear);
  expect_equal(found.normalizedCoords, 1);
  check(cudaDestroyTextureObject(texture));
  check(cudaDestroySurfaceObject(surface));
  expect_refusal(cudaGetTextureObjectResourceDesc(&of_texture, 0), cudaErrorInvalidValue);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
