/// \file
/// Seeded bugs: calls and launches whose errors are ignored, and kernels that abort. Each correct
/// counterpart succeeds or handles the error.

#undef NDEBUG  // kernels use assert below

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cassert>
#include <vector>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int threads = 64;

__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

namespace too_many_threads {

/// With the bug, one block has a thread for each of 2048 elements, which is more than permitted.
template <bool bug>
void run() {
  const Buffer<int> out(2048);
  const int in_block = bug ? 2048 : 1024;
  fill<<<2048 / in_block, in_block>>>(out.get(), 2048);  // planted: ignored error
  check(cudaDeviceSynchronize());
}

}  // namespace too_many_threads

namespace empty_grid {

/// With the bug, the number of blocks is rounded down, to 0 for a small problem.
template <bool bug>
void run() {
  const Buffer<int> out(40);
  const int blocks = (bug ? 40 : 40 + threads - 1) / threads;
  fill<<<blocks, threads>>>(out.get(), 40);  // planted: ignored error
  check(cudaDeviceSynchronize());
}

}  // namespace empty_grid

namespace too_much_shared_memory {

/// With the bug, the program does not request additional dynamic shared memory.
__global__ void reverse(int* out) {
  extern __shared__ int many[];
  many[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = many[threads - 1 - threadIdx.x];
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  constexpr int bytes = 64 << 10;
  if (!bug)
    check(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reverse<<<1, threads, bytes>>>(out.get());  // planted: ignored error
  check(cudaDeviceSynchronize());
}

}  // namespace too_much_shared_memory

namespace more_threads_than_promised {

__global__ void __launch_bounds__(128) small_blocks(int* out) { out[threadIdx.x] = 1; }

template <bool bug>
void run() {
  const Buffer<int> out(256);
  small_blocks<<<1, bug ? 256 : 128>>>(out.get());  // planted: ignored error
  check(cudaDeviceSynchronize());
}

}  // namespace more_threads_than_promised

namespace freed_twice {

template <bool bug>
void run() {
  int* memory = nullptr;
  check(cudaMalloc(&memory, 4 * threads));
  fill<<<1, threads>>>(memory, threads);
  finish();
  cudaFree(memory);
  if (!bug) memory = nullptr;
  cudaFree(memory);  // planted: ignored error
}

}  // namespace freed_twice

namespace freed_twice_in_streams {

/// With the bug, memory is freed a second time, in another stream.
template <bool bug>
void run() {
  const Stream stream, other;
  int* memory = nullptr;
  check(cudaMallocAsync(&memory, 4 * threads, stream.get()));
  fill<<<1, threads, 0, stream.get()>>>(memory, threads);
  cudaFreeAsync(memory, stream.get());
  if (bug) cudaFreeAsync(memory, other.get());  // planted: ignored error
  check(cudaDeviceSynchronize());
}

}  // namespace freed_twice_in_streams

namespace device_reset_between_kernels {

__global__ void increase(int* values) {
  values[threadIdx.x] += 1;  // planted: use after free
}

/// With the bug, memory is used after a reset of the device, which has freed it.
template <bool bug>
void run() {
  int* values = nullptr;
  check(cudaMalloc(&values, 4 * threads));
  fill<<<1, threads>>>(values, threads);
  finish();
  if (bug) check(cudaDeviceReset());
  increase<<<1, threads>>>(values);
  finish();
  check(cudaDeviceReset());
}

}  // namespace device_reset_between_kernels

namespace freed_as_another_kind {

/// With the bug, pinned host memory is freed as device memory.
template <bool bug>
void run() {
  int* memory = nullptr;
  cudaMallocHost(&memory, 4 * threads);
  if (bug)
    cudaFree(memory);  // planted: ignored error
  else
    cudaFreeHost(memory);
}

}  // namespace freed_as_another_kind

namespace copy_too_long {

/// With the bug, the bytes of doubles are copied into a buffer of floats.
template <bool bug>
void run() {
  const Buffer<float> out(threads);
  const std::vector<double> values(threads);
  const std::size_t bytes = threads * (bug ? sizeof(double) : sizeof(float));
  cudaMemcpy(out.get(), values.data(), bytes, cudaMemcpyHostToDevice);  // planted: ignored error
}

}  // namespace copy_too_long

namespace copy_of_the_wrong_kind {

/// With the bug, the direction of a copy is wrong.
template <bool bug>
void run() {
  const Buffer<int> in(threads);
  std::vector<int> values(threads);
  const auto kind = bug ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  cudaMemcpy(values.data(), in.get(), 4 * threads, kind);  // planted: ignored error
}

}  // namespace copy_of_the_wrong_kind

namespace copy_with_exchanged_pointers {

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  std::vector<int> values(threads, 1);
  void *const from = values.data(), *const to = out.get();
  if (bug)
    cudaMemcpy(from, to, 4 * threads, cudaMemcpyHostToDevice);  // planted: ignored error
  else
    cudaMemcpy(to, from, 4 * threads, cudaMemcpyHostToDevice);
}

}  // namespace copy_with_exchanged_pointers

namespace copy_behind_a_variable {

__device__ int table[8];
__global__ void read_table(int* out) { out[threadIdx.x] = table[threadIdx.x]; }

template <bool bug>
void run() {
  const Buffer<int> out(8);
  const std::vector<int> values(16, 3);
  cudaMemcpyToSymbol(table, values.data(), sizeof(int) * (bug ? 16 : 8));  // planted: ignored error
  if (!bug) read_table<<<1, 8>>>(out.get());
  check(cudaDeviceSynchronize());
}

}  // namespace copy_behind_a_variable

namespace copy_from_the_name_of_a_variable {

__device__ int results[8];
__global__ void write_results() { results[threadIdx.x] = threadIdx.x; }

/// With the bug, the host uses the name of a device variable as a device address.
template <bool bug>
void run() {
  std::vector<int> values(8);
  check(cudaMemcpyToSymbol(results, values.data(), 32));
  write_results<<<1, 8>>>();
  if (bug)
    cudaMemcpy(values.data(), results, 32, cudaMemcpyDeviceToHost);  // planted: ignored error
  else
    cudaMemcpyFromSymbol(values.data(), results, 32);
  check(cudaDeviceSynchronize());
}

}  // namespace copy_from_the_name_of_a_variable

namespace name_of_a_variable_as_an_argument {

__device__ int weights[8];
__managed__ int lengths[8];
__global__ void weigh(const int* by, int* out) { out[threadIdx.x] = by[threadIdx.x]; }

template <bool bug>
void run() {
  const Buffer<int> out(8);
  const std::vector<int> values(8, 3);
  check(cudaMemcpyToSymbol(weights, values.data(), 32));
  lengths[3] = 5;
  weigh<<<1, 8>>>(lengths, out.get());
  if (bug) {
    weigh<<<1, 8>>>(weights, out.get());  // planted: illegal device access
  } else {
    void* address = nullptr;
    check(cudaGetSymbolAddress(&address, weights));
    weigh<<<1, 8>>>(static_cast<const int*>(address), out.get());
  }
  check(cudaDeviceSynchronize());
}

}  // namespace name_of_a_variable_as_an_argument

namespace fill_behind_the_end {

template <bool bug>
void run() {
  int* memory = nullptr;
  check(cudaMalloc(&memory, threads));
  cudaMemset(memory, 0, bug ? threads * sizeof(int) : threads);  // planted: ignored error
  check(cudaFree(memory));
}

}  // namespace fill_behind_the_end

namespace memory_that_is_not_there {

/// Continues after a failed allocation; the correct counterpart allocates less.
template <bool bug>
void run() {
  float* memory = nullptr;
  const std::size_t bytes = std::size_t{1} << 50;
  if (bug)
    cudaMalloc(&memory, bytes);  // planted: ignored error
  else if (cudaMalloc(&memory, bytes) != cudaSuccess)
    check(cudaMalloc(&memory, 16));
  cudaFree(memory);
}

}  // namespace memory_that_is_not_there

namespace looked_at_too_early {

/// With the bug, the last error is queried before the launch, but not afterwards.
template <bool bug>
void run() {
  const Buffer<int> out(threads);
  if (bug) check(cudaGetLastError());
  fill<<<0, threads>>>(out.get(), threads);  // planted: ignored error
  if (!bug && cudaGetLastError() == cudaSuccess) std::puts("wrong");
  check(cudaDeviceSynchronize());
}

}  // namespace looked_at_too_early

namespace destroyed_twice {

template <bool bug>
void run() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(cudaStreamSynchronize(stream));
  cudaStreamDestroy(stream);
  if (bug) fill<<<1, 1, 0, stream>>>(nullptr, 0);  // planted: ignored error
}

}  // namespace destroyed_twice

