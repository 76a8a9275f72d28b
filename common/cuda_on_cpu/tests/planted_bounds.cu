/// \file
/// Seeded bugs: memory that is too small, freed, uninitialised, or not accessible to the device.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <staircase/bulk_copy.hpp>
#include <utility>
#include <vector>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int threads = 64;

/// The kernel of the cases whose bug is in host code.
__global__ void twice(const int* in, int* out, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

namespace no_guard_at_the_tail {

/// With the bug, threads of the last block access elements beyond the end.
template <bool bug>
__global__ void twice(const int* in, int* out, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (bug || i < n) out[i] = 2 * in[i];  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<int> in(100), out(100);
  twice<bug><<<2, threads>>>(in.get(), out.get(), 100);
  finish();
}

}  // namespace no_guard_at_the_tail

namespace one_before_the_beginning {

/// With the bug, the first thread reads a left neighbour, which does not exist.
template <bool bug>
__global__ void differences(const int* in, int* out) {
  const int t = threadIdx.x;
  if (bug || t > 0) out[t] = in[t] - in[t - 1];  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  differences<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace one_before_the_beginning

namespace swapped_extents {

/// With the bug, the number of rows is used as the length of a row.
template <bool bug>
__global__ void negate(int* matrix, int height, int width) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int pitch = bug ? height : width;
  if (x < width && y < height) matrix[y * pitch + x] = -1;  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<int> matrix(9 * 7);
  negate<bug><<<1, dim3(8, 16)>>>(matrix.get(), 9, 7);
  finish();
}

}  // namespace swapped_extents

namespace elements_for_bytes {

/// With the bug, the host allocates one byte per element.
__global__ void fill(int* out) {
  out[threadIdx.x] = 1;  // planted: out of bounds
}

template <bool bug>
void run() {
  int* out = nullptr;
  check(cudaMalloc(&out, bug ? threads : threads * sizeof(int)));
  fill<<<1, threads>>>(out);
  finish();
  check(cudaFree(out));
}

}  // namespace elements_for_bytes

namespace vector_over_the_end {

/// With the bug, the number of groups of four is rounded up, so the last group is incomplete.
template <bool bug>
__global__ void twice_in_fours(float4* values, int n) {
  const int i = threadIdx.x;
  if (i < (bug ? (n + 3) / 4 : n / 4)) values[i].w *= 2;  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<float> values(30);
  twice_in_fours<bug><<<1, 32>>>(reinterpret_cast<float4*>(values.get()), 30);
  finish();
}

}  // namespace vector_over_the_end

namespace dynamic_shared_memory_too_small {

/// With the bug, the launch provides half of the dynamic shared memory that the kernel uses.
template <bool bug>
__global__ void reverse(int* out) {
  extern __shared__ int dynamic_tile[];
  const int t = threadIdx.x;
  dynamic_tile[t] = t;  // planted: out of bounds
  __syncthreads();
  out[t] = dynamic_tile[threads - 1 - t];
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  reverse<bug><<<1, threads, (bug ? threads / 2 : threads) * sizeof(int)>>>(out.get());
  finish();
}

}  // namespace dynamic_shared_memory_too_small

namespace shared_array_too_short {

/// With the bug, the tile has no room for the element that the last thread needs.
template <bool bug>
__global__ void differences(const int* in, int* out) {
  __shared__ int tile[bug ? threads : threads + 1];
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (t == 0) tile[blockDim.x] = in[blockDim.x];  // planted: out of bounds
  __syncthreads();
  out[t] = tile[t + 1] - tile[t];  // planted: out of bounds
}

template <bool bug>
void run() {
  const Buffer<int> in(threads + 1), out(threads);
  differences<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace shared_array_too_short

namespace used_after_free {

/// With the bug, the input is freed before the launch of the kernel that reads it.
__global__ void copy(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // planted: use after free
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  int* in = nullptr;
  check(cudaMalloc(&in, threads * sizeof(int)));
  check(cudaMemset(in, 0, threads * sizeof(int)));
  if (bug) check(cudaFree(in));
  copy<<<1, threads>>>(in, out.get());
  finish();
  if (!bug) check(cudaFree(in));
}

}  // namespace used_after_free

namespace freed_while_in_use {

/// With the bug, memory is freed in one stream while another stream still uses it.
__global__ void fill(int* out) {
  out[threadIdx.x] = 1;  // planted: use after free or stream race
}

template <bool bug>
void run() {
  const Stream worker, other;
  const Event done;
  int* out = nullptr;
  check(cudaMallocAsync(&out, threads * sizeof(int), worker.get()));
  fill<<<1, threads, 0, worker.get()>>>(out);
  check(cudaEventRecord(done.get(), worker.get()));
  if (!bug) check(cudaStreamWaitEvent(other.get(), done.get()));
  check(cudaFreeAsync(out, other.get()));  // planted: use after free or stream race
  finish();
}

}  // namespace freed_while_in_use

namespace copied_after_free {

/// With the bug, the stream frees the memory before the copy.
template <bool bug>
void run() {
  const Stream stream;
  int *values = nullptr, on_host[threads];
  check(cudaMallocAsync(&values, sizeof on_host, stream.get()));
  check(cudaMemsetAsync(values, 0, sizeof on_host, stream.get()));
  const auto copy = [&] {
    check(cudaMemcpyAsync(on_host, values, sizeof on_host,  // planted: use after free
                          cudaMemcpyDeviceToHost, stream.get()));
  };
  if (!bug) copy();
  check(cudaFreeAsync(values, stream.get()));
  if (bug) copy();
  finish();
}

}  // namespace copied_after_free

namespace filled_after_free {

/// With the bug, the memory of a step is freed before it is cleared for the next step.
template <bool bug>
void run() {
  const Stream stream;
  int* values = nullptr;
  constexpr std::size_t size = threads * sizeof *values;
  check(cudaMallocAsync(&values, size, stream.get()));
  for (int step = 0; step < 2; ++step) {
    check(cudaMemsetAsync(values, step, size, stream.get()));  // planted: use after free
    if (bug && step == 0) check(cudaFreeAsync(values, stream.get()));
  }
  if (!bug) check(cudaFreeAsync(values, stream.get()));
  finish();
}

}  // namespace filled_after_free

namespace sum_without_a_zero {

/// Adds to shared memory, which is uninitialised with the bug.
template <bool bug>
__global__ void sums(const int* in, int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  if (!bug) tile[t] = 0;
  for (int k = 0; k < 4; ++k) tile[t] += in[k * threads + t];  // planted: uninitialised read
  out[t] = tile[t];                                            // planted: uninitialised read
}

template <bool bug>
void run() {
  const Buffer<int> in(4 * threads), out(threads);
  sums<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace sum_without_a_zero

namespace early_return_before_a_store {

/// With the bug, threads without an element return before they have filled the tile.
template <bool bug>
__global__ void reverse(const int* in, int* out, int n) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  if (bug && t >= n) return;
  tile[t] = t < n ? in[t] : 0;
  __syncthreads();
  if (t < n) out[t] = tile[threads - 1 - t];  // planted: uninitialised read
}

template <bool bug>
void run() {
  const Buffer<int> in(50), out(50);
  reverse<bug><<<1, threads>>>(in.get(), out.get(), 50);
  finish();
}

}  // namespace early_return_before_a_store

namespace device_memory_never_written {

/// Adds to device memory, which is uninitialised with the bug.
__global__ void accumulate(int* sums) {
  sums[threadIdx.x] += 1;  // planted: uninitialised read
}

template <bool bug>
void run() {
  int* sums = nullptr;
  check(cudaMalloc(&sums, threads * sizeof(int)));
  if (!bug) check(cudaMemset(sums, 0, threads * sizeof(int)));
  accumulate<<<1, threads>>>(sums);
  finish();
  check(cudaFree(sums));
}

}  // namespace device_memory_never_written

namespace copied_in_part {

/// With the bug, the copy has one byte per element.
__global__ void negate(const int* in, int* out) {
  out[threadIdx.x] = -in[threadIdx.x];  // planted: uninitialised read
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  const std::vector<int> values(threads, 1);
  int* in = nullptr;
  check(cudaMalloc(&in, threads * sizeof(int)));
  check(
      cudaMemcpy(in, values.data(), bug ? threads : threads * sizeof(int), cudaMemcpyHostToDevice));
  negate<<<1, threads>>>(in, out.get());
  finish();
  check(cudaFree(in));
}

}  // namespace copied_in_part

namespace host_reads_device_memory {

/// With the bug, host code dereferences a pointer to device memory.
template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  twice<<<1, threads>>>(in.get(), out.get(), threads);
  finish();
  int first = 0;
  if (bug)
    first = out.get()[0];  // planted: illegal host access
  else
    check(cudaMemcpy(&first, out.get(), sizeof first, cudaMemcpyDeviceToHost));
  if (first != 0) std::puts("wrong");
}

}  // namespace host_reads_device_memory

namespace kernel_reads_host_memory {

/// With the bug, the kernel receives a pointer to pageable host memory.
__global__ void copy(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // planted: illegal device access
}

template <bool bug>
void run() {
  const std::vector<int> values(threads, 1);
  const Buffer<int> in(threads), out(threads);
  check(cudaMemcpy(in.get(), values.data(), threads * sizeof(int), cudaMemcpyHostToDevice));
  copy<<<1, threads>>>(bug ? values.data() : in.get(), out.get());
  finish();
}

}  // namespace kernel_reads_host_memory

#ifdef STAIRCASE_CUDA_ON_CPU  // nvcc refuses these bugs

namespace factor_of_the_host {

/// A variable without annotation belongs to the host, whatever its name.
#define ON_DEVICE __device__
float factor = 2;
ON_DEVICE float device_factor = 2;

template <bool bug>
__global__ void scale(float* x) {
  x[threadIdx.x] *= bug ? factor : device_factor;  // planted: illegal device access
}

template <bool bug>
void run() {
  const Buffer<float> x(threads);
  scale<bug><<<1, threads>>>(x.get());
  finish();
}

}  // namespace factor_of_the_host

namespace counter_of_the_host {

/// A static member counts launches; device code may only access a managed member.
struct Launches {
  static int on_host;
  static __managed__ int on_both;
};
int Launches::on_host = 0;
__managed__ int Launches::on_both = 0;

template <bool bug>
__global__ void count() {
  atomicAdd(bug ? &Launches::on_host : &Launches::on_both, 1);  // planted: illegal device access
}

template <bool bug>
void run() {
  count<bug><<<1, 1>>>();
  finish();
}

}  // namespace counter_of_the_host

#endif

namespace address_of_a_table_of_the_host {

/// Kernels cannot use the address of a host table; the correct kernel receives a device table.
int host_table[threads];
int __device__ device_table[threads];

__global__ void clear(int* table) { table[threadIdx.x] = 0; }  // planted: illegal device access

template <bool bug>
void run() {
  void* table = host_table;
  if (!bug) check(cudaGetSymbolAddress(&table, device_table));
  clear<<<1, threads>>>(static_cast<int*>(table));
  finish();
}

}  // namespace address_of_a_table_of_the_host

#ifdef STAIRCASE_CUDA_ON_CPU

namespace variables_of_many_forms {

/// Declarations with several variables, with initial values, and within functions.
__device__ int small[2] = {1, 2}, *pointer, count{3};
static __device__ volatile unsigned flag;
__device__ __align__(16) std::pair<int, float> pair;
alignas(16) __device__ float four[4];
int limit;
__device__ int twice_of(int i) { return 2 * i; }
__device__ int (*operation)(int) = twice_of;
__device__ int (*operations[2])(int) = {twice_of, twice_of};

extern "C" __device__ int next() {
  static int last = 0;
  return atomicAdd(&last, 1);
}

template <bool bug>
__global__ void use(int* out) {
  flag = 1;
  pair.first = small[1] + count;
  pointer = &pair.first;
  four[1] = 2;
  if (bug) limit = *pointer;  // planted: illegal device access
  *out = operation(next()) + operations[count % 2](pair.first) + static_cast<int>(four[1]);
}

template <bool bug>
void run() {
  const Buffer<int> out(1);
  use<bug><<<1, 1>>>(out.get());
  finish();
}

}  // namespace variables_of_many_forms

#endif

/// One block of a cluster sends a value to the other block through `tell`.
template <typename Tell>
__device__ void in_cluster(const Tell& tell) {
  __shared__ int number;
  __shared__ staircase::TransferBarrier told;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  told.init(1);
  staircase::fence_barriers();
  told.arrive_and_expect(sizeof(number));
  cluster.sync();
  if (cluster.block_rank() == 0)
    tell(number, told);
  else
    told.wait(0);
}

namespace told_beyond_the_cluster {

/// With the bug, block 0 of the cluster sends to block 2, which does not exist.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) tell() {
  in_cluster([](int& number, staircase::TransferBarrier& told) {
    staircase::store_in_block(number, 1, told, bug ? 2 : 1);  // planted: out of bounds
  });
}

template <bool bug>
void run() {
  tell<bug><<<2, 1>>>();
  finish();
}

}  // namespace told_beyond_the_cluster

namespace told_in_global_memory {

/// With the bug, a global address is used as the destination in another block's shared memory.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) tell(int* out) {
  in_cluster([=](int& number, staircase::TransferBarrier& told) {
    staircase::store_in_block(bug ? *out : number, 1, told, 1);  // planted: out of bounds
  });
}

template <bool bug>
void run() {
  const Buffer<int> out(1);
  tell<bug><<<2, 1>>>(out.get());
  finish();
}

}  // namespace told_in_global_memory

namespace read_beyond_the_cluster {

/// With the bug, the last block reads the shared memory of a successor, which does not exist.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) pass_on(int* out) {
  __shared__ int mine;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  mine = static_cast<int>(blockIdx.x);
  cluster.sync();
  const unsigned next = cluster.block_rank() + 1;
  const int* const theirs = cluster.map_shared_rank(&mine, next);
  if (bug || next < cluster.num_blocks()) out[blockIdx.x] = *theirs;  // planted: out of bounds
  cluster.sync();
}

template <bool bug>
void run() {
  const Buffer<int> out(2);
  pass_on<bug><<<2, 1>>>(out.get());
  finish();
}

}  // namespace read_beyond_the_cluster

namespace added_to_another_block {

/// Without clusters, each block is a cluster with only rank 0. With the bug, block 1 uses rank 1.
template <bool bug>
__global__ void add() {
  __shared__ int sum;
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  sum = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&sum, bug ? blockIdx.x : 0), 1);  // planted: out of bounds
}

