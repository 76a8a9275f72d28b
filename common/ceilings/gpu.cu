#include "gpu.hpp"

#include <algorithm>
#include <fstream>
#include <harness/device.hpp>
#include <staircase/cuda.hpp>
#include <staircase/mma.hpp>
#include <staircase/stream.hpp>

namespace staircase {
namespace {

constexpr int block = 256;

/// The number of independent dependency chains x = x * a + b per thread, all in registers. There
/// are about twelve warps per warp scheduler, so a few chains per thread hide the latency of a
/// multiply-add.
constexpr int chains = 8;

template <typename Real>
__global__ void multiply_add(Real a, Real b, long steps, Real* sums) {
  Real x[chains];
  for (int c = 0; c < chains; ++c) x[c] = threadIdx.x + c;  // equal chains would be merged
#pragma unroll 32
  for (long step = 0; step < steps; ++step)
#pragma unroll
    for (int c = 0; c < chains; ++c) x[c] = x[c] * a + b;
  Real sum = 0;
  for (int c = 0; c < chains; ++c) sum += x[c];
  sums[blockIdx.x * block + threadIdx.x] = sum;
}

/// The number of independent products of small matrices per warp, all in registers. A few products
/// suffice, because a tensor core needs many cycles for each product.
constexpr int tiles = 4;

/// Executes `steps` steps of C = C + A·B for each matrix product of a warp. `multiply` executes one
/// step on tensor cores.
template <int in_a, int in_b, int in_c, typename Multiply>
__device__ void multiply_tiles(long steps, double* sums, Multiply multiply) {
  double a[in_a], b[in_b], c[tiles][in_c] = {};
  for (int r = 0; r < in_a; ++r) a[r] = 0.99 - 1e-3 * (threadIdx.x + r);
  for (int r = 0; r < in_b; ++r) b[r] = 1e-3 * (threadIdx.x + r);
#pragma unroll 4
  for (long step = 0; step < steps; ++step)
#pragma unroll
    for (int t = 0; t < tiles; ++t) multiply(c[t], a, b);
  double sum = 0;
  for (int t = 0; t < tiles; ++t)
    for (int r = 0; r < in_c; ++r) sum += c[t][r];
  sums[blockIdx.x * block + threadIdx.x] = sum;
}

/// Computes products in f64 on tensor cores. The kernel is empty in code for GPUs whose tensor
/// cores do not support f64.
__global__ void __launch_bounds__(block, 2) multiply_matrices(long steps, double* sums) {
#if __CUDA_ARCH__ >= 900
  multiply_tiles<8, 4, 4>(steps, sums, mma_f64_m16n8k16);
#elif __CUDA_ARCH__ >= 800
  multiply_tiles<1, 1, 2>(steps, sums, mma_f64_m8n8k4);
#endif
}

/// The number of operations per warp, step and product in multiply_matrices(). The number is 0 if
/// the GPU, or the code compiled for it, does not support f64 tensor cores.
double flops_of_tile() {
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, multiply_matrices));
  return code.ptxVersion >= 90 ? 2.0 * 16 * 8 * 16 : code.ptxVersion >= 80 ? 2.0 * 8 * 8 * 4 : 0;
}

/// The time, in seconds on the device, of the work that `start_work` enqueues.
template <typename StartWork>
double device_seconds(StartWork start_work) {
  Event start, stop;
  start.record();
  start_work();
  check_launch();
  stop.record();
  stop.wait();
  return stop.seconds_since(start);
}

/// The number of thread blocks with which a kernel occupies all SMs completely.
template <typename Kernel>
int full_grid(Kernel kernel) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, 0));
  return device.multiProcessorCount * blocks;
}

/// The number of operations per second of the kernel that `start(steps)` launches: the best of nine
/// runs.
template <typename Start>
double best_rate(double flops_a_step, Start start) {
  const auto run = [&](long steps) {
    return flops_a_step * static_cast<double>(steps) / device_seconds([&] { start(steps); });
  };
  // A rough measurement of the rate determines the number of steps that take about 10 ms.
  const long probe = 1000;
  run(probe);
  const long steps = std::max(probe, static_cast<long>(0.01 * run(probe) / flops_a_step));
  double best = 0;
  for (int r = 0; r < 9; ++r) best = std::max(best, run(steps));
  return best;
}

/// The number of operations per second of fused multiply-adds, each counted as two operations.
template <typename Real>
double flop_rate() {
  const int blocks = full_grid(multiply_add<Real>);
  DeviceArray<Real, 1> sums(blocks * block);
  return best_rate(2.0 * chains * block * blocks, [&](long steps) {
    multiply_add<Real><<<blocks, block>>>(Real(0.99), Real(1e-3), steps, sums.data());
  });
}

/// The number of operations per second of the f64 tensor cores; 0 if there are none.
double matrix_flop_rate() {
  const double flops = flops_of_tile();
  if (flops == 0) return 0;
  const int blocks = full_grid(multiply_matrices);
  DeviceArray<double, 1> sums(blocks * block);
  return best_rate(flops * tiles * (block / 32) * blocks,
                   [&](long steps) { multiply_matrices<<<blocks, block>>>(steps, sums.data()); });
}

/// The bandwidth of copies that are much larger than the L2 cache, in bytes read plus written per
/// second: the best of nine runs.
double copy_rate() {
  const double bytes = std::min(this_device().free_memory() / 4, 0x1p32);
  const auto count = static_cast<std::size_t>(bytes / sizeof(double));
  DeviceArray<double, 1> from(count), to(count);
  double best = 0;
  for (int r = 0; r < 9; ++r) {
    const double seconds = device_seconds([&] {
      check(cudaMemcpyAsync(to.data(), from.data(), count * sizeof(double),
                            cudaMemcpyDeviceToDevice));
    });
    best = std::max(best, 2 * sizeof(double) * static_cast<double>(count) / seconds);
  }
  return best;
}

Rates measure() {
  const double flops_f64 = flop_rate<double>();
  return {flops_f64, flop_rate<float>(), copy_rate(), std::max(flops_f64, matrix_flop_rate())};
}

/// The version of the driver's kernel module or, if this version is not visible (WSL), the CUDA
/// version of the driver.
std::string driver_version() {
  std::string release;
  if (std::ifstream("/sys/module/nvidia/version") >> release) return release;
  int version = 0;
  check(cudaDriverGetVersion(&version));
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::optional<Gpu> this_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return {};
  return Gpu{this_device().name(), driver_version(), measure};
}

}  // namespace staircase
