/// \file
/// Seeded bugs: threads that do not arrive at a barrier or warp operation at which others wait.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cuda/barrier>
#include <staircase/bulk_copy.hpp>

#include "planted.cuh"
#include "resources.cuh"

namespace {

namespace cg = cooperative_groups;

constexpr int threads = 64;
constexpr unsigned all_lanes = ~0u;

namespace barrier_in_both_branches {

/// Two barriers in the source are different, even if every thread arrives at exactly one of them.
template <bool bug>
__global__ void reverse(int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = t;
  if (bug) {
    if (t < 32) {
      __syncthreads();  // planted: divergent barrier
      out[t] = tile[threads - 1 - t];
    } else {
      __syncthreads();  // planted: divergent barrier
      out[t] = -tile[threads - 1 - t];
    }
  } else {
    __syncthreads();
    out[t] = t < 32 ? tile[threads - 1 - t] : -tile[threads - 1 - t];
  }
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  reverse<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace barrier_in_both_branches

namespace barrier_for_threads_with_work {

/// With the bug, threads without an element skip a barrier and arrive at the next one.
template <bool bug>
__global__ void reverse(const int* in, int* out, int n) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = 0;
  if (t < n) tile[t] = in[t];
  if (!bug || t < n) __syncthreads();  // planted: divergent barrier
  const int value = tile[threads - 1 - t];
  __syncthreads();  // planted: divergent barrier
  tile[t] = value;
  if (t < n) out[t] = tile[t];
}

template <bool bug>
void run() {
  const Buffer<int> in(40), out(40);
  reverse<bug><<<1, threads>>>(in.get(), out.get(), 40);
  finish();
}

}  // namespace barrier_for_threads_with_work

namespace barrier_in_a_loop_of_any_length {

/// The loop contains a barrier; with the bug, the number of iterations differs between threads.
template <bool bug>
__global__ void largest_product(int* out) {
  __shared__ int largest;
  const int t = threadIdx.x;
  if (t == 0) largest = 0;
  __syncthreads();
  for (int k = 0; k < (bug ? 1 + t / 16 : 4); ++k) {
    if (k <= t / 16) atomicMax(&largest, k * t);
    __syncthreads();  // planted: divergent barrier
  }
  if (t == 0) *out = largest;
  __syncthreads();  // planted: divergent barrier
}

template <bool bug>
void run() {
  const Buffer<int> out(1);
  largest_product<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace barrier_in_a_loop_of_any_length

namespace barrier_beside_a_warp_operation {

/// With the bug, half of a warp waits at a block barrier, and the other half at a warp barrier.
template <bool bug>
__global__ void sum(int* out) {
  const int t = threadIdx.x;
  int sum = t;
  if (!bug || t < 16) __syncthreads();  // planted: deadlock or divergent barrier
  if (!bug || t >= 16) sum = __reduce_add_sync(all_lanes, sum);  // planted: deadlock
  out[t] = sum;
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  sum<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace barrier_beside_a_warp_operation

namespace flag_set_behind_the_barrier {

/// With the bug, thread 0 waits for a flag that thread 32 sets after a barrier of the whole block.
template <bool bug>
__global__ void wait_for_flag(int* flag, int* out) {
  const int t = threadIdx.x;
  if (!bug && t == 32) atomicExch(flag, 1);
  if (t == 0)
    while (atomicAdd(flag, 0) == 0) {  // planted: deadlock
    }
  __syncthreads();  // planted: deadlock
  if (bug && t == 32) atomicExch(flag, 1);
  out[t] = t;
}

template <bool bug>
void run() {
  const Buffer<int> flag(1), out(threads);
  wait_for_flag<bug><<<1, threads>>>(flag.get(), out.get());
  finish();
}

}  // namespace flag_set_behind_the_barrier

namespace grid_barrier_of_some_blocks {

/// With the bug, a block without work skips a barrier of the grid.
template <bool bug>
__global__ void fill(int* out, int blocks) {
  const int b = blockIdx.x;
  if (b < blocks) out[b] = b;
  if (!bug || b < blocks) cg::this_grid().sync();  // planted: deadlock
  if (b == 0) out[0] = out[1];
}

template <bool bug>
void run() {
  const Buffer<int> out(4);
  int* o = out.get();
  int blocks = 3;
  void* arguments[] = {&o, &blocks};
  check(cudaLaunchCooperativeKernel(fill<bug>, 4, 1, arguments));
  finish();
}

}  // namespace grid_barrier_of_some_blocks

namespace barrier_expects_too_many {

/// With the bug, threads without an element do not arrive at a barrier that counts them.
template <bool bug>
__global__ void reverse(const int* in, int* out, int n) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, bug ? threads : n);
  __syncthreads();
  if (t >= n) return;
  tile[t] = in[t];
  barrier.arrive_and_wait();  // planted: deadlock
  out[t] = tile[n - 1 - t];
}

template <bool bug>
void run() {
  const Buffer<int> in(40), out(40);
  reverse<bug><<<1, threads>>>(in.get(), out.get(), 40);
  finish();
}

}  // namespace barrier_expects_too_many

namespace barrier_expects_too_few {

/// With the bug, the barrier opens when one of the two warps has arrived.
template <bool bug>
__global__ void reverse(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, bug ? threads / 2 : threads);
  __syncthreads();
  tile[t] = t;  // planted: race
  barrier.arrive_and_wait();
  out[t] = tile[threads - 1 - t];  // planted: race or uninitialised read
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  reverse<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace barrier_expects_too_few

namespace warp_barrier_of_half_a_warp {

/// With the bug, the mask contains all lanes, but half of them wait elsewhere.
template <bool bug>
__global__ void fill(int* out) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane;
  if (lane < 16) {
    __syncwarp(bug ? all_lanes : 0x0000ffff);  // planted: invalid mask or deadlock
    out[lane] = tile[15 - lane];
  }
  __syncthreads();  // planted: divergent barrier or deadlock
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  fill<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace warp_barrier_of_half_a_warp

namespace shuffles_in_both_branches {

/// With the bug, both halves use a mask of all lanes in two different shuffles.
template <bool bug>
__global__ void rotate(int* out) {
  const int lane = threadIdx.x;
  int value = lane;
  const unsigned mask = bug ? all_lanes : lane < 16 ? 0x0000ffff : 0xffff0000;
  if (lane < 16)
    value = __shfl_xor_sync(mask, value, 1);  // planted: invalid mask or deadlock
  else
    value = __shfl_down_sync(mask, value, 1, 16);  // planted: invalid mask or deadlock
  out[lane] = value;
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  rotate<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace shuffles_in_both_branches

namespace lane_missing_from_its_mask {

/// With the bug, the mask does not contain the calling lane.
template <bool bug>
__global__ void broadcast(int* out) {
  const int lane = threadIdx.x;
  const unsigned mask = bug ? all_lanes - 1 : all_lanes;
  out[lane] = __shfl_sync(mask, lane, 5);  // planted: invalid mask
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  broadcast<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace lane_missing_from_its_mask

namespace lanes_of_two_minds {

/// With the bug, the mask of each lane contains only this lane and lower lanes.
template <bool bug>
__global__ void odd_lanes(int* out) {
  const int lane = threadIdx.x;
  const unsigned mask = bug ? all_lanes >> (31 - lane) : all_lanes;
  out[lane] = __ballot_sync(mask, lane % 2);  // planted: invalid mask or deadlock
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  odd_lanes<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace lanes_of_two_minds

namespace shuffle_from_an_absent_lane {

/// Sums 24 lanes; with the bug, the first step reads lanes that do not participate.
template <bool bug>
__global__ void sum(const int* in, int* out) {
  const int lane = threadIdx.x;
  const unsigned mask = 0x00ffffff;
  if (lane >= 24) return;
  int sum = in[lane];
  for (int step = 16; step > 0; step /= 2) {
    const int other = lane + step;
    const int source = bug || other < 24 ? other : lane;
    const int value =
        __shfl_sync(mask, sum, source);  // planted: invalid mask or uninitialised read
    if (source != lane) sum += value;
  }
  if (lane == 0) *out = sum;
}

template <bool bug>
void run() {
  const Buffer<int> in(24), out(1);
  sum<bug><<<1, 32>>>(in.get(), out.get());
  finish();
}

}  // namespace shuffle_from_an_absent_lane

namespace fewer_bytes_than_a_barrier_expects {

/// With the bug, only half of the threads of one block send to the other block of the cluster.
template <bool bug>
__global__ void __cluster_dims__(2, 1, 1) tell_the_other(int* out) {
  __shared__ int told[threads];
  __shared__ staircase::TransferBarrier all_told;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x;
  if (t == 0) {
    all_told.init(1);
    staircase::fence_barriers();
    all_told.arrive_and_expect(sizeof(told));
  }
  cluster.sync();
  if (cluster.block_rank() == 0) {
    if (!bug || t < threads / 2) staircase::store_in_block<int>(told[t], t, all_told, 1);
  } else {
    all_told.wait(0);  // planted: deadlock
    out[t] = told[t];
  }
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  tell_the_other<bug><<<2, threads>>>(out.get());
  finish();
}

}  // namespace fewer_bytes_than_a_barrier_expects

namespace barrier_of_a_part_of_a_tile {

/// With the bug, threads without an element skip the barrier of their tile of two warps.
template <bool bug>
__global__ void reverse(const int* in, int* out, int n) {
  __shared__ int values[2 * threads];
  const auto tile = cg::tiled_partition<threads>(cg::this_thread_block());
  const int t = threadIdx.x, rank = tile.thread_rank();
  int* const own = &values[tile.meta_group_rank() * threads];
  own[rank] = 0;
  if (t < n) own[rank] = in[t];
  if (!bug || t < n) tile.sync();  // planted: deadlock
  if (t < n) out[t] = own[threads - 1 - rank];
}

template <bool bug>
void run() {
  const Buffer<int> in(100), out(100);
  reverse<bug><<<1, 2 * threads>>>(in.get(), out.get(), 100);
  finish();
}

}  // namespace barrier_of_a_part_of_a_tile

namespace block_of_no_whole_tiles {

/// With the bug, the last warp of the block is an incomplete tile.
template <bool bug>
__global__ void sum(const int* in, int* out) {
  const auto tile = cg::tiled_partition<threads>(cg::this_thread_block());
  const int all = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());  // planted: divergent barrier
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = all;
}

template <bool bug>
void run() {
  const Buffer<int> in(2 * threads), out(2);
  sum<bug><<<1, bug ? 3 * threads / 2 : 2 * threads>>>(in.get(), out.get());
  finish();
}

}  // namespace block_of_no_whole_tiles

namespace tile_of_two_minds {

/// With the bug, the warps of a tile execute different operations.
template <bool bug>
__global__ void sum(const int* in, int* out) {
  const auto tile = cg::tiled_partition<threads>(cg::this_thread_block());
  const int value = in[threadIdx.x];
  int result = 0;
  if (!bug || threadIdx.x < 32)
    result = tile.shfl(value, 5);  // planted: divergent barrier
  else
    result = tile.any(value);  // planted: divergent barrier
  out[threadIdx.x] = result;
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  sum<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace tile_of_two_minds

namespace each_for_another_one {

/// A shuffle in a tile of several warps can read the value of only one thread. A GPU hangs if
/// threads of the tile read from different threads.
template <bool bug>
__global__ void turn(int* values) {
  const auto tile = cg::tiled_partition<threads>(cg::this_thread_block());
  const unsigned rank = bug ? (tile.thread_rank() + 1) % threads : 7;
  values[threadIdx.x] = tile.shfl(values[threadIdx.x], rank);  // planted: divergent barrier
}

template <bool bug>
void run() {
  const Buffer<int> values(2 * threads);
  turn<bug><<<1, 2 * threads>>>(values.get());
  finish();
}

}  // namespace each_for_another_one

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"barrier_in_both_branches", barrier_in_both_branches::run<true>,
        barrier_in_both_branches::run<false>},
       {"barrier_for_threads_with_work", barrier_for_threads_with_work::run<true>,
        barrier_for_threads_with_work::run<false>},
       {"barrier_in_a_loop_of_any_length", barrier_in_a_loop_of_any_length::run<true>,
        barrier_in_a_loop_of_any_length::run<false>},
       {"barrier_beside_a_warp_operation", barrier_beside_a_warp_operation::run<true>,
        barrier_beside_a_warp_operation::run<false>},
       {"flag_set_behind_the_barrier", flag_set_behind_the_barrier::run<true>,
        flag_set_behind_the_barrier::run<false>},
       {"grid_barrier_of_some_blocks", grid_barrier_of_some_blocks::run<true>,
        grid_barrier_of_some_blocks::run<false>},
       {"barrier_expects_too_many", barrier_expects_too_many::run<true>,
        barrier_expects_too_many::run<false>},
       {"barrier_expects_too_few", barrier_expects_too_few::run<true>,
        barrier_expects_too_few::run<false>},
       {"warp_barrier_of_half_a_warp", warp_barrier_of_half_a_warp::run<true>,
        warp_barrier_of_half_a_warp::run<false>},
       {"shuffles_in_both_branches", shuffles_in_both_branches::run<true>,
        shuffles_in_both_branches::run<false>},
       {"lane_missing_from_its_mask", lane_missing_from_its_mask::run<true>,
        lane_missing_from_its_mask::run<false>},
       {"lanes_of_two_minds", lanes_of_two_minds::run<true>, lanes_of_two_minds::run<false>},
       {"shuffle_from_an_absent_lane", shuffle_from_an_absent_lane::run<true>,
        shuffle_from_an_absent_lane::run<false>},
       {"fewer_bytes_than_a_barrier_expects", fewer_bytes_than_a_barrier_expects::run<true>,
        fewer_bytes_than_a_barrier_expects::run<false>},
       {"barrier_of_a_part_of_a_tile", barrier_of_a_part_of_a_tile::run<true>,
        barrier_of_a_part_of_a_tile::run<false>},
       {"block_of_no_whole_tiles", block_of_no_whole_tiles::run<true>,
        block_of_no_whole_tiles::run<false>},
       {"tile_of_two_minds", tile_of_two_minds::run<true>, tile_of_two_minds::run<false>},
       {"each_for_another_one", each_for_another_one::run<true>,
        each_for_another_one::run<false>}});
}
