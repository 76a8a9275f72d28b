/// \file
/// Seeded bugs: unordered accesses of blocks to global memory or to shared memory of other blocks.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <staircase/bulk_copy.hpp>

#include "planted.cuh"
#include "resources.cuh"

namespace {

namespace cg = cooperative_groups;

constexpr int threads = 64;
constexpr int blocks = 4;
constexpr int count = blocks * threads;

namespace histogram_without_atomics {

/// Increments a bin; with the bug, the increment is not atomic.
template <bool bug>
__global__ void histogram(const int* in, int* bins) {
  const int bin = in[blockIdx.x * threads + threadIdx.x] % 8;
  if (bug)
    bins[bin] += 1;  // planted: race
  else
    atomicAdd(&bins[bin], 1);
}

template <bool bug>
void run() {
  const Buffer<int> in(count), bins(8);
  histogram<bug><<<blocks, threads>>>(in.get(), bins.get());
  finish();
}

}  // namespace histogram_without_atomics

namespace stencil_in_place {

/// With the bug, the kernel overwrites elements whose old values the neighbouring threads need.
template <bool bug>
__global__ void smooth(int* values, int* smoothed) {
  const int i = blockIdx.x * threads + threadIdx.x;
  int* const to = bug ? values : smoothed;
  if (i > 0 && i < count - 1) to[i] = (values[i - 1] + values[i + 1]) / 2;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> values(count), smoothed(count);
  smooth<bug><<<blocks, threads>>>(values.get(), smoothed.get());
  finish();
}

}  // namespace stencil_in_place

namespace marked_by_several {

/// Stores marks in overlapping ranges. Concurrent stores of the same mark are harmless; with the
/// bug, the threads store different marks.
template <bool bug>
__global__ void mark(int* marks) {
  int* const mine = marks + blockIdx.x * 2 * threads + threadIdx.x;
  for (int i = 0; i < 4; ++i) mine[i] = bug ? static_cast<int>(threadIdx.x) : 1;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> marks(2 * count);
  mark<bug><<<blocks, threads>>>(marks.get());
  finish();
}

}  // namespace marked_by_several

namespace swapped_twice {

/// Transposes in place with half of the threads; with the bug, all threads exchange elements.
template <bool bug>
__global__ void transpose(int* matrix, int side) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (bug ? x != y : x < y) {
    const int value = matrix[y * side + x];
    matrix[y * side + x] = matrix[x * side + y];  // planted: race
    matrix[x * side + y] = value;                 // planted: race
  }
}

template <bool bug>
void run() {
  const Buffer<int> matrix(32 * 32);
  transpose<bug><<<32, 32>>>(matrix.get(), 32);
  finish();
}

}  // namespace swapped_twice

namespace overlapping_blocks {

/// With the bug, the ranges of adjacent blocks overlap, as in a stencil.
template <bool bug>
__global__ void fill(int* out) {
  const int stride = bug ? threads - 2 : threads;
  out[blockIdx.x * stride + threadIdx.x] = blockIdx.x;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(count);
  fill<bug><<<blocks, threads>>>(out.get());
  finish();
}

}  // namespace overlapping_blocks

namespace plain_read_beside_atomics {

/// With the bug, the ticket is read from the counter instead of the result of atomicAdd.
template <bool bug>
__global__ void draw_tickets(int* counter, int* tickets) {
  const int i = blockIdx.x * threads + threadIdx.x;
  const int ticket = atomicAdd(counter, 1);
  tickets[i] = bug ? *counter : ticket;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> counter(1), tickets(count);
  draw_tickets<bug><<<blocks, threads>>>(counter.get(), tickets.get());
  finish();
}

}  // namespace plain_read_beside_atomics

__device__ unsigned blocks_done;  // 0 again after the last block has counted itself

/// Whether this block is the last one of the grid to call this function.
__device__ bool is_last_block() { return atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1; }