namespace no_such_device {

template <bool bug>
void run() {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  for (int device = 0; device < devices + bug; ++device)
    cudaSetDevice(device);  // planted: ignored error
}

}  // namespace no_such_device

namespace assertion_that_fails {

/// With the bug, the third row begins before the second row.
__global__ void check_rows(const int* begins, int rows) {
  const int row = threadIdx.x;
  if (row < rows) assert(begins[row] <= begins[row + 1]);  // planted: failed assertion
}

template <bool bug>
void run() {
  const Buffer<int> begins(threads + 1);
  const std::vector<int> values{0, 3, bug ? 2 : 5, 7};
  check(cudaMemcpy(begins.get(), values.data(), 16, cudaMemcpyHostToDevice));
  check_rows<<<1, threads>>>(begins.get(), 3);
  cudaDeviceSynchronize();
}

}  // namespace assertion_that_fails

namespace trap_that_is_sprung {

__global__ void divide(int* values, int by) {
  if (by == 0) __trap();  // planted: trap
  values[threadIdx.x] /= by;
}

template <bool bug>
void run() {
  const Buffer<int> values(threads);
  divide<<<1, threads>>>(values.get(), bug ? 0 : 3);
  cudaDeviceSynchronize();
}

}  // namespace trap_that_is_sprung

