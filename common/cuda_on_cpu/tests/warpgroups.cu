/// \file
/// Bulk copies and warpgroup products from staircase/bulk_copy.hpp and staircase/wgmma.hpp.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <staircase/bulk_copy.hpp>
#include <staircase/wgmma.hpp>
#include <type_traits>
#include <vector>

#include "device.hpp"

using staircase::position_in_warpgroup;
using staircase::swizzled_offset;
using staircase::TransferBarrier;
using tap::Device;
using tap::expect_equal;
using tap::random_value;
using tap::random_values;
using tap::table;

/// Skips the test on GPUs without `wgmma` or bulk copies.
void require_hopper() {
  int major = 0, minor = 0;
  tap::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  tap::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  if (major != 9 || minor != 0) tap::skip("this test needs compute capability 9.0");
}

// --- Positions in shared memory

constexpr unsigned row_bytes = 128, rows_of_a = 64, rows_of_b = 256;

TEST(eight_rows_fill_1024_bytes) {
  for (unsigned i0 = 0; i0 < rows_of_b; i0 += 8) {
    std::vector<int> bytes_at(1024);
    for (unsigned i = i0; i < i0 + 8; ++i)
      for (unsigned k = 0; k < row_bytes; ++k)
        ++bytes_at.at(swizzled_offset(i, k) - i0 * row_bytes);
    expect_equal(bytes_at, std::vector<int>(1024, 1));
  }
}

TEST(chunks_of_16_bytes_stay_whole_and_eight_of_a_column_meet_all_banks) {
  for (unsigned k = 0; k < row_bytes; k += 16) {
    std::vector<int> chunks_at(8);
    for (unsigned i = 0; i < 8; ++i) {
      for (unsigned byte = 0; byte < 16; ++byte)
        expect_equal(swizzled_offset(i, k + byte), swizzled_offset(i, k) + byte);
      ++chunks_at[swizzled_offset(i, k) % 128 / 16];
    }
    expect_equal(chunks_at, std::vector<int>(8, 1));
  }
}

TEST(a_warpgroup_holds_each_number_once) {
  std::vector<int> holders(rows_of_a * rows_of_b);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned index = 0; index < 128; ++index) {
      const auto [row, column] = position_in_warpgroup(thread, index);
      ++holders.at(row * rows_of_b + column);
    }
  expect_equal(holders, std::vector<int>(rows_of_a * rows_of_b, 1));
}

// --- Products

template <typename Number>
constexpr unsigned row_size = row_bytes / sizeof(Number);  // elements of a row

/// The type of sums of products.
template <typename Number>
using Sum = std::conditional_t<std::is_same_v<Number, float>, float, std::int32_t>;

template <typename Number>
struct Operands {
  Number b[rows_of_b * row_size<Number>], a[2][rows_of_a * row_size<Number>];
  TransferBarrier full;
};

__device__ inline void add_product(std::int32_t (&sum)[128], const std::int8_t* a,
                                   const std::int8_t* b, unsigned k0, unsigned) {
  staircase::wgmma_s8_m64n256k32(sum, a, b, k0);
}
__device__ inline void add_product(float (&sum)[128], const float* a, const float* b, unsigned ka,
                                   unsigned kb) {
  staircase::wgmma_tf32_m64n256k8(sum, a, ka, b, kb);
}

/// Computes c += a bᵀ over bytes [begin, end) of rows of a; rows of b begin `further` bytes later.
/// Each warpgroup has 64 rows of a, and all share b. Matrices have the layout of shared memory.
template <typename Number, unsigned begin, unsigned end, unsigned further>
__global__ void __launch_bounds__(256) multiply(const Number* a, const Number* b, Sum<Number>* c) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& operands = *reinterpret_cast<Operands<Number>*>(bytes);
  const unsigned warpgroup = threadIdx.x / 128, warpgroups = blockDim.x / 128;
  if (threadIdx.x == 0) {
    operands.full.init(1);
    staircase::fence_barriers();
    const unsigned bytes_of_a = warpgroups * sizeof(operands.a[0]);
    operands.full.arrive_and_expect(sizeof(operands.b) + bytes_of_a);
    staircase::bulk_copy(operands.b, b, sizeof(operands.b), operands.full);
    staircase::bulk_copy(operands.a, a, bytes_of_a, operands.full);
  }
  __syncthreads();
  c += warpgroup * rows_of_a * rows_of_b;
  Sum<Number> sum[128];
#pragma unroll
  for (unsigned index = 0; index < 128; ++index) {
    const auto [row, column] = position_in_warpgroup(threadIdx.x % 128, index);
    sum[index] = c[row * rows_of_b + column];
  }
  operands.full.wait(0);
  staircase::wgmma_begin();