namespace last_block_without_a_fence {

/// With the bug, the counter may become visible before the partial sum.
template <bool bug>
__global__ void sum(const int* in, int* partial, int* out) {
  __shared__ bool last;
  const int lane = threadIdx.x;
  const int sum = __reduce_add_sync(~0u, in[blockIdx.x * 32 + lane]);
  if (lane == 0) {
    partial[blockIdx.x] = sum;
    if (!bug) __threadfence();
    last = is_last_block();
    __threadfence();
  }
  __syncthreads();
  if (last && lane == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];  // planted: race
    *out = total;
  }
}

template <bool bug>
void run() {
  const Buffer<int> in(blocks * 32), partial(blocks), out(1);
  sum<bug><<<blocks, 32>>>(in.get(), partial.get(), out.get());
  finish();
}

}  // namespace last_block_without_a_fence

namespace last_block_without_a_barrier {

/// With the bug, one thread counts its block as finished before other threads have stored.
template <bool bug>
__global__ void sum(const int* in, int* squares, int* out) {
  __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * threads + t;
  squares[i] = in[i] * in[i];
  if (!bug) __syncthreads();
  if (t == 0) {
    __threadfence();
    last = is_last_block();
    __threadfence();
  }
  __syncthreads();
  if (last && t == 0) {
    int total = 0;
    for (int k = 0; k < count; ++k) total += squares[k];  // planted: race
    *out = total;
  }
}

template <bool bug>
void run() {
  const Buffer<int> in(count), squares(count), out(1);
  sum<bug><<<blocks, threads>>>(in.get(), squares.get(), out.get());
  finish();
}

}  // namespace last_block_without_a_barrier

namespace handover_without_a_fence {

/// With the bug, the flag may become visible before the value.
template <bool bug>
__global__ void hand_over(int* value, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *value = 42;
    if (!bug) __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *value;  // planted: race
  }
}

template <bool bug>
void run() {
  const Buffer<int> value(1), flag(1), out(1);
  int *v = value.get(), *f = flag.get(), *o = out.get();
  void* arguments[] = {&v, &f, &o};
  check(cudaLaunchCooperativeKernel(hand_over<bug>, 2, 1, arguments));
  finish();
}

}  // namespace handover_without_a_fence

namespace block_barrier_for_a_grid {

/// With the bug, a barrier of one block is expected to order a store of another block.
template <bool bug>
__global__ void swap_blocks(int* values, int* out) {
  const int t = threadIdx.x;
  values[blockIdx.x * threads + t] = t;
  if (bug)
    __syncthreads();
  else
    cg::this_grid().sync();
  out[blockIdx.x * threads + t] = values[(blockIdx.x + 1) % blocks * threads + t];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> values(count), out(count);
  int *v = values.get(), *o = out.get();
  void* arguments[] = {&v, &o};
  check(cudaLaunchCooperativeKernel(swap_blocks<bug>, blocks, threads, arguments));
  finish();
}

}  // namespace block_barrier_for_a_grid

namespace block_barrier_for_a_cluster {

/// With the bug, a block reads the other block's shared memory before that block has stored.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) swap_in_cluster(int* out) {
  __shared__ int tile[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = blockIdx.x;
  if (bug)
    __syncthreads();
  else
    cluster.sync();
  const int* const others = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  out[blockIdx.x * threads + t] = others[t];  // planted: race or uninitialised read
  cluster.sync();
}

template <bool bug>
void run() {
  const Buffer<int> out(count);
  swap_in_cluster<bug><<<blocks, threads>>>(out.get());
  finish();
}

}  // namespace block_barrier_for_a_cluster

namespace cluster_entered_too_early {

/// With the bug, a block writes to the other block's memory, possibly before that block starts.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) send(int* out) {
  __shared__ int tile[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (!bug) cluster.sync();
  int* const others = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  others[t] = t;  // planted: race
  cluster.sync();
  out[blockIdx.x * threads + t] = tile[t];
}

template <bool bug>
void run() {
  const Buffer<int> out(count);
  send<bug><<<blocks, threads>>>(out.get());
  finish();
}

}  // namespace cluster_entered_too_early