namespace trap_of_a_cluster {

/// With the bug, a block fails while the other block of the cluster waits for it at a barrier.
__global__ void __cluster_dims__(2, 1, 1) divide(int* values, int by) {
  if (blockIdx.x == 0 && by == 0) __trap();  // planted alone: trap
  cooperative_groups::this_cluster().sync();
  values[blockIdx.x] /= by;
}

template <bool bug>
void run() {
  const Buffer<int> values(threads);
  divide<<<2, 1>>>(values.get(), bug ? 0 : 3);
  cudaDeviceSynchronize();
}

}  // namespace trap_of_a_cluster

namespace race_before_a_trap {

/// A thread ends the kernel while accesses of other lanes of its warp are not checked yet.
template <bool bug>
__global__ void shift(int* out, int trapped) {
  __shared__ int row[threads];
  const int i = threadIdx.x;
  if (i == trapped) __trap();
  row[i] = i;
  if (!bug) __syncthreads();
  out[i] = row[(i + 1) % threads];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  shift<bug><<<1, threads>>>(out.get(), bug ? 31 : threads);
  cudaDeviceSynchronize();
}

}  // namespace race_before_a_trap

namespace race_in_a_full_log {

/// A thread ends the kernel while other lanes wait, because their log of accesses is full.
template <bool bug>
__global__ void shift_rows(int* out, int trapped) {
  constexpr int rows = 15;  // one access less than the 16 that are logged per lane
  __shared__ int all[rows][threads];
  const int i = threadIdx.x;
  if (i == trapped) __trap();
  for (int row = 0; row < rows; ++row) all[row][i] = row;
  if (!bug) __syncthreads();
  const int next = all[0][(i + 1) % threads];  // planted: race
  out[i] = next;
  for (int row = 1; row < rows; ++row) out[i] += all[row][i];
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  shift_rows<bug><<<1, threads>>>(out.get(), bug ? 31 : threads);
  cudaDeviceSynchronize();
}

}  // namespace race_in_a_full_log