template <bool bug>
void run() {
  add<bug><<<2, 1>>>();
  finish();
}

}  // namespace added_to_another_block

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"no_guard_at_the_tail", no_guard_at_the_tail::run<true>, no_guard_at_the_tail::run<false>},
       {"one_before_the_beginning", one_before_the_beginning::run<true>,
        one_before_the_beginning::run<false>},
       {"swapped_extents", swapped_extents::run<true>, swapped_extents::run<false>},
       {"elements_for_bytes", elements_for_bytes::run<true>, elements_for_bytes::run<false>},
       {"vector_over_the_end", vector_over_the_end::run<true>, vector_over_the_end::run<false>},
       {"dynamic_shared_memory_too_small", dynamic_shared_memory_too_small::run<true>,
        dynamic_shared_memory_too_small::run<false>},
       {"shared_array_too_short", shared_array_too_short::run<true>,
        shared_array_too_short::run<false>},
       {"used_after_free", used_after_free::run<true>, used_after_free::run<false>},
       {"freed_while_in_use", freed_while_in_use::run<true>, freed_while_in_use::run<false>},
       {"copied_after_free", copied_after_free::run<true>, copied_after_free::run<false>},
       {"filled_after_free", filled_after_free::run<true>, filled_after_free::run<false>},
       {"sum_without_a_zero", sum_without_a_zero::run<true>, sum_without_a_zero::run<false>},
       {"early_return_before_a_store", early_return_before_a_store::run<true>,
        early_return_before_a_store::run<false>},
       {"device_memory_never_written", device_memory_never_written::run<true>,
        device_memory_never_written::run<false>},
       {"copied_in_part", copied_in_part::run<true>, copied_in_part::run<false>},
       {"host_reads_device_memory", host_reads_device_memory::run<true>,
        host_reads_device_memory::run<false>},
       {"kernel_reads_host_memory", kernel_reads_host_memory::run<true>,
        kernel_reads_host_memory::run<false>},
#ifdef STAIRCASE_CUDA_ON_CPU
       {"factor_of_the_host", factor_of_the_host::run<true>, factor_of_the_host::run<false>},
       {"counter_of_the_host", counter_of_the_host::run<true>, counter_of_the_host::run<false>},
       {"variables_of_many_forms", variables_of_many_forms::run<true>,
        variables_of_many_forms::run<false>},
#endif
       {"address_of_a_table_of_the_host", address_of_a_table_of_the_host::run<true>,
        address_of_a_table_of_the_host::run<false>},
       {"told_beyond_the_cluster", told_beyond_the_cluster::run<true>,
        told_beyond_the_cluster::run<false>},
       {"told_in_global_memory", told_in_global_memory::run<true>,
        told_in_global_memory::run<false>},
       {"read_beyond_the_cluster", read_beyond_the_cluster::run<true>,
        read_beyond_the_cluster::run<false>},
       {"added_to_another_block", added_to_another_block::run<true>,
        added_to_another_block::run<false>}});
}
