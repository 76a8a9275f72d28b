/// \file
/// Shared, constant and global variables, allocations, copies and memsets, pinned and managed
/// memory, and queries about pointers.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_error;
using tap::expect_refusal;
using tap::random_value;
using tap::random_values;
using tap::table;

// --- Shared memory

__global__ void reverse_blocks(int* values) {
  __shared__ int buffer[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  buffer[threadIdx.x] = values[i];
  __syncthreads();
  values[i] = buffer[127 - threadIdx.x];
}

TEST(blocks_have_shared_memory_of_their_own) {
  const std::vector<int> values = random_values(128 * 40, -1000000, 1000000);
  Device<int> device(values);
  reverse_blocks<<<40, 128>>>(device.get());
  expect_equal(device.to_host(), table<int>(values.size(), [&](std::size_t i) {
                 return values[i / 128 * 128 + 127 - i % 128];
               }));
}

template <typename T, int side>
__global__ void transpose(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[side][side + 1];
  int row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
  if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
  __syncthreads();
  row = blockIdx.x * side + threadIdx.y, column = blockIdx.y * side + threadIdx.x;
  if (row < columns && column < rows) out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

template <typename T, int side>
void expect_transposed(int rows, int columns) {
  const std::vector<T> values = random_values<T>(rows * columns, T(-1000), T(1000));
  Device<T> in(values), out(values.size());
  const dim3 grid((columns + side - 1) / side, (rows + side - 1) / side);
  transpose<T, side><<<grid, dim3(side, side)>>>(in.get(), out.get(), rows, columns);
  expect_equal(out.to_host(), table<T>(values.size(), [&](int i) {
                 return values[i % rows * columns + i / rows];
               }));
}

TEST(tiles_of_templates_have_sizes_of_their_own) {
  expect_transposed<float, 32>(70, 45);
  expect_transposed<double, 32>(33, 64);
  expect_transposed<double, 16>(31, 97);
  expect_transposed<int, 8>(1, 100);
  expect_transposed<short, 5>(23, 17);
}

namespace first {
__global__ void fill(int* out) {
  __shared__ int buffer[64];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = buffer[63 - threadIdx.x];
}
}  // namespace first
namespace second {
__global__ void fill(int* out) {
  __shared__ double buffer[128];
  buffer[threadIdx.x] = 0.5 * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = static_cast<int>(2 * buffer[127 - threadIdx.x]);
}
}  // namespace second

TEST(kernels_of_equal_names_do_not_share) {
  Device<int> out(64), other(128);
  first::fill<<<1, 64>>>(out.get());
  second::fill<<<1, 128>>>(other.get());
  expect_equal(out.to_host(), table<int>(64, [](int i) { return 63 - i; }));
  expect_equal(other.to_host(), table<int>(128, [](int i) { return 127 - i; }));
}

struct Record {
  double value;
  int index;
};

__device__ int* numbers_of_block() {
  __shared__ int numbers[64];
  return numbers;
}
__device__ int exchanged(int value) {
  __shared__ int numbers[64];
  numbers[threadIdx.x] = value;
  __syncthreads();
  const int other = numbers[threadIdx.x ^ 1];
  __syncthreads();
  return other;
}
__global__ void declare_in_many_ways(int* out) {
  __shared__ int count, first[64], second[64];
  __shared__ __align__(16) unsigned char bytes[3];
  alignas(32) __shared__ Record records[64];
  static __shared__ volatile int last;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  if (t == 63) last = blockIdx.x;
  if (t < 3) bytes[t] = static_cast<unsigned char>(10 * t);
  first[t] = t;
  second[t] = 100 * t;
  records[t] = {0.5 * t, 1000 * t};
  numbers_of_block()[t] = 7 * t;
  __syncthreads();
  atomicAdd(&count, 1);
  const int o = t ^ 5;
  const int sum = first[o] + second[o] + int(2 * records[o].value) + records[o].index + bytes[2] +
                  numbers_of_block()[o] + exchanged(t) + exchanged(3 * t) + last;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % 16 == 0 &&
                       reinterpret_cast<std::uintptr_t>(records) % 32 == 0;
  __syncthreads();
  out[blockIdx.x * 64 + t] = aligned ? sum + count : -1;
}

TEST(shared_variables_are_declared_in_many_ways) {
  Device<int> out(3 * 64);
  declare_in_many_ways<<<3, 64>>>(out.get());
  expect_equal(out.to_host(), table<int>(3 * 64, [](int i) {
                 const int t = i % 64, o = t ^ 5;
                 return o + 100 * o + o + 1000 * o + 20 + 7 * o + 4 * (t ^ 1) + i / 64 + 64;
               }));
}

__global__ void carve(const double* in, double* out, int n, int m) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* numbers = reinterpret_cast<double*>(memory);
  auto* weights = reinterpret_cast<float*>(numbers + n);
  auto* order = reinterpret_cast<int*>(weights + m);
  for (int i = threadIdx.x; i < n; i += blockDim.x) numbers[i] = in[blockIdx.x * n + i];
  for (int i = threadIdx.x; i < m; i += blockDim.x) weights[i] = 0.25f * i;
  for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = n - 1 - i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = numbers[order[i]] * weights[i % m];
}

TEST(dynamic_shared_memory_is_carved_up) {
  const int n = random_value(1, 300), m = random_value(1, 100);
  const std::vector<double> values = random_values(5 * n, -1.0, 1.0);
  Device<double> in(values), out(5 * n);
  const std::size_t bytes = n * sizeof(double) + m * sizeof(float) + n * sizeof(int);
  carve<<<5, 96, bytes>>>(in.get(), out.get(), n, m);
  expect_equal(out.to_host(), table<double>(5 * n, [&](int i) {
                 return values[i / n * n + n - 1 - i % n] * (0.25 * (i % n % m));
               }));
}

extern __shared__ int dynamic_numbers[];
template <typename T>
__device__ T* dynamic_memory() {
  extern __shared__ double2 dynamic_vectors[];
  return reinterpret_cast<T*>(dynamic_vectors);
}
__global__ void name_dynamic_memory_twice(int* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic_numbers[i] = 3 * i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = dynamic_memory<int>()[n - 1 - i];
}

TEST(all_names_of_dynamic_shared_memory_name_the_same) {
  const int n = random_value(1, 1000);
  Device<int> out(n);
  name_dynamic_memory_twice<<<1, 64, n * sizeof(int)>>>(out.get(), n);
  expect_equal(out.to_host(), table<int>(n, [=](int i) { return 3 * (n - 1 - i); }));
}

__global__ void mix_static_and_dynamic(int* out, int n) {
  __shared__ int fixed[256];
  extern __shared__ int flexible[];
  fixed[threadIdx.x] = blockIdx.x;
  for (int i = threadIdx.x; i < n; i += 256) flexible[i] = i;
  __syncthreads();
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += flexible[n - 1 - i];
  atomicAdd(&out[blockIdx.x], sum);
  if (threadIdx.x == 0)
    for (const int value : fixed) atomicAdd(&out[blockIdx.x], value);
}

TEST(static_and_dynamic_shared_memory_do_not_overlap) {
  const int n = 8192;
  Device<int> out(std::vector<int>(3));
  mix_static_and_dynamic<<<3, 256, n * sizeof(int)>>>(out.get(), n);
  expect_equal(out.to_host(),
               table<int>(3, [](int block) { return n * (n - 1) / 2 + 256 * block; }));
}

__global__ void reverse_long(const double* in, double* out, int n) {
  extern __shared__ double buffer[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = buffer[n - 1 - i];
}

TEST(kernels_opt_in_to_more_than_48_KiB) {
  for (const int kib : {100, 227}) {
    const int n = kib * 128;
    const std::vector<double> values = random_values(n, -1.0, 1.0);
    Device<double> in(values), out(n);
    check(cudaFuncSetAttribute(reverse_long, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               n * static_cast<int>(sizeof(double))));
    reverse_long<<<1, 256, n * sizeof(double)>>>(in.get(), out.get(), n);
    expect_equal(out.to_host(), std::vector<double>(values.rbegin(), values.rend()));
  }
}

#ifndef STAIRCASE_CUDA_ON_CPU  // the CPU device reports no shared memory for kernels
TEST(function_attributes_tell_of_shared_memory) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, mix_static_and_dynamic));
  expect_equal(attributes.sharedSizeBytes, 1024);
  expect_equal(attributes.maxThreadsPerBlock, 1024);
  expect_equal(attributes.maxDynamicSharedSizeBytes, 48 * 1024 - 1024);
  check(cudaFuncSetAttribute((const void*)mix_static_and_dynamic,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  check(cudaFuncGetAttributes(&attributes, mix_static_and_dynamic));
  expect_equal(attributes.maxDynamicSharedSizeBytes, 65536);
  check(cudaFuncSetAttribute(mix_static_and_dynamic, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared));
}
#endif

// --- Device variables

__constant__ float weights[100];
__constant__ Record origin = {2.5, 40};
__constant__ int primes[] = {2, 3, 5, 7};
__device__ int counter = 5;
__device__ int counters[4] = {1, 2};
__device__ double* attached;
__managed__ int managed_number = 3;

__global__ void read_weights(float* out) { out[threadIdx.x] = weights[threadIdx.x]; }

TEST(constants_are_copied_to_symbols) {
  const std::vector<float> values = random_values(100, -1.0f, 1.0f), tail = {7, 8, 9};
  Device<float> out(100);
  check(cudaMemcpyToSymbol(weights, values.data(), sizeof weights));
  check(cudaMemcpyToSymbol(weights, tail.data(), 3 * sizeof(float), 50 * sizeof(float)));
  read_weights<<<1, 100>>>(out.get());
  std::vector<float> expected = values;
  std::copy(tail.begin(), tail.end(), expected.begin() + 50);
  expect_equal(out.to_host(), expected);
  std::vector<float> back(10);
  check(cudaMemcpyFromSymbol(back.data(), weights, 10 * sizeof(float), 45 * sizeof(float)));
  expect_equal(back, std::vector<float>(expected.begin() + 45, expected.begin() + 55));
}

TEST(constants_are_copied_in_a_stream) {
  float* pinned = nullptr;
  cudaStream_t stream;
  check(cudaMallocHost(&pinned, sizeof weights));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const std::vector<float> values = random_values(200, -1.0f, 1.0f);
  Device<float> out(100), other(100);
  for (int half = 0; half < 2; ++half) {
    std::copy_n(values.begin() + 100 * half, 100, pinned);
    check(cudaMemcpyToSymbolAsync(weights, pinned, sizeof weights, 0, cudaMemcpyHostToDevice,
                                  stream));
    read_weights<<<1, 100, 0, stream>>>(half == 0 ? out.get() : other.get());
    check(cudaMemcpyFromSymbolAsync(pinned, weights, sizeof(float), 99 * sizeof(float),
                                    cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    expect_equal(pinned[0], values[100 * half + 99]);
  }
  expect_equal(out.to_host(), std::vector<float>(values.begin(), values.begin() + 100));
  expect_equal(other.to_host(), std::vector<float>(values.begin() + 100, values.end()));
  check(cudaStreamDestroy(stream));
  check(cudaFreeHost(pinned));
}

__global__ void read_constants(double* out) {
  out[0] = origin.value;
  out[1] = origin.index;
  for (int i = 0; i < 4; ++i) out[2 + i] = primes[i];
}

TEST(constants_have_first_values) {
  Device<double> out(6);
  read_constants<<<1, 1>>>(out.get());
  expect_equal(out.to_host(), {2.5, 40, 2, 3, 5, 7});
  const Record moved = {-1.5, 41};
  check(cudaMemcpyToSymbol(origin, &moved, sizeof moved));
  read_constants<<<1, 1>>>(out.get());
  expect_equal(out.to_host(), {-1.5, 41, 2, 3, 5, 7});
}

__global__ void change_variables() {
  atomicAdd(&counter, 1);
  if (threadIdx.x < 4) counters[threadIdx.x] += 10;
  if (threadIdx.x == 0) managed_number *= 2;
}

TEST(device_variables_keep_their_values) {
  change_variables<<<1, 64>>>();
  change_variables<<<1, 32>>>();
  int value = 0;
  check(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  expect_equal(value, 5 + 64 + 32);
  std::vector<int> values(4);
  check(cudaMemcpyFromSymbol(values.data(), counters, sizeof counters));
  expect_equal(values, {21, 22, 20, 20});
  value = 1000;
  check(cudaMemcpyToSymbol(counter, &value, sizeof value));
  change_variables<<<1, 1>>>();
  check(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  expect_equal(value, 1001);
}

TEST(managed_variables_are_read_by_the_host) {
  managed_number = 21;
  change_variables<<<1, 1>>>();
  check(cudaDeviceSynchronize());
  expect_equal(managed_number, 42);
}

__global__ void write_attached(int n) {
  if (threadIdx.x < n) attached[threadIdx.x] = 0.5 * threadIdx.x;
}

TEST(device_variables_hold_pointers) {
  Device<double> memory(50);
  double* const pointer = memory.get();
  check(cudaMemcpyToSymbol(attached, &pointer, sizeof pointer));
  write_attached<<<1, 64>>>(50);
  expect_equal(memory.to_host(), table<double>(50, [](int i) { return 0.5 * i; }));
}

TEST(symbols_have_addresses_and_sizes) {
  void* address = nullptr;
  std::size_t size = 0;
  check(cudaGetSymbolAddress(&address, counters));
  check(cudaGetSymbolSize(&size, counters));
  expect_equal(size, 16);
  const std::vector<int> values = random_values(4, -1000, 1000);
  check(cudaMemcpy(address, values.data(), size, cudaMemcpyHostToDevice));
  std::vector<int> back(4);
  check(cudaMemcpyFromSymbol(back.data(), counters, size));
  expect_equal(back, values);
}

// --- Allocations, copies and memsets

TEST(allocations_are_aligned_and_apart) {
  struct Allocation {
    char* begin;
    std::size_t size;
  };
  std::vector<Allocation> allocations;
  for (int i = 0; i < 20; ++i) {
    Allocation allocation{nullptr, random_value<std::size_t>(1, 100000)};
    check(cudaMalloc(&allocation.begin, allocation.size));
    expect_equal(reinterpret_cast<std::uintptr_t>(allocation.begin) % 256, 0);
    for (const Allocation& other : allocations)
      expect(other.begin + other.size <= allocation.begin ||
                 allocation.begin + allocation.size <= other.begin,
             "allocations are apart");
    allocations.push_back(allocation);
  }
  for (const Allocation& allocation : allocations) check(cudaFree(allocation.begin));
  check(cudaFree(nullptr));
}

TEST(copies_go_in_all_directions) {
  const std::size_t n = random_value(1, 10000);
  const std::vector<int> values = random_values(n, -1000000, 1000000);
  Device<int> one(n), two(n);
  std::vector<int> back(n), copy(n);
  check(cudaMemcpy(one.get(), values.data(), one.bytes(), cudaMemcpyHostToDevice));
  check(cudaMemcpy(two.get(), one.get(), one.bytes(), cudaMemcpyDeviceToDevice));
  check(cudaMemcpy(back.data(), two.get(), one.bytes(), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(copy.data(), back.data(), one.bytes(), cudaMemcpyHostToHost));
  expect_equal(copy, values);
}

TEST(the_direction_of_a_copy_is_found_out) {
  const std::vector<int> values = random_values(1000, -1000000, 1000000);
  Device<int> one(1000), two(1000);
  std::vector<int> back(1000), copy(1000);
  check(cudaMemcpy(one.get(), values.data(), one.bytes(), cudaMemcpyDefault));
  check(cudaMemcpy(two.get(), one.get(), one.bytes(), cudaMemcpyDefault));
  check(cudaMemcpy(back.data(), two.get(), one.bytes(), cudaMemcpyDefault));
  check(cudaMemcpy(copy.data(), back.data(), one.bytes(), cudaMemcpyDefault));
  expect_equal(copy, values);
}

TEST(copies_start_and_end_anywhere) {
  const std::vector<unsigned char> values = random_values<unsigned char>(1000, 0, 255);
  std::vector<unsigned char> expected(1000, 0xC5);
  Device<unsigned char> device(1000);
  const int from = random_value(0, 500), to = random_value(0, 499), size = random_value(1, 500);
  check(cudaMemcpy(device.get() + to, values.data() + from, size, cudaMemcpyHostToDevice));
  check(cudaMemcpy(device.get(), values.data(), 0, cudaMemcpyHostToDevice));
  std::copy_n(values.begin() + from, size, expected.begin() + to);
  expect_equal(device.to_host(), expected);
}

TEST(fills_set_bytes) {
  const std::size_t n = random_value(100, 10000), begin = random_value(0, 50);
  Device<unsigned char> device(n);
  check(cudaMemset(device.get(), 0x12, n));
  check(cudaMemset(device.get() + begin, 0x1FF, 50));
  check(cudaMemsetAsync(device.get(), 0x34, 1));
  expect_equal(device.to_host(), table<unsigned char>(n, [=](std::size_t i) {
                 if (i == 0) return 0x34;
                 return i >= begin && i < begin + 50 ? 0xFF : 0x12;
               }));
}

TEST(a_fill_with_ones_makes_NaN) {
  Device<double> device(10);
  check(cudaMemset(device.get(), 0xFF, device.bytes()));
  for (const double value : device.to_host()) expect(std::isnan(value), "the value is NaN");
}

TEST(matrices_are_copied_by_rows) {
  const int rows = 13, columns = 21;
  const std::vector<int> values = random_values(rows * columns, -1000, 1000);
  int *pitched = nullptr, *other = nullptr;
  std::size_t pitch = 0;
  check(cudaMallocPitch(&pitched, &pitch, columns * sizeof(int), rows));
  expect(pitch >= columns * sizeof(int), "a row fits into the pitch");
  check(cudaMalloc(&other, 100 * sizeof(int) * rows));
  check(cudaMemset2D(pitched, pitch, 0xC5, columns * sizeof(int), rows));
  check(cudaMemcpy2D(pitched, pitch, values.data(), columns * sizeof(int), columns * sizeof(int),
                     rows, cudaMemcpyHostToDevice));
  check(cudaMemcpy2DAsync(other, 100 * sizeof(int), pitched, pitch, columns * sizeof(int), rows,
                          cudaMemcpyDeviceToDevice));
  // Copy a part of the matrix to the middle of a larger one.
  std::vector<int> back(30 * 40, -1);
  check(cudaMemcpy2D(back.data() + 2 * 40 + 3, 40 * sizeof(int), other + 100 + 1, 100 * sizeof(int),
                     10 * sizeof(int), 7, cudaMemcpyDeviceToHost));
  expect_equal(back, table<int>(30 * 40, [&](int i) {
                 const int row = i / 40 - 2, column = i % 40 - 3;
                 const bool inside = row >= 0 && row < 7 && column >= 0 && column < 10;
                 return inside ? values[(row + 1) * columns + column + 1] : -1;
               }));
  check(cudaFree(pitched));
  check(cudaFree(other));
}

TEST(part_of_a_matrix_is_filled) {
  Device<unsigned char> device(10 * 16);
  check(cudaMemset2D(device.get() + 16 + 2, 16, 7, 5, 8));
  expect_equal(device.to_host(), table<unsigned char>(160, [](int i) {
                 const bool inside = i / 16 >= 1 && i / 16 < 9 && i % 16 >= 2 && i % 16 < 7;
                 return inside ? 7 : 0xC5;
               }));
}

__global__ void add_one(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++values[i];
}

TEST(a_copy_of_a_device_to_itself_by_number) {
  const std::vector<int> values = random_values(1000, -1000, 1000);
  Device<int> one(values), two(1000), three(1000);
  check(cudaMemcpyPeer(two.get(), 0, one.get(), 0, one.bytes()));
  add_one<<<4, 256>>>(two.get(), 1000);
  check(cudaMemcpyPeerAsync(three.get(), 0, two.get(), 0, one.bytes(), nullptr));
  expect_equal(three.to_host(), table<int>(1000, [&](int i) { return values[i] + 1; }));
}

TEST(memory_is_allocated_in_a_stream) {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  int* pinned = nullptr;
  check(cudaMallocHost(&pinned, 4000));
  for (int round = 0; round < 3; ++round) {
    const std::vector<int> values = random_values(1000, -1000, 1000);
    std::copy(values.begin(), values.end(), pinned);
    int* memory = nullptr;
    check(cudaMallocAsync(&memory, 4000, stream));
    check(cudaMemcpyAsync(memory, pinned, 4000, cudaMemcpyHostToDevice, stream));
    add_one<<<4, 256, 0, stream>>>(memory, 1000);
    check(cudaMemcpyAsync(pinned, memory, 4000, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(memory, stream));
    check(cudaStreamSynchronize(stream));
    expect_equal(std::vector<int>(pinned, pinned + 1000),
                 table<int>(1000, [&](int i) { return values[i] + 1; }));
  }
  check(cudaFreeHost(pinned));
  check(cudaStreamDestroy(stream));
}

TEST(what_a_stream_was_told_to_free_is_not_freed_again) {
  const tap::Stream stream, other;
  for (const bool is_done : {false, true}) {
    int* memory = nullptr;
    check(cudaMallocAsync(&memory, 4096, stream.get()));
    check(cudaMemsetAsync(memory, 0, 4096, stream.get()));
    check(cudaFreeAsync(memory, stream.get()));
    if (is_done) check(cudaStreamSynchronize(stream.get()));
    for (const cudaStream_t again : {stream.get(), other.get()})
      tap::expect_refusal(cudaFreeAsync(memory, again), cudaErrorInvalidValue);
    tap::expect_refusal(cudaFree(memory), cudaErrorInvalidValue);
  }
}

TEST(pools_give_memory_in_the_order_of_streams) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  cudaMemPool_t standard = nullptr, own = nullptr;
  check(cudaDeviceGetDefaultMemPool(&standard, 0));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  check(cudaMemPoolCreate(&own, &properties));
  unsigned long long threshold = 1 << 20, told = 0;
  check(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  check(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &told));
  expect_equal(told, threshold);
  for (cudaMemPool_t pool : {standard, own}) {
    int* memory = nullptr;
    check(cudaMallocFromPoolAsync(&memory, 4000, pool, stream));
    check(cudaMemsetAsync(memory, 0, 4000, stream));
    add_one<<<4, 256, 0, stream>>>(memory, 1000);
    std::vector<int> values(1000);
    check(cudaMemcpyAsync(values.data(), memory, 4000, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(memory, stream));
    check(cudaStreamSynchronize(stream));
    expect_equal(values, std::vector<int>(1000, 1));
    check(cudaMemPoolTrimTo(pool, 0));
  }
  cudaMemPool_t chosen = nullptr;
  check(cudaDeviceSetMemPool(0, own));
  check(cudaDeviceGetMemPool(&chosen, 0));
  expect(chosen == own, "the pool that was set is the device's");
  check(cudaDeviceSetMemPool(0, standard));
  check(cudaMemPoolDestroy(own));
  check(cudaStreamDestroy(stream));
}

TEST(free_memory_shrinks_by_what_is_allocated) {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  const std::size_t bytes = 64 << 20;
  char* memory = nullptr;
  check(cudaMemGetInfo(&before, &total));
  expect(before <= total && before >= bytes, "free memory is a part of all memory");
  check(cudaMalloc(&memory, bytes));
  check(cudaMemGetInfo(&during, &total));
  expect(during <= before - bytes, "an allocation takes free memory");
  check(cudaFree(memory));
  check(cudaMemGetInfo(&after, &total));
  expect(after >= during + bytes, "cudaFree gives it back");
}

// --- Host memory

TEST(a_device_that_is_reset_gives_all_of_its_memory_back) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  const int other = devices - 1;
  int *memory = nullptr, *managed = nullptr, *pinned = nullptr, *ordered = nullptr,
      *elsewhere = nullptr;
  check(cudaSetDevice(other));
  check(cudaMalloc(&elsewhere, sizeof(int)));
  check(cudaSetDevice(0));
  std::size_t before = 0, after = 0, total = 0;
  check(cudaMemGetInfo(&before, &total));
  check(cudaMalloc(&memory, 4096));
  check(cudaMallocManaged(&managed, 4096));
  check(cudaMallocHost(&pinned, 4096));
  check(cudaMallocAsync(&ordered, 4096, nullptr));
  check(cudaMemsetAsync(ordered, 0, 4096, nullptr));
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaEventCreate(&event));
  check(cudaEventRecord(event, stream));
  check(cudaDeviceReset());
  check(cudaMemGetInfo(&after, &total));
  for (int* gone : {memory, managed}) tap::expect_refusal(cudaFree(gone), cudaErrorInvalidValue);
  tap::expect_refusal(cudaFreeHost(pinned), cudaErrorInvalidValue);
#ifdef STAIRCASE_CUDA_ON_CPU  // on a GPU, using these handles after the reset is undefined
  tap::expect_refusal(cudaFree(ordered), cudaErrorInvalidValue);
  if (other != 0) expect_equal(after, before);
  tap::expect_refusal(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  tap::expect_refusal(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
#endif
  if (other == 0) return;
  check(cudaMemset(elsewhere, 0, sizeof(int)));
  check(cudaFree(elsewhere));
}

TEST(kernels_reach_pinned_memory) {
  for (const unsigned flags : {cudaHostAllocDefault, cudaHostAllocMapped | cudaHostAllocPortable}) {
    int *pinned = nullptr, *device = nullptr;
    check(cudaHostAlloc(&pinned, 1000 * sizeof(int), flags));
    check(cudaHostGetDevicePointer(&device, pinned, 0));
    const std::vector<int> values = random_values(1000, -1000, 1000);
    std::copy(values.begin(), values.end(), pinned);
    add_one<<<4, 256>>>(device, 1000);
    check(cudaDeviceSynchronize());
    add_one<<<4, 256>>>(pinned, 1000);
    check(cudaDeviceSynchronize());
    expect_equal(std::vector<int>(pinned, pinned + 1000),
                 table<int>(1000, [&](int i) { return values[i] + 2; }));
    check(cudaFreeHost(pinned));
  }
}

TEST(memory_of_the_host_is_registered) {
  std::vector<int> values = random_values(100000, -1000, 1000);
  const std::vector<int> before = values;
  const std::size_t bytes = values.size() * sizeof(int);
  const int n = static_cast<int>(values.size());
  check(cudaHostRegister(values.data(), bytes, cudaHostRegisterMapped));
  int* mapped = nullptr;
  check(cudaHostGetDevicePointer(&mapped, values.data(), 0));
  add_one<<<(n + 255) / 256, 256>>>(mapped, n);
  Device<int> device(values.size());
  check(cudaMemcpyAsync(device.get(), values.data(), bytes, cudaMemcpyHostToDevice));
  add_one<<<(n + 255) / 256, 256>>>(device.get(), n);
  check(cudaMemcpyAsync(values.data(), device.get(), bytes, cudaMemcpyDeviceToHost));
  check(cudaDeviceSynchronize());
  check(cudaHostUnregister(values.data()));
  expect_equal(values, table<int>(n, [&](int i) { return before[i] + 2; }));
}

TEST(managed_memory_is_reached_from_both_sides) {
  int* values = nullptr;
  check(cudaMallocManaged(&values, 1000 * sizeof(int)));
  std::iota(values, values + 1000, 7);
  for (int round = 0; round < 3; ++round) {
    add_one<<<4, 256>>>(values, 1000);
    check(cudaDeviceSynchronize());
    for (int i = 0; i < 1000; ++i) values[i] += 10;
  }
  expect_equal(std::vector<int>(values, values + 1000),
               table<int>(1000, [](int i) { return i + 7 + 33; }));
  check(cudaFree(values));
}

cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type;
}

TEST(pointers_have_attributes) {
  Device<int> device(100);
  std::vector<int> plain(100), registered(100);
  int *pinned = nullptr, *managed = nullptr;
  check(cudaMallocHost(&pinned, 400));
  check(cudaMallocManaged(&managed, 400));
  check(cudaHostRegister(registered.data(), 400, cudaHostRegisterDefault));
  expect_equal(type_of(device.get()), cudaMemoryTypeDevice);
  expect_equal(type_of(device.get() + 99), cudaMemoryTypeDevice);
  expect_equal(type_of(pinned + 50), cudaMemoryTypeHost);
  expect_equal(type_of(managed), cudaMemoryTypeManaged);
  expect_equal(type_of(registered.data() + 1), cudaMemoryTypeHost);
  expect_equal(type_of(plain.data()), cudaMemoryTypeUnregistered);
  check(cudaHostUnregister(registered.data()));
  expect_equal(type_of(registered.data()), cudaMemoryTypeUnregistered);

  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, device.get() + 7));
  expect_equal(attributes.device, 0);
  expect_equal(attributes.devicePointer, static_cast<void*>(device.get() + 7));
  check(cudaPointerGetAttributes(&attributes, pinned));
  expect_equal(attributes.hostPointer, static_cast<void*>(pinned));
  check(cudaFree(managed));
  check(cudaFreeHost(pinned));
}

TEST(memory_of_the_host_has_the_flags_of_its_allocation) {
  int *plain = nullptr, *portable = nullptr;
  unsigned flags = 77;
  check(cudaHostAlloc(&portable, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  check(cudaHostGetFlags(&flags, portable));
  expect_equal(flags, cudaHostAllocPortable | cudaHostAllocMapped);
  check(cudaMalloc(&plain, 64));
  expect_refusal(cudaHostGetFlags(&flags, plain), cudaErrorInvalidValue);
  check(cudaFree(plain));
  check(cudaFreeHost(portable));
}

#if CUDART_VERSION >= 13000
TEST(a_batch_of_copies_is_one_call) {
  constexpr std::size_t count = 3;
  const tap::Stream stream;
  int* host = nullptr;
  check(cudaMallocHost(&host, count * sizeof(int)));
  std::vector<int> back(count, 0);
  const Device<int> device(count), other(count);
  int *to[count], *from[count], *through[count], *home[count];
  const std::size_t bytes[count] = {sizeof(int), sizeof(int), sizeof(int)};
  for (std::size_t i = 0; i < count; ++i) {
    host[i] = 10 + int(i);
    from[i] = host + i;
    to[i] = device.get() + i;
    through[i] = other.get() + (count - 1 - i);
    home[i] = back.data() + i;
  }
  cudaMemcpyAttributes at_once{}, in_order{};
  at_once.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  in_order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  check(cudaMemcpyBatchAsync(to, from, bytes, count, at_once, stream.get()));
  for (std::size_t i = 0; i < count; ++i) host[i] = -1;  // the call has read its sources
  cudaMemcpyAttributes both[] = {in_order, in_order};
  std::size_t firsts[] = {0, 2};
  check(cudaMemcpyBatchAsync(through, to, bytes, count, both, firsts, 2, stream.get()));
  check(cudaMemcpyBatchAsync(home, to, bytes, count, in_order, stream.get()));
  check(cudaStreamSynchronize(stream.get()));
  expect_equal(back, std::vector<int>{10, 11, 12});
  expect_equal(other.to_host(), std::vector<int>{12, 11, 10});
  expect_refusal(cudaMemcpyBatchAsync(to, from, bytes, count, in_order, nullptr),
                 cudaErrorInvalidValue);
  firsts[0] = 1;
  expect_refusal(cudaMemcpyBatchAsync(to, from, bytes, count, both, firsts, 2, stream.get()),
                 cudaErrorInvalidValue);
  check(cudaFreeHost(host));
}
#endif

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