namespace grid_barrier_in_a_plain_launch {

/// With the bug, the launch is not cooperative, although the kernel waits for the grid.
__global__ void sum(const int* in, int* sums) {
  const auto grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) sums[blockIdx.x] = in[blockIdx.x];
  grid.sync();  // planted: not cooperative
  if (grid.thread_rank() == 0)
    for (unsigned i = 1; i < gridDim.x; ++i) sums[0] += sums[i];
}

template <bool bug>
void run() {
  const Buffer<int> in(4), sums(4);
  const int* from = in.get();
  int* to = sums.get();
  void* arguments[] = {&from, &to};
  if (bug)
    sum<<<4, 32>>>(from, to);
  else
    check(cudaLaunchCooperativeKernel(sum, dim3(4), dim3(32), arguments));
  cudaDeviceSynchronize();
}

}  // namespace grid_barrier_in_a_plain_launch

namespace recursion_without_an_end {

/// A recursion, which is almost endless with the bug. The line at which the stack overflows depends
/// on the stack usage at the beginning of the kernel.
__device__ __attribute__((noinline)) int depth(int n, volatile int* keep) {
  volatile int local[64];
  local[n & 63] = n;  // planted: stack overflow
  if (n == 0) return *keep;
  return depth(n - 1, keep) + local[n & 63];  // planted: stack overflow
}

__global__ void recurse(int* out, int n) { *out = depth(n, out); }

template <bool bug>
void run() {
  const Buffer<int> out(1);
  recurse<<<1, 1>>>(out.get(), bug ? 1 << 20 : 20);  // planted: stack overflow
  cudaDeviceSynchronize();
}

}  // namespace recursion_without_an_end

namespace local_array_too_large {

/// A table of 512 KiB fits into the local memory of a thread, but not together with another table.
template <bool bug>
__device__ __attribute__((noinline)) void add(const unsigned char* in,  // planted: stack overflow
                                              volatile int* counts) {   // planted: stack overflow
  volatile int values[bug ? 1 << 15 : 1 << 4];                          // planted: stack overflow
  for (int i = 0; i < 16; ++i) values[i] = in[16 * threadIdx.x + i];    // planted: stack overflow
  for (int i = 0; i < 16; ++i) counts[values[i]] = counts[values[i]] + 1;
}

template <bool bug>
__global__ void histogram(const unsigned char* in, int* out) {
  volatile int counts[bug ? 1 << 17 : 1 << 8];
  for (int i = 0; i < 256; ++i) counts[i] = 0;
  add<bug>(in, counts);
  out[threadIdx.x] = counts[0];
}

template <bool bug>
void run() {
  const Buffer<unsigned char> in(16 * threads);
  const Buffer<int> out(threads);
  histogram<bug><<<1, threads>>>(in.get(), out.get());
  cudaDeviceSynchronize();
}

}  // namespace local_array_too_large

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(argc, argv,
                   {BOTH(too_many_threads),
                    BOTH(empty_grid),
                    BOTH(too_much_shared_memory),
                    BOTH(more_threads_than_promised),
                    BOTH(freed_twice),
                    BOTH(freed_twice_in_streams),
                    BOTH(device_reset_between_kernels),
                    BOTH(freed_as_another_kind),
                    BOTH(copy_too_long),
                    BOTH(copy_of_the_wrong_kind),
                    BOTH(copy_with_exchanged_pointers),
                    BOTH(copy_behind_a_variable),
                    BOTH(copy_from_the_name_of_a_variable),
                    BOTH(name_of_a_variable_as_an_argument),
                    BOTH(fill_behind_the_end),
                    BOTH(memory_that_is_not_there),
                    BOTH(looked_at_too_early),
                    BOTH(destroyed_twice),
                    BOTH(no_such_device),
                    BOTH(assertion_that_fails),
                    BOTH(trap_that_is_sprung),
                    BOTH(trap_of_a_cluster),
                    BOTH(race_before_a_trap),
                    BOTH(race_in_a_full_log),
                    BOTH(grid_barrier_in_a_plain_launch),
                    BOTH(recursion_without_an_end),
                    BOTH(local_array_too_large)});
}