#pragma unroll
  for (unsigned k0 = begin; k0 < end; k0 += 32)
    add_product(sum, operands.a[warpgroup], operands.b, k0, k0 + further);
  staircase::wgmma_commit();
  staircase::wgmma_wait<0>();
#pragma unroll
  for (unsigned index = 0; index < 128; ++index) {
    const auto [row, column] = position_in_warpgroup(threadIdx.x % 128, index);
    c[row * rows_of_b + column] = sum[index];
  }
}

/// Rows of random values; the first two rows are the extremes. Integers of 10 bits are exact in
/// tf32, and so are their sums in f32.
template <typename Number>
std::vector<Number> random_rows(unsigned rows) {
  const Number least = std::is_same_v<Number, float> ? -512 : -128;
  const Number most = std::is_same_v<Number, float> ? 511 : 127;
  auto numbers = random_values<Number>(rows * row_size<Number>, least, most);
  if constexpr (std::is_same_v<Number, float>)
    for (float& number : numbers) number = std::rint(number);
  std::fill_n(numbers.begin(), row_size<Number>, least);
  std::fill_n(numbers.begin() + row_size<Number>, row_size<Number>, most);
  return numbers;
}

template <typename Number>
std::vector<Number> placed(const std::vector<Number>& numbers) {
  std::vector<Number> result(numbers.size());
  for (unsigned e = 0; e < numbers.size(); ++e) {
    const unsigned row = e / row_size<Number>, k = e % row_size<Number>;
    result[swizzled_offset(row, sizeof(Number) * k) / sizeof(Number)] = numbers[e];
  }
  return result;
}

template <typename Number, unsigned begin, unsigned end, unsigned further = 0>
void expect_product(unsigned warpgroups, tap::Location place = tap::Location::current()) {
  const unsigned rows = warpgroups * rows_of_a;
  const auto a = random_rows<Number>(rows), b = random_rows<Number>(rows_of_b);
  std::vector<Sum<Number>> c(rows * rows_of_b);
  const int most = std::is_same_v<Number, float> ? 1'000'000 : 1'000'000'000;
  const auto whole = random_values<std::int32_t>(c.size(), -most, most);
  std::copy(whole.begin(), whole.end(), c.begin());
  const Device<Number> device_a(placed(a)), device_b(placed(b));
  const Device<Sum<Number>> device_c(c);
  constexpr auto bytes = static_cast<int>(sizeof(Operands<Number>));
  const auto kernel = multiply<Number, begin, end, further>;
  tap::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             place);
  kernel<<<1, 128 * warpgroups, bytes>>>(device_a.get(), device_b.get(), device_c.get());
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < rows_of_b; ++j)
      for (unsigned k = begin / sizeof(Number); k < end / sizeof(Number); ++k)
        c[i * rows_of_b + j] +=
            a[i * row_size<Number> + k] * b[j * row_size<Number> + k + further / sizeof(Number)];
  expect_equal(device_c.to_host(place), c, place);
}

template <typename Number>
void expect_products() {
  expect_product<Number, 0, 32>(1);
  expect_product<Number, 32, 64>(1);
  expect_product<Number, 64, 96>(1);
  expect_product<Number, 96, 128>(1);
  expect_product<Number, 0, row_bytes>(1);
  expect_product<Number, 0, row_bytes>(2);
  expect_product<Number, 32, 96>(2);
}

TEST(warpgroups_multiply_bytes) {
  require_hopper();
  expect_products<std::int8_t>();
}

TEST(warpgroups_multiply_tf32) {
  require_hopper();
  expect_products<float>();
  expect_product<float, 0, 64, 64>(2);
  expect_product<float, 0, 32, 96>(1);
}

// --- Bulk copies

constexpr unsigned buffers = 4, words = 768, consumers = 128;  // one more warp starts the copies

struct Pipeline {
  alignas(16) unsigned buffer[buffers][words];
  TransferBarrier full[buffers], empty[buffers];
};

/// Fills each buffer with two copies, in order, as soon as the consumers have emptied the buffer.
__device__ void feed(Pipeline& pipeline, const unsigned* in, unsigned rounds) {
  constexpr unsigned first = words / 3;
  for (unsigned k = 0; k < rounds; ++k, in += words) {
    unsigned* const to = pipeline.buffer[k % buffers];
    TransferBarrier& full = pipeline.full[k % buffers];
    pipeline.empty[k % buffers].wait((k / buffers + 1) % 2);
    full.arrive_and_expect(words * sizeof(unsigned));
    staircase::bulk_copy(to, in, first * sizeof(unsigned), full);
    staircase::bulk_copy(to + first, in + first, (words - first) * sizeof(unsigned), full);
  }
}

