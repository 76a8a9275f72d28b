/// \file
/// The costs of the CPU device: a benchmark that fails if a cost exceeds its bound.
///
/// Each time is the minimum of several repetitions, on one operating-system thread.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

__global__ void add(const float* a, const float* b, float* c, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__global__ void add_scaled(float a, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

constexpr int scan_width = 256;

/// Computes an inclusive scan of a block in log2(scan_width) steps.
__global__ void scan(const float* in, float* out) {
  __shared__ float sums[2][scan_width];
  const unsigned i = threadIdx.x;
  const std::size_t at = std::size_t{blockIdx.x} * scan_width + i;
  int from = 0;
  sums[from][i] = in[at];
  __syncthreads();
  for (unsigned step = 1; step < scan_width; step *= 2, from = 1 - from) {
    sums[1 - from][i] = sums[from][i] + (i >= step ? sums[from][i - step] : 0);
    __syncthreads();
  }
  out[at] = sums[from][i];
}

constexpr int tile_width = 16;

__global__ void multiply_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[tile_width][tile_width], tile_b[tile_width][tile_width];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * tile_width + x;
  const int row = static_cast<int>(blockIdx.y) * tile_width + y;
  float sum = 0;
  for (int first = 0; first < n; first += tile_width) {
    tile_a[y][x] = a[row * n + first + x];
    tile_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile_width; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void wait_often(int times) {
  for (int i = 0; i < times; ++i) __syncthreads();
}

__global__ void shuffle_often(float* out, int times) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < times; ++i) value += __shfl_down_sync(0xffffffff, value, 16);
  out[threadIdx.x] = value;
}

template <typename Work>
double seconds(const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 7; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

int failures = 0;

void show(const char* what, double value, const char* unit, double bound) {
  const bool well = value <= bound;
  failures += !well;
  std::printf("%-46s %8.2f %-22s at most %5.2f  %s\n", what, value, unit, bound,
              well ? "ok" : "TOO MUCH");
}

__attribute__((noinline)) void add_on_host(const float* a, const float* b, float* c,
                                           std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

__attribute__((noinline)) void multiply_on_host(const float* a, const float* b, float* c, int n) {
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      c[row * n + column] = sum;
    }
}

float* device_array(const std::vector<float>& values) {
  float* array = nullptr;
  const std::size_t bytes = values.size() * sizeof(float);
  if (cudaMalloc(&array, bytes) != cudaSuccess ||
      cudaMemcpy(array, values.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
    std::fprintf(stderr, "the device failed: %s\n", cudaGetErrorString(cudaGetLastError()));
    std::exit(3);
  }
  return array;
}

void measure_kernels() {
  constexpr int n = 512;
  constexpr std::size_t points = std::size_t{1} << 22;
  std::vector<float> a(points, 1), b(points, 2), c(points);
  float* device_a = device_array(a);
  float* device_b = device_array(b);
  float* device_c = device_array(c);

  const double host_product = seconds([&] { multiply_on_host(a.data(), b.data(), c.data(), n); });
  const double product = seconds([&] {
    multiply<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(device_a, device_b, device_c, n);
    cudaDeviceSynchronize();
  });
  show("matrix product without barriers", product / host_product, "times the host's loop", 1.3);

  const double host_sum = seconds([&] { add_on_host(a.data(), b.data(), c.data(), points); });
  const double sum = seconds([&] {
    add<<<points / 256, 256>>>(device_a, device_b, device_c, points);
    cudaDeviceSynchronize();
  });
  std::printf("%-46s %8.2f ns per thread (the host's loop, vectorised: %.2f)\n",
              "sum of two arrays, one per thread", 1e9 * sum / points, 1e9 * host_sum / points);
  for (float* array : {device_a, device_b, device_c}) cudaFree(array);
}

void measure_threads() {
  constexpr int times = 2000;
  float* out = device_array(std::vector<float>(1024));
  for (const int threads : {256, 1024}) {
    const double time = seconds([&] {
      wait_often<<<1, threads>>>(times);
      cudaDeviceSynchronize();
    });
    char what[64];
    std::snprintf(what, sizeof what, "__syncthreads(), %d threads", threads);
    show(what, 1e9 * time / times / threads, "ns per thread", 8);
  }
  const double time = seconds([&] {
    shuffle_often<<<1, 256>>>(out, times);
    cudaDeviceSynchronize();
  });
  show("__shfl_down_sync()", 1e9 * time / times / 256, "ns per lane", 12);
  cudaFree(out);
}

/// Counts the accesses in the scan of a block: four per thread, and up to three more in each step.
constexpr int scan_accesses() {
  int accesses = 4 * scan_width;
  for (int step = 1; step < scan_width; step *= 2) accesses += 3 * scan_width - step;
  return accesses;
}

void measure_analysis() {
  constexpr int n = 96;
  constexpr std::size_t points = std::size_t{1} << 18;
  const std::vector<float> values(points, 1);
  float* a = device_array(values);
  float* b = device_array(values);
  float* c = device_array(values);
  const auto analyse = [](const char* what, double accesses, double bound, const auto& launch) {
    const double time = seconds([&] {
      launch();
      cudaDeviceSynchronize();
    });
    show(what, 1e9 * time / accesses, "ns per access", bound);
  };

  analyse("full analysis of the matrix product", 2.0 * n * n * n, 30,
          [&] { multiply<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, c, n); });
  analyse("full analysis of the tiled product", 2.0 * n * n * (n + n / tile_width), 45, [&] {
    multiply_tiled<<<dim3(n / tile_width, n / tile_width), dim3(tile_width, tile_width)>>>(a, b, c,
                                                                                           n);
  });
  analyse("full analysis of a scan in shared memory",
          static_cast<double>(points / scan_width) * scan_accesses(), 60,
          [&] { scan<<<points / scan_width, scan_width>>>(a, c); });
  analyse("full analysis of saxpy", 3.0 * points, 75,
          [&] { add_scaled<<<points / 256, 256>>>(2, a, c, points); });
  for (float* array : {a, b, c}) cudaFree(array);
}

}  // namespace

int main() {
#ifdef CUDA_ON_CPU_ANALYSE
  constexpr bool analysed = true;
#else
  constexpr bool analysed = false;
#endif
  if (analysed) {
    measure_analysis();
  } else {
    measure_kernels();
    measure_threads();
  }
  return failures == 0 ? 0 : 1;
}
