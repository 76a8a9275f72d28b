/// \file
/// Seeded bugs: atomics and fences of insufficient scope, lost updates of volatile variables, and
/// shuffles outside the mask. Concurrent stores of one value to a flag are not reported as races.

#include <cuda_runtime.h>
#include <cuda/atomic>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int threads = 64;

namespace atomic_for_the_block_only {

/// Several blocks add to one counter; with the bug, the additions have block scope.
template <bool bug>
__global__ void count(int* counter) {
  if (bug)
    atomicAdd_block(counter, 1);  // planted: race
  else
    atomicAdd(counter, 1);
}

template <bool bug>
void run() {
  const Buffer<int> counter(1);
  count<bug><<<3, 32>>>(counter.get());
  finish();
}

}  // namespace atomic_for_the_block_only

namespace narrow_and_wide_atomics {

/// A block may use block scope for its own counter, but not for a counter of several blocks.
template <bool bug>
__global__ void count(int* counters) {
  atomicAdd_block(&counters[1 + blockIdx.x], 1);
  if (bug)
    atomicMax_block(&counters[0], static_cast<int>(threadIdx.x));  // planted: race
  else
    atomicMax_system(&counters[0], static_cast<int>(threadIdx.x));
}

template <bool bug>
void run() {
  const Buffer<int> counters(5);
  count<bug><<<4, 32>>>(counters.get());
  finish();
}

}  // namespace narrow_and_wide_atomics

namespace atomic_object_for_the_block_only {

template <bool bug>
__global__ void tickets(int* next, int* out) {
  constexpr auto scope = bug ? cuda::thread_scope_block : cuda::thread_scope_device;
  const cuda::atomic_ref<int, scope> counter(*next);
  const int ticket = counter.fetch_add(1, cuda::memory_order_relaxed);  // planted: race
  out[ticket] = blockIdx.x;
}

template <bool bug>
void run() {
  const Buffer<int> next(1), out(4 * threads);
  tickets<bug><<<4, threads>>>(next.get(), out.get());
  finish();
}

}  // namespace atomic_object_for_the_block_only

namespace fence_for_the_block_only {

/// The last block to finish sums the values of all blocks; with the bug, fences have block scope.
template <bool bug>
__global__ void sum(const int* in, int* sums, unsigned* done, int* out) {
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = in[blockIdx.x];
  if (bug)
    __threadfence_block();
  else
    __threadfence();
  if (atomicAdd(done, 1u) != gridDim.x - 1) return;
  int total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += sums[i];  // planted: race
  *out = total;
}

template <bool bug>
void run() {
  const Buffer<int> in(8), sums(8), out(1);
  const Buffer<unsigned> done(1);
  sum<bug><<<8, 32>>>(in.get(), sums.get(), done.get(), out.get());
  finish();
}

}  // namespace fence_for_the_block_only

namespace release_for_the_block_only {

/// Another block waits for a flag; with the bug, the flag is set with a release of block scope.
template <bool bug>
__global__ void hand_over(int* data, int* flag, int* out) {
  constexpr auto scope = bug ? cuda::thread_scope_block : cuda::thread_scope_device;
  const cuda::atomic_ref<int, cuda::thread_scope_device> wide(*flag);
  const cuda::atomic_ref<int, scope> narrow(*flag);
  if (blockIdx.x == 0) {
    *data = 7;
    narrow.store(1, cuda::memory_order_release);  // planted: race
  } else {
    while (wide.load(cuda::memory_order_acquire) == 0) {  // planted: race
    }
    *out = *data;  // planted: race
  }
}

template <bool bug>
void run() {
  const Buffer<int> data(1), flag(1), out(1);
  hand_over<bug><<<2, 1>>>(data.get(), flag.get(), out.get());
  finish();
}

}  // namespace release_for_the_block_only

