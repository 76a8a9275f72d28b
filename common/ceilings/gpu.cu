#include "gpu.hpp"

#include <algorithm>
#include <fstream>
#include <staircase/cuda.hpp>

namespace staircase {
namespace {

constexpr int block = 256;

/// Independent sequences x = x * a + b in a thread, kept in registers. A scheduler has a dozen
/// warps, so that together with them a few chains hide how long a multiply-add takes.
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

/// A mark in the stream of work, of which the device takes the time.
class Mark {
 public:
  Mark() { check(cudaEventCreate(&event_)); }
  ~Mark() { cudaEventDestroy(event_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  void record() { check(cudaEventRecord(event_)); }
  double seconds_since(const Mark& start) const {
    float milliseconds = 0;
    check(cudaEventSynchronize(event_));
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t event_{};
};

/// Seconds that the device is busy with what `start_work` starts.
template <typename StartWork>
double device_seconds(StartWork start_work) {
  Mark start, stop;
  start.record();
  start_work();
  check_launch();
  stop.record();
  return stop.seconds_since(start);
}

/// Operations a second with all multiprocessors full of threads: the best of nine runs.
template <typename Real>
double flop_rate() {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  const int blocks = device.multiProcessorCount * (device.maxThreadsPerMultiProcessor / block);
  DeviceArray<Real, 1> sums(blocks * block);
  const auto run = [&](long steps) {
    const double flops = 2.0 * chains * block * blocks * static_cast<double>(steps);
    return flops / device_seconds([&] {
             multiply_add<Real>
                 <<<blocks, block>>>(Real(0.99), Real(1e-3), steps, sums.view().data());
           });
  };
  // Steps for about 10 ms, from a first guess of the rate.
  const long probe = 1000;
  run(probe);
  const double flops_a_step = 2.0 * chains * block * blocks;
  const long steps = std::max(probe, static_cast<long>(0.01 * run(probe) / flops_a_step));
  double best = 0;
  for (int r = 0; r < 9; ++r) best = std::max(best, run(steps));
  return best;
}

/// Bytes a second of copies that are too large for the cache: the best of nine runs.
double copy_rate() {
  const double bytes = std::min(available_gpu_memory() / 4, 0x1p32);
  const auto count = static_cast<std::size_t>(bytes / sizeof(double));
  DeviceArray<double, 1> from(count), to(count);
  double best = 0;
  for (int r = 0; r < 9; ++r) {
    const double seconds = device_seconds([&] {
      check(cudaMemcpyAsync(to.view().data(), from.view().data(), count * sizeof(double),
                            cudaMemcpyDeviceToDevice));
    });
    best = std::max(best, 2 * sizeof(double) * static_cast<double>(count) / seconds);
  }
  return best;
}

Rates measure() { return {flop_rate<double>(), flop_rate<float>(), copy_rate()}; }

/// The release of the driver's kernel module, or where that is hidden (in WSL) its CUDA version.
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
  return Gpu{gpu_name(), driver_version(), measure};
}

}  // namespace staircase