namespace cluster_left_too_early {

/// With the bug, a block ends while the other block may still read its shared memory.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) read_and_leave(int* out) {
  __shared__ int tile[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = t;
  cluster.sync();
  const int* const others = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  out[blockIdx.x * threads + t] = others[t];  // planted: race or use after free
  if (!bug) cluster.sync();
}

template <bool bug>
void run() {
  const Buffer<int> out(count);
  read_and_leave<bug><<<blocks, threads>>>(out.get());
  finish();
}

}  // namespace cluster_left_too_early

/// Initialises the barrier and expects the bytes that all threads of the other block will store.
__device__ void expect_numbers(staircase::TransferBarrier& told) {
  if (threadIdx.x != 0) return;
  told.init(1);
  staircase::fence_barriers();
  told.arrive_and_expect(threads * sizeof(int));
}

namespace told_before_the_cluster_has_met {

/// With the bug, a block may store in the other block before that block's barrier is initialised.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) tell(int* out) {
  __shared__ int numbers[threads];
  __shared__ staircase::TransferBarrier told;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  expect_numbers(told);
  if (!bug) cluster.sync();
  staircase::store_in_block(numbers[t], t, told, cluster.block_rank() ^ 1);  // planted: race
  if (bug) cluster.sync();
  told.wait(0);
  out[blockIdx.x * threads + t] = numbers[t];
}

template <bool bug>
void run() {
  const Buffer<int> out(count);
  tell<bug><<<blocks, threads>>>(out.get());
  finish();
}

}  // namespace told_before_the_cluster_has_met

namespace told_after_its_end {

/// With the bug, a block stores in the other block, which does not wait for the values.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) tell(int* out) {
  __shared__ int numbers[threads];
  __shared__ staircase::TransferBarrier told;
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  expect_numbers(told);
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  staircase::store_in_block(numbers[t], t, told, other);  // planted: use after free
  if (!bug) told.wait(0);
  out[blockIdx.x * threads + t] = bug ? t : numbers[t];
}

template <bool bug>
void run() {
  const Buffer<int> out(count);
  tell<bug><<<blocks, threads>>>(out.get());
  finish();
}

}  // namespace told_after_its_end

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"histogram_without_atomics", histogram_without_atomics::run<true>,
        histogram_without_atomics::run<false>},
       {"stencil_in_place", stencil_in_place::run<true>, stencil_in_place::run<false>},
       {"marked_by_several", marked_by_several::run<true>, marked_by_several::run<false>},
       {"swapped_twice", swapped_twice::run<true>, swapped_twice::run<false>},
       {"overlapping_blocks", overlapping_blocks::run<true>, overlapping_blocks::run<false>},
       {"plain_read_beside_atomics", plain_read_beside_atomics::run<true>,
        plain_read_beside_atomics::run<false>},
       {"last_block_without_a_fence", last_block_without_a_fence::run<true>,
        last_block_without_a_fence::run<false>},
       {"last_block_without_a_barrier", last_block_without_a_barrier::run<true>,
        last_block_without_a_barrier::run<false>},
       {"handover_without_a_fence", handover_without_a_fence::run<true>,
        handover_without_a_fence::run<false>},
       {"block_barrier_for_a_grid", block_barrier_for_a_grid::run<true>,
        block_barrier_for_a_grid::run<false>},
       {"block_barrier_for_a_cluster", block_barrier_for_a_cluster::run<true>,
        block_barrier_for_a_cluster::run<false>},
       {"cluster_entered_too_early", cluster_entered_too_early::run<true>,
        cluster_entered_too_early::run<false>},
       {"cluster_left_too_early", cluster_left_too_early::run<true>,
        cluster_left_too_early::run<false>},
       {"told_before_the_cluster_has_met", told_before_the_cluster_has_met::run<true>,
        told_before_the_cluster_has_met::run<false>},
       {"told_after_its_end", told_after_its_end::run<true>, told_after_its_end::run<false>}});
}
