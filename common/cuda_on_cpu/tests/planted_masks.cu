/// \file
/// Seeded bugs: warp operations whose participating lanes differ from the mask.

#include <cuda_runtime.h>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr unsigned all_lanes = ~0u;

namespace ballot_without_its_lane {

/// With the bug, all lanes vote with a mask of only the odd lanes.
template <bool bug>
__global__ void odd_lanes(unsigned* out) {
  const int lane = threadIdx.x;
  const unsigned mask = bug ? all_lanes << 1 : all_lanes;
  out[lane] = __ballot_sync(mask, lane % 2);  // planted: invalid mask
}

template <bool bug>
void run() {
  const Buffer<unsigned> out(32);
  odd_lanes<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace ballot_without_its_lane

namespace ballot_in_a_branch {

/// With the bug, the mask contains lanes that skip the branch and wait at a block barrier.
template <bool bug>
__global__ void count(int* out, int n) {
  const int lane = threadIdx.x;
  unsigned lanes = 0;
  if (!bug || lane < n)
    lanes = __ballot_sync(all_lanes, lane < n);  // planted: deadlock or invalid mask
  __syncthreads();                               // planted: deadlock or divergent barrier
  out[lane] = __popc(lanes);
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  count<bug><<<1, 32>>>(out.get(), 20);
  finish();
}

}  // namespace ballot_in_a_branch

namespace vote_for_those_that_are_done {

/// Lanes leave the loop one by one; with the bug, they stay in the mask of the remaining lanes.
template <bool bug>
__global__ void steps(const int* start, int* out) {
  const int lane = threadIdx.x;
  int value = start[lane] + lane, steps = 0;
  while (__any_sync(all_lanes, value > 1)) {  // planted: deadlock or invalid mask
    if (bug && value <= 1) break;
    if (value <= 1) continue;
    value /= 2;
    ++steps;
  }
  __syncwarp();  // planted: deadlock or invalid mask
  out[lane] = steps;
}

template <bool bug>
void run() {
  const Buffer<int> start(32), out(32);
  steps<bug><<<1, 32>>>(start.get(), out.get());
  finish();
}

}  // namespace vote_for_those_that_are_done

namespace match_with_the_mask_of_another {

/// Each half compares the values of its lanes; with the bug, lanes pass the mask of the other half.
template <bool bug>
__global__ void equals(unsigned* out) {
  const int lane = threadIdx.x;
  const unsigned low = 0xffffu, high = low << 16;
  const unsigned mask = (lane < 16) != bug ? low : high;
  out[lane] = __match_any_sync(mask, lane % 3);  // planted: invalid mask
}

template <bool bug>
void run() {
  const Buffer<unsigned> out(32);
  equals<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace match_with_the_mask_of_another

namespace sum_without_its_lane {

/// With the bug, the mask of the lanes after the first one lacks one lane.
template <bool bug>
__global__ void sums(int* out) {
  const int lane = threadIdx.x;
  if (lane == 0) return;
  const unsigned mask = bug ? all_lanes << 2 : all_lanes << 1;
  out[lane] = __reduce_add_sync(mask, lane);  // planted: invalid mask
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  sums<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace sum_without_its_lane

namespace shift_among_active_lanes {

/// Lanes shuffle in a branch; with the bug, __activemask is expected to contain all these lanes.
template <bool bug>
__global__ void differences(const int* in, int* out, int n) {
  const int lane = threadIdx.x;
  const unsigned voted = __ballot_sync(all_lanes, lane < n);
  if (lane >= n) return;
  const unsigned mask = bug ? __activemask() : voted;
  const int next = __shfl_down_sync(mask, in[lane], 1);  // planted: invalid mask
  out[lane] = lane + 1 < n ? next - in[lane] : 0;
}

template <bool bug>
void run() {
  const Buffer<int> in(32), out(32);
  differences<bug><<<1, 32>>>(in.get(), out.get(), 20);
  finish();
}

}  // namespace shift_among_active_lanes

namespace leader_of_active_lanes {

/// One active lane adds for all active lanes; with the bug, this is lane 0, even if inactive.
template <bool bug>
__global__ void slots(unsigned* counter, unsigned* out) {
  const int lane = threadIdx.x;
  const unsigned mask = __activemask();
  const int leader = bug ? 0 : __ffs(mask) - 1;
  unsigned first = 0;
  if (lane == leader) first = atomicAdd(counter, __popc(mask));
  first = __shfl_sync(mask, first, leader);  // planted: invalid mask
  out[lane] = first + __popc(mask & ((1u << lane) - 1));
}

template <bool bug>
void run() {
  const Buffer<unsigned> counter(1), out(32);
  slots<bug><<<1, 32>>>(counter.get(), out.get());
  finish();
}

}  // namespace leader_of_active_lanes

namespace barrier_of_active_lanes {

/// With the bug, the barrier includes only the active lanes and does not order the other lanes.
template <bool bug>
__global__ void reverse(int* out) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane;  // planted: race
  __syncwarp(bug ? __activemask() : all_lanes);
  out[lane] = tile[31 - lane];  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> out(32);
  reverse<bug><<<1, 32>>>(out.get());
  finish();
}

}  // namespace barrier_of_active_lanes

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(argc, argv,
                   {BOTH(ballot_without_its_lane), BOTH(ballot_in_a_branch),
                    BOTH(vote_for_those_that_are_done), BOTH(match_with_the_mask_of_another),
                    BOTH(sum_without_its_lane), BOTH(shift_among_active_lanes),
                    BOTH(leader_of_active_lanes), BOTH(barrier_of_active_lanes)});
}
