/// \file
/// Processor-dependent code: switches between stacks, and the location of shared memory. There are
/// few launches, because an emulator of another processor runs them.

#include <cooperative_groups.h>

#include <numeric>
#include <vector>

#include "device.hpp"

namespace cg = cooperative_groups;

using tap::Device;
using tap::expect_equal;

namespace {

constexpr unsigned threads = 96, blocks = 4, all_lanes = 0xFFFFFFFF;

/// The values 1, 2, 3 and so on, one per thread of the grid.
std::vector<double> numbers() {
  std::vector<double> numbers(threads * blocks);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  return numbers;
}

}  // namespace

__global__ void add(const double* x, double* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + 2 * x[i];
}

TEST(vectors_are_added) {
  const Device<double> x(numbers()), made(threads * blocks);
  add<<<blocks, threads>>>(x.get(), made.get());
  const auto y = made.to_host();
  for (std::size_t i = 0; i < y.size(); ++i) expect_equal(y[i], 3 * (i + 1));
}

/// Integers and floating-point values stay in registers while threads wait.
__global__ void reduce(const double* x, double* y) {
  __shared__ double parts[threads];
  const unsigned i = threadIdx.x;
  const double mine = x[blockIdx.x * blockDim.x + i];
  const double twice = 2 * mine, half = mine / 2;
  parts[i] = mine;
  double sum = 0;
  for (unsigned step = 0; step < blockDim.x; ++step) {
    __syncthreads();
    sum += parts[(i + step) % blockDim.x] + twice - mine * half / half - mine;
  }
  y[blockIdx.x * blockDim.x + i] = sum;
}

TEST(registers_and_shared_memory_last_over_barriers) {
  const Device<double> x(numbers()), made(threads * blocks);
  reduce<<<blocks, threads>>>(x.get(), made.get());
  const auto y = made.to_host();
  for (std::size_t i = 0; i < y.size(); ++i)
    expect_equal(y[i], threads * (i / threads * threads + (threads + 1) / 2.0));
}

__global__ void sum_by_shuffles(const double* x, double* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = x[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(all_lanes, sum, offset);
  if (threadIdx.x % 32 == 0) y[i / 32] = sum;
}

TEST(lanes_shuffle) {
  const Device<double> x(numbers()), made(threads * blocks / 32);
  sum_by_shuffles<<<blocks, threads>>>(x.get(), made.get());
  const auto y = made.to_host();
  for (std::size_t i = 0; i < y.size(); ++i) expect_equal(y[i], 32 * (32 * i + 16.5));
}

/// Accesses shared memory of the next block, and of this block through a 32-bit address of PTX.
__global__ void __cluster_dims__(blocks, 1, 1) pass_around(const double* x, double* y) {
  __shared__ double mine[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned i = threadIdx.x, rank = cluster.block_rank();
  mine[i] = x[rank * blockDim.x + i];
  cluster.sync();
  const double* const next = cluster.map_shared_rank(mine, (rank + 1) % blocks);
  const auto narrow = static_cast<unsigned>(__cvta_generic_to_shared(&mine[i]));
  const auto* const again = static_cast<const double*>(__cvta_shared_to_generic(narrow));
  y[rank * blockDim.x + i] = next[i] + *again;
  cluster.sync();
}

TEST(blocks_of_a_cluster_read_the_shared_memory_of_the_next) {
  const Device<double> x(numbers()), made(threads * blocks);
  pass_around<<<blocks, threads>>>(x.get(), made.get());
  const auto y = made.to_host();
  for (std::size_t i = 0; i < y.size(); ++i)
    expect_equal(y[i], (i + threads) % (threads * blocks) + 1 + i + 1);
}

/// Requests a copy that uses shared memory. The device recognises the address and refuses the copy.
__global__ void copy_shared(double* y, cudaError_t* error) {
  __shared__ double mine[2];
  mine[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0)
    *error = cudaMemcpyAsync(y, mine, sizeof mine, cudaMemcpyDeviceToDevice, nullptr);
}

TEST(shared_memory_is_known_by_its_address) {
  const Device<double> y(2);
  const Device<cudaError_t> error(1);
  copy_shared<<<1, 2>>>(y.get(), error.get());
  expect_equal(error.to_host()[0], cudaErrorInvalidValue);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