namespace volatile_sum {

/// A read and a write of a volatile variable are not one atomic update.
template <bool bug>
__global__ void add(volatile int* sum) {
  if (bug)
    *sum = *sum + threadIdx.x;  // planted: race
  else
    atomicAdd(const_cast<int*>(sum), static_cast<int>(threadIdx.x));
}

template <bool bug>
void run() {
  const Buffer<int> sum(1);
  add<bug><<<2, threads>>>(sum.get());
  finish();
}

}  // namespace volatile_sum

namespace volatile_maximum {

/// With the bug, the kernel compares and stores in two separate steps.
template <bool bug>
__global__ void largest(const int* in, volatile int* out) {
  const int mine = in[threadIdx.x] + threadIdx.x;
  if (bug) {
    if (*out < mine) *out = mine;  // planted: race
  } else {
    atomicMax(const_cast<int*>(out), mine);
  }
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(1);
  largest<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace volatile_maximum

namespace volatile_turns {

/// Blocks run in an order given by a volatile flag, which is permitted. With the bug, two threads
/// of a block run at the same time.
template <bool bug>
__global__ void in_turn(volatile int* turn, int* sum) {
  if (threadIdx.x > bug) return;
  while (*turn != static_cast<int>(blockIdx.x)) {
  }
  __threadfence();
  *sum += blockIdx.x + 1;  // planted: race
  __threadfence();
  *turn = blockIdx.x + 1;
}

template <bool bug>
void run() {
  const Buffer<int> turn(1), sum(1);
  in_turn<bug><<<4, 32>>>(turn.get(), sum.get());
  finish();
}

}  // namespace volatile_turns

namespace volatile_sum_in_step {

/// The last warp adds up the values; with the bug, the kernel assumes that lanes run in lockstep.
template <bool bug>
__global__ void add_up(const int* in, int* out) {
  __shared__ volatile int s[threads];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    for (int distance = 16; distance > 0; distance /= 2) {
      if (!bug) __syncwarp();
      const int other = s[t + distance];  // planted: race
      if (!bug) __syncwarp();
      s[t] += other;
    }
  }
  if (t == 0) *out = s[0];
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(1);
  add_up<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace volatile_sum_in_step

namespace volatile_sum_unrolled {

/// A reduction by the last warp, as in code that was written for GPUs before Volta.
template <bool bug>
__global__ void add_up(const int* in, int* out) {
  __shared__ int shared[threads];
  const int t = threadIdx.x;
  shared[t] = in[t];
  __syncthreads();
  if (t < 32) {
    volatile int* s = shared;
    int sum = in[t];
    s[t] = sum = sum + s[t + 32];  // planted: race
    if (!bug) __syncwarp();
    if (t < 16) s[t] = sum = sum + s[t + 16];  // planted: race
    if (!bug) __syncwarp();
    if (t < 8) s[t] = sum = sum + s[t + 8];  // planted: race
    if (!bug) __syncwarp();
    if (t < 4) s[t] = sum = sum + s[t + 4];  // planted: race
  }
  if (t == 0) *out = shared[0];
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(1);
  add_up<bug><<<1, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace volatile_sum_unrolled

namespace volatile_flags_of_lanes {

/// Lanes wait for each other's flags in every iteration; with the bug, lanes read flags only once.
template <bool bug>
__global__ void take_part(int* out) {
  __shared__ volatile int rounds[32];
  const int t = threadIdx.x, neighbour = (t + 1) % 32;
  int behind = 0;
  rounds[t] = 0;
  __syncwarp();
  for (int round = 1; round < 4; ++round) {
    rounds[t] = round;
    if (bug)
      behind += rounds[neighbour] < round;  // planted: race
    else
      while (rounds[neighbour] < round) {
      }
  }
  out[t] = behind;
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  take_part<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace volatile_flags_of_lanes

namespace volatile_turns_of_lanes {

/// A lock and two sums move from lane to lane; with the bug, lanes do not wait for the lock.
template <bool bug>
__global__ void in_turn(int count, int* out) {
  __shared__ volatile int turn, sums[2];
  const int t = threadIdx.x;
  if (t == 0) turn = 0;
  if (t < 2) sums[t] = 0;
  __syncwarp();
  for (int round = 0; round < 2; ++round) {
    if (!bug)
      for (int mine = turn; mine != 32 * round + t; mine = turn) __nanosleep(20);
    for (int i = 0; i < count; ++i) sums[i] = sums[i] + t;  // planted: race
    turn = turn + 1;
  }
  __syncwarp();
  out[t] = sums[0] + sums[1];
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  in_turn<bug><<<1, 32>>>(2, out.get());
  finish();
}

}  // namespace volatile_turns_of_lanes

namespace flag_set_by_many {

/// All threads may store the same flag, but not their different indices.
template <bool bug>
__global__ void find(const int* in, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] == 0) *found = bug ? i : 1;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> in(2 * threads), found(1);
  find<bug><<<2, threads>>>(in.get(), found.get());
  finish();
}

}  // namespace flag_set_by_many

namespace volatile_flag_set_by_many {

template <bool bug>
__global__ void find(const int* in, volatile int* found) {
  if (*found == 0 && in[threadIdx.x] == 0)
    *found = bug ? *found + 1 + threadIdx.x : 1;  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), found(1);
  find<bug><<<1, threads>>>(in.get(), found.get());
  finish();
}

}  // namespace volatile_flag_set_by_many

namespace shuffle_beyond_the_mask {

/// Sixteen lanes rotate a value; with the bug, the rotation assumes thirty-two lanes.
template <bool bug>
__global__ void sums(const int* in, int* out) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  int sum = in[t];
  for (int delta = 8; delta > 0; delta /= 2)
    sum += __shfl_sync(0xffffu, sum, (t + delta) % (bug ? 32 : 16));  // planted: invalid mask
  out[t] = sum;
}

template <bool bug>
void run() {
  const Buffer<int> in(32), out(16);
  sums<bug><<<1, 32>>>(in.get(), out.get());
  finish();
}

}  // namespace shuffle_beyond_the_mask

namespace butterfly_beyond_the_mask {

/// With the bug, lanes of a butterfly reduction read from lanes outside the mask.
template <bool bug>
__global__ void sums(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, t < n);
  if (t >= n) return;
  int sum = in[t];
  for (int bit = 1; bit < n; bit *= 2)
    sum += __shfl_xor_sync(mask, sum, bit);  // planted: invalid mask
  out[t] = sum;
}

template <bool bug>
void run() {
  const Buffer<int> in(32), out(32);
  sums<bug><<<1, 32>>>(in.get(), out.get(), bug ? 20 : 16);
  finish();
}

}  // namespace butterfly_beyond_the_mask

namespace broadcast_from_outside {

/// With the bug, the lanes read from lane 0, which is not in the mask: the mask begins at lane 8.
template <bool bug>
__global__ void broadcast(int* out) {
  const int t = threadIdx.x;
  if (t < 8) return;
  out[t] = __shfl_sync(0xffffff00u, t, bug ? 0 : 8);  // planted: invalid mask
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  broadcast<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace broadcast_from_outside

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {BOTH(atomic_for_the_block_only), BOTH(narrow_and_wide_atomics),
       BOTH(atomic_object_for_the_block_only), BOTH(fence_for_the_block_only),
       BOTH(release_for_the_block_only), BOTH(volatile_sum), BOTH(volatile_maximum),
       BOTH(volatile_turns), BOTH(volatile_sum_in_step), BOTH(volatile_sum_unrolled),
       BOTH(volatile_flags_of_lanes), BOTH(volatile_turns_of_lanes), BOTH(flag_set_by_many),
       BOTH(volatile_flag_set_by_many), BOTH(shuffle_beyond_the_mask),
       BOTH(butterfly_beyond_the_mask), BOTH(broadcast_from_outside)});
}