/// Copies each buffer to the output in reverse order.
__device__ void drain(Pipeline& pipeline, unsigned* out, unsigned rounds) {
  for (unsigned k = 0; k < rounds; ++k, out += words) {
    pipeline.full[k % buffers].wait(k / buffers % 2);
    for (unsigned word = threadIdx.x; word < words; word += consumers)
      out[word] = pipeline.buffer[k % buffers][words - 1 - word];
    __syncwarp();
    if (threadIdx.x % 32 == 0) pipeline.empty[k % buffers].arrive();
  }
}

__global__ void pass_on(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ Pipeline pipeline;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < buffers; ++s) {
      pipeline.full[s].init(1);
      pipeline.empty[s].init(consumers / 32);
    }
    staircase::fence_barriers();
  }
  __syncthreads();
  const unsigned begin = blockIdx.x * rounds * words;
  if (threadIdx.x < consumers) drain(pipeline, out + begin, rounds);
  if (threadIdx.x == consumers) feed(pipeline, in + begin, rounds);
}

TEST(a_pipeline_of_bulk_copies_delivers_every_byte) {
  require_hopper();
  for (const unsigned rounds : {1u, buffers, random_value(2 * buffers + 1, 40u)}) {
    const unsigned blocks = 3, size = blocks * rounds * words;
    const auto values = random_values<unsigned>(size, 0, ~0u);
    const Device<unsigned> in(values), out(size);
    pass_on<<<blocks, consumers + 32>>>(in.get(), out.get(), rounds);
    expect_equal(out.to_host(), table<unsigned>(size, [&](std::size_t i) {
                   return values[i / words * words + words - 1 - i % words];
                 }));
  }
}

/// The first warp waits for bytes whose copy starts only when all its lanes are about to wait.
__global__ void wait_for_bytes(const unsigned* in, unsigned* out, unsigned* started) {
  alignas(16) __shared__ unsigned buffer[32];
  __shared__ TransferBarrier full;
  __shared__ unsigned waiting, copying;
  if (threadIdx.x == 32) {
    waiting = copying = 0;
    full.init(1);
    staircase::fence_barriers();
    full.arrive_and_expect(sizeof(buffer));  // now all threads have arrived
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    atomicAdd(&waiting, 1);
    full.wait(0);
    started[threadIdx.x] = atomicAdd(&copying, 0);
    out[threadIdx.x] = buffer[threadIdx.x];
  } else if (threadIdx.x == 32) {
    const tap::Patience patience;
    while (atomicAdd(&waiting, 0) < 32 && patience.lasts()) {
    }
    for (const long long now = clock64(); clock64() - now < 10'000;) {
    }
    atomicExch(&copying, 1);
    staircase::bulk_copy(buffer, in, sizeof(buffer), full);
  }
}

constexpr unsigned numbers_of_block = 96;

template <typename Number>
__global__ void pass_through_cluster(const Number* in, Number* out) {
  __shared__ Number numbers[numbers_of_block];
  __shared__ TransferBarrier told;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    told.init(1);
    staircase::fence_barriers();
    told.arrive_and_expect(sizeof(numbers));
  }
  cluster.sync();
  if (rank > 0) told.wait(0);
  const Number number = rank > 0 ? numbers[t] + 1 : in[t];
  if (rank + 1 < cluster.num_blocks())
    staircase::store_in_block(numbers[t], number, told, rank + 1);
  out[blockIdx.x * blockDim.x + t] = number;
}

/// Makes each block of a cluster wait for values that the previous block stores in its memory.
template <typename Number>
void pass_numbers_on(unsigned blocks) {
  require_hopper();
  constexpr unsigned clusters = 3;
  const std::vector<Number> in(numbers_of_block, Number{7});
  Device<Number> from(in), to(clusters * blocks * numbers_of_block);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = clusters * blocks;
  config.blockDim = numbers_of_block;
  config.attrs = &attribute;
  config.numAttrs = 1;
  tap::check(cudaLaunchKernelEx(&config, pass_through_cluster<Number>,
                                static_cast<const Number*>(from.get()), to.get()));
  const std::vector<Number> out = to.to_host();
  for (unsigned i = 0; i < out.size(); ++i)
    expect_equal(out[i], Number{7} + static_cast<Number>(i / numbers_of_block % blocks));
}

TEST(what_is_stored_in_a_block_of_the_cluster_is_there_when_its_barrier_says_so) {
  for (const unsigned blocks : {1, 2, 8}) {
    pass_numbers_on<double>(blocks);
    pass_numbers_on<float>(blocks);
    pass_numbers_on<unsigned>(blocks);
  }
}

TEST(a_phase_does_not_end_before_its_bytes_have_come) {
  require_hopper();
  const auto values = random_values<unsigned>(32, 0, ~0u);
  const Device<unsigned> in(values), out(32), started(32);
  wait_for_bytes<<<1, 64>>>(in.get(), out.get(), started.get());
  expect_equal(started.to_host(), std::vector<unsigned>(32, 1));
  expect_equal(out.to_host(), values);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
