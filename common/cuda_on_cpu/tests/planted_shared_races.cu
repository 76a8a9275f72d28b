/// \file
/// Seeded bugs: threads of a block that access its shared memory without synchronisation.

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cuda/barrier>
#include <staircase/bulk_copy.hpp>

#include <utility>
#include <vector>

#include "planted.cuh"
#include "resources.cuh"

// A barrier in shared memory is initialised by init(), not by its constructor.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace {

constexpr int threads = 64;

namespace no_barrier_after_a_store {

/// With the bug, the kernel reads elements that other threads may not have stored yet.
template <bool bug>
__global__ void reverse(int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = t;
  if (!bug) __syncthreads();
  out[t] = tile[threads - 1 - t];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  reverse<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace no_barrier_after_a_store

namespace no_barrier_before_the_next_store {

/// With the bug, the next iteration overwrites elements that slower threads still read.
template <bool bug>
__global__ void sum_of_neighbours(const int* in, int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    tile[t] = in[k * threads + t];  // planted: race
    __syncthreads();
    sum += tile[(t + 1) % threads];
    if (!bug) __syncthreads();
  }
  out[t] = sum;
}

template <bool bug>
void run() {
  const Buffer<int> in(3 * threads), out(threads);
  sum_of_neighbours<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace no_barrier_before_the_next_store

namespace no_barrier_in_a_reduction {

/// With the bug, the kernel adds partial sums that other warps have not finished.
template <bool bug>
__global__ void sum(const int* in, int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (t < step) tile[t] += tile[t + step];  // planted: race
    if (!bug) __syncthreads();
  }
  if (t == 0) *out = tile[0];
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(1);
  sum<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace no_barrier_in_a_reduction

namespace no_barrier_in_a_scan {

/// Hillis and Steele's scan in one array: a barrier must separate reads from writes.
template <bool bug>
__global__ void scan(int* values) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = values[t];
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    const int before = t >= step ? tile[t - step] : 0;
    if (!bug) __syncthreads();
    tile[t] += before;  // planted: race
    __syncthreads();
  }
  values[t] = tile[t];
}

template <bool bug>
void run() {
  const Buffer<int> values(threads, 1);
  scan<bug><<<1, threads>>>(values.get());
  finish();
}

}  // namespace no_barrier_in_a_scan

namespace two_threads_for_one_element {

/// With the bug, pairs of threads store to the same element, because the index is halved.
template <bool bug>
__global__ void store(int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[threads - 1 - t] = 0;
  __syncthreads();
  tile[bug ? t / 2 : t] = t;  // planted: race
  __syncthreads();
  out[t] = tile[t];
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  store<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace two_threads_for_one_element

namespace weights_loaded_by_every_row {

/// All rows of threads load the same weights; with the bug, each row loads different weights.
template <bool bug>
__global__ void load(const int4* weights, int4* out) {
  __shared__ int4 mine[16];
  mine[threadIdx.x] = weights[threadIdx.x + (bug ? threadIdx.y : 0)];  // planted: race
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = mine[threadIdx.x];
}

template <bool bug>
void run() {
  std::vector<int4> values(32);
  for (int i = 0; i < 32; ++i) values[i] = {i, -i, 2 * i, 3 * i};
  const Buffer<int4> weights(32), out(64);
  check(cudaMemcpy(weights.get(), values.data(), 32 * sizeof(int4), cudaMemcpyHostToDevice));
  load<bug><<<1, dim3(16, 4)>>>(weights.get(), out.get());
  finish();
}

}  // namespace weights_loaded_by_every_row

namespace same_half_of_a_double_buffer {

/// With the bug, the kernel writes into the half of the tile that other threads read.
template <bool bug>
__global__ void smooth(const int* in, int* out) {
  __shared__ int tile[2][threads];
  const int t = threadIdx.x;
  tile[0][t] = in[t];
  for (int k = 0; k < 4; ++k) {
    __syncthreads();
    const int now = k % 2, next = bug ? now : 1 - now;
    tile[next][t] = tile[now][t] + tile[now][(t + 1) % threads];  // planted: race
  }
  __syncthreads();
  out[t] = tile[0][t];
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  smooth<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace same_half_of_a_double_buffer

namespace trust_in_lockstep {

/// The lanes of a warp do not run in lockstep, and must use __syncwarp.
template <bool bug>
__global__ void sum_of_a_warp(const int* in, int* out) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = in[lane];
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (lane < step) tile[lane] += tile[lane + step];  // planted: race
    if (!bug) __syncwarp();
  }
  if (lane == 0) *out = tile[0];
}

template <bool bug>
void run() {
  const Buffer<int> in(32), out(1);
  sum_of_a_warp<bug><<<1, 32>>>(in.get(), out.get());
  finish();
}

}  // namespace trust_in_lockstep

namespace warp_barrier_for_a_block {

/// With the bug, only the threads of a warp synchronise, but they read elements of the other warp.
template <bool bug>
__global__ void swap_warps(int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = t;
  if (bug)
    __syncwarp();
  else
    __syncthreads();
  out[t] = tile[(t + 32) % threads];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  swap_warps<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace warp_barrier_for_a_block

namespace group_too_small {

/// With the bug, a tile of 8 threads synchronises, but the kernel reads from other tiles.
template <bool bug>
__global__ void reverse(int* out) {
  namespace cg = cooperative_groups;
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = t;
  cg::tiled_partition<bug ? 8 : 16>(cg::this_thread_block()).sync();
  out[t] = tile[t / 16 * 16 + 15 - t % 16];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  reverse<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace group_too_small

namespace late_halo {

/// With the bug, the kernel loads an extra element after the barrier that should order the load.
template <bool bug>
__global__ void differences(const int* in, int* out) {
  __shared__ int tile[threads + 1];
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (bug) __syncthreads();
  if (t == 0) tile[threads] = in[threads];
  if (!bug) __syncthreads();
  out[t] = tile[t + 1] - tile[t];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> in(threads + 1), out(threads);
  differences<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace late_halo

namespace broadcast_without_a_barrier {

/// One thread writes a factor for all threads; with the bug, the other threads do not wait for it.
template <bool bug>
__global__ void scale(const int* in, int* out) {
  __shared__ int factor;
  const int t = threadIdx.x;
  if (t == 0) factor = in[0] + 2;
  if (!bug) __syncthreads();
  out[t] = factor * in[t];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  scale<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace broadcast_without_a_barrier

namespace helper_called_twice {

/// Returns the sum over the block. All threads must read the tile before the next call writes it.
template <bool bug>
__device__ int block_sum(int value) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  tile[t] = value;  // planted: race
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < threads; ++k) sum += tile[k];
  if (!bug) __syncthreads();
  return sum;
}

template <bool bug>
__global__ void variance(const int* in, int* out) {
  const int value = in[threadIdx.x];
  const int mean = block_sum<bug>(value) / threads;
  const int sum = block_sum<bug>((value - mean) * (value - mean));
  if (threadIdx.x == 0) *out = sum / threads;
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(1);
  variance<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace helper_called_twice

namespace result_read_beside_atomics {

/// With the bug, the kernel reads the bins while other threads still add to them.
template <bool bug>
__global__ void histogram(const int* in, int* out) {
  __shared__ int bins[8];
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[t] % 8], 1);
  if (!bug) __syncthreads();
  if (t < 8) out[t] = bins[t];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(8);
  histogram<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace result_read_beside_atomics

namespace zeroed_too_late {

/// With the bug, the kernel adds to bins that other threads have not cleared yet.
template <bool bug>
__global__ void histogram(const int* in, int* out) {
  __shared__ int bins[threads];
  const int t = threadIdx.x;
  bins[threads - 1 - t] = 0;  // planted: race
  if (!bug) __syncthreads();
  atomicAdd(&bins[(in[t] + t) % threads], 1);  // planted: race or uninitialised read
  __syncthreads();
  out[t] = bins[t];
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  histogram<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace zeroed_too_late

namespace arrival_before_the_warp_has_read {

/// The second warp reads values that the first warp writes. Lane 0 of the second warp signals that
/// all lanes have read. With the bug, lanes synchronise before their reads, not after them.
template <bool bug>
__global__ void pass_on(const int* in, int* out) {
  __shared__ int buffer[32];
  __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    init(&full, 32);
    init(&empty, 1);
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if (threadIdx.x < 32) {
      if (k > 0) empty.wait_parity((k - 1) % 2 != 0);
      buffer[lane] = in[k * 32 + lane];  // planted: race
      (void)full.arrive();
    } else {
      full.wait_parity(k % 2 != 0);
      if (bug) __syncwarp();
      out[k * 32 + lane] = buffer[31 - lane];
      if (!bug) __syncwarp();
      if (lane == 0) (void)empty.arrive();
    }
  }
}

template <bool bug>
void run() {
  const Buffer<int> in(4 * 32), out(4 * 32);
  pass_on<bug><<<1, 64>>>(in.get(), out.get());
  finish();
}

}  // namespace arrival_before_the_warp_has_read

namespace between_arrival_and_wait {

/// With the bug, all threads arrive, write their next element and then wait. Other threads read
/// this element after the phase, which does not order the write.
template <bool bug>
__global__ void write_between(int* out) {
  __shared__ int now[threads], next[threads];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, threads);
  __syncthreads();
  now[t] = t;
  if (!bug) next[t] = 2 * t;
  auto token = barrier.arrive();
  if (bug) next[t] = 2 * t;
  barrier.wait(std::move(token));
  out[t] = now[threads - 1 - t] + next[threads - 1 - t];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  write_between<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace between_arrival_and_wait

namespace read_before_the_wait {

/// With the bug, the last thread to arrive reads before it waits. In another order, the other
/// threads would not have stored yet.
template <bool bug>
__global__ void read_early(int* out) {
  __shared__ int tile[threads];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, threads);
  __syncthreads();
  tile[t] = t;
  if (t < threads - 1) {
    barrier.arrive_and_wait();
    out[t] = tile[threads - 1 - t];
  } else {
    auto token = barrier.arrive();
    const int early = bug ? tile[0] : 0;  // planted: race
    barrier.wait(std::move(token));
    out[t] = bug ? early : tile[0];
  }
}

template <bool bug>
void run() {
  const Buffer<int> out(threads);
  read_early<bug><<<1, threads>>>(out.get());
  finish();
}

}  // namespace read_before_the_wait

constexpr unsigned rounds = 5;

/// A buffer that one thread fills by bulk copies and that a warp empties.
struct Channel {
  alignas(16) int buffer[32];
  staircase::TransferBarrier full, empty;
};

__device__ void init(Channel& channel) {
  if (threadIdx.x == 0) {
    channel.full.init(1);
    channel.empty.init(1);
    staircase::fence_barriers();
  }
  __syncthreads();
}

__device__ void fill(Channel& channel, const int* in) {
  channel.full.arrive_and_expect(sizeof(channel.buffer));
  staircase::bulk_copy(channel.buffer, in, sizeof(channel.buffer), channel.full);
}

namespace refill_before_the_buffer_is_empty {

/// With the bug, the kernel does not wait until the previous contents of the buffer have been read.
template <bool bug>
__global__ void pass_on(const int* in, int* out) {
  __shared__ Channel channel;
  init(channel);
  if (threadIdx.x == 32)
    for (unsigned k = 0; k < rounds; ++k) {
      if (!bug) channel.empty.wait((k + 1) % 2);
      fill(channel, in + k * 32);
    }
  if (threadIdx.x < 32)
    for (unsigned k = 0; k < rounds; ++k) {
      channel.full.wait(k % 2);
      out[k * 32 + threadIdx.x] = channel.buffer[31 - threadIdx.x];  // planted: race
      __syncwarp();
      if (threadIdx.x == 0) channel.empty.arrive();
    }
}

template <bool bug>
void run() {
  const Buffer<int> in(32 * rounds), out(32 * rounds);
  pass_on<bug><<<1, 64>>>(in.get(), out.get());
  finish();
}

}  // namespace refill_before_the_buffer_is_empty

namespace use_before_the_buffer_is_full {

/// With the bug, the kernel does not wait for the copied bytes.
template <bool bug>
__global__ void pass_on(const int* in, int* out) {
  __shared__ Channel channel;
  init(channel);
  if (threadIdx.x == 32)
    for (unsigned k = 0; k < rounds; ++k) {
      channel.empty.wait((k + 1) % 2);
      fill(channel, in + k * 32);
    }
  if (threadIdx.x < 32)
    for (unsigned k = 0; k < rounds; ++k) {
      if (!bug) channel.full.wait(k % 2);
      out[k * 32 + threadIdx.x] =
          channel.buffer[31 - threadIdx.x];  // planted: race or uninitialised read
      __syncwarp();
      if (threadIdx.x == 0) channel.empty.arrive();
    }
}

template <bool bug>
void run() {
  const Buffer<int> in(32 * rounds), out(32 * rounds);
  pass_on<bug><<<1, 64>>>(in.get(), out.get());
  finish();
}

}  // namespace use_before_the_buffer_is_full

namespace barrier_behind_an_asynchronous_copy {

/// With the bug, the kernel copies into the half that slower threads still read. The wait after the
/// barrier does not order the reads of these threads.
template <bool bug>
__global__ void sum_of_neighbours(const int* in, int* out) {
  __shared__ int tile[2][threads];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < 4; ++k) {
    __pipeline_wait_prior(0);
    if (!bug) __syncthreads();
    if (k < 3)
      __pipeline_memcpy_async(&tile[(k + 1) % 2][t],  // planted: race
                              &in[(k + 1) * threads + t], sizeof(int));
    __pipeline_commit();
    if (bug) __syncthreads();
    sum += tile[k % 2][(t + 1) % threads];  // planted: race
  }
  out[t] = sum;
}

template <bool bug>
void run() {
  const Buffer<int> in(4 * threads), out(threads);
  sum_of_neighbours<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace barrier_behind_an_asynchronous_copy

namespace barrier_without_a_wait_for_the_copy {

/// With the bug, the kernel reaches a barrier while copied bytes may still be in transit.
template <bool bug>
__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[threads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
  __pipeline_commit();
  if (!bug) __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[threads - 1 - t];  // planted: uninitialised read
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  reverse<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace barrier_without_a_wait_for_the_copy

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"no_barrier_after_a_store", no_barrier_after_a_store::run<true>,
        no_barrier_after_a_store::run<false>},
       {"no_barrier_before_the_next_store", no_barrier_before_the_next_store::run<true>,
        no_barrier_before_the_next_store::run<false>},
       {"no_barrier_in_a_reduction", no_barrier_in_a_reduction::run<true>,
        no_barrier_in_a_reduction::run<false>},
       {"no_barrier_in_a_scan", no_barrier_in_a_scan::run<true>, no_barrier_in_a_scan::run<false>},
       {"two_threads_for_one_element", two_threads_for_one_element::run<true>,
        two_threads_for_one_element::run<false>},
       {"weights_loaded_by_every_row", weights_loaded_by_every_row::run<true>,
        weights_loaded_by_every_row::run<false>},
       {"same_half_of_a_double_buffer", same_half_of_a_double_buffer::run<true>,
        same_half_of_a_double_buffer::run<false>},
       {"trust_in_lockstep", trust_in_lockstep::run<true>, trust_in_lockstep::run<false>},
       {"warp_barrier_for_a_block", warp_barrier_for_a_block::run<true>,
        warp_barrier_for_a_block::run<false>},
       {"group_too_small", group_too_small::run<true>, group_too_small::run<false>},
       {"late_halo", late_halo::run<true>, late_halo::run<false>},
       {"broadcast_without_a_barrier", broadcast_without_a_barrier::run<true>,
        broadcast_without_a_barrier::run<false>},
       {"helper_called_twice", helper_called_twice::run<true>, helper_called_twice::run<false>},
       {"result_read_beside_atomics", result_read_beside_atomics::run<true>,
        result_read_beside_atomics::run<false>},
       {"zeroed_too_late", zeroed_too_late::run<true>, zeroed_too_late::run<false>},
       {"arrival_before_the_warp_has_read", arrival_before_the_warp_has_read::run<true>,
        arrival_before_the_warp_has_read::run<false>},
       {"between_arrival_and_wait", between_arrival_and_wait::run<true>,
        between_arrival_and_wait::run<false>},
       {"read_before_the_wait", read_before_the_wait::run<true>, read_before_the_wait::run<false>},
       {"refill_before_the_buffer_is_empty", refill_before_the_buffer_is_empty::run<true>,
        refill_before_the_buffer_is_empty::run<false>},
       {"use_before_the_buffer_is_full", use_before_the_buffer_is_full::run<true>,
        use_before_the_buffer_is_full::run<false>},
       {"barrier_behind_an_asynchronous_copy", barrier_behind_an_asynchronous_copy::run<true>,
        barrier_behind_an_asynchronous_copy::run<false>},
       {"barrier_without_a_wait_for_the_copy", barrier_without_a_wait_for_the_copy::run<true>,
        barrier_without_a_wait_for_the_copy::run<false>}});
}
