/// \file
/// Changed: the reflection coefficients of the next 64 steps depend only on the next 64 pairs. One
///          warp per block computes these coefficients without a barrier. Then each warp carries
///          128 pairs through the 64 steps in registers, without an exchange. One launch does both.
///          The row of pairs is in global memory again, so the grid can use all SMs.
/// Legal:   in a step, a pair depends on itself and its left neighbour. A warp that reads 64 more
///          pairs on the left (a ghost zone) can do 64 steps without an exchange and then discards
///          these pairs.
/// Expect:  the dependency chain of a step within a warp is the limit. A step takes about an eighth
///          of the time of a step with a barrier.
/// Run:     ./climb durbin_levinson --stages 12,13
/// Next:    14_paired_steps computes two coefficients with one division.

#include "../ends.hpp"

#include <cstdint>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [lead]
/// Computes the reflection coefficients of the steps from k on, in one warp. The pairs at
/// positions k, k + 1, ... go through the steps, each until it is the leading pair.
template <typename T>
__device__ void lead(View<const Pair<T>, 1> row, unsigned k, T* alphas) {
  const unsigned lane = threadIdx.x % warp_size;
  T y[led], z[led];
  load(row, k + lane * led, y, z);
  T beta = __shfl_sync(all_lanes, z[0], 0), reciprocal = 1 / beta;
  for (unsigned leader = 0; leader < warp_size; ++leader)
    for (unsigned m = 0; m < led; ++m) {
      const T alpha = quotient(__shfl_sync(all_lanes, -y[m], leader), beta, reciprocal);
      if (lane == 0) alphas[leader * led + m] = alpha;
      step(alpha, y, z);
      beta *= 1 - alpha * alpha;
      reciprocal = 1 / beta;
    }
}
// [lead]

// [advance]
/// Executes the steps from k on (64, or fewer at the end) for all pairs. Each warp has 128
/// neighbouring pairs. In each step, one more pair on the left becomes invalid, because it lacks a
/// left neighbour. After 64 steps, the warp stores only the 64 valid pairs.
template <typename T>
__global__ void __launch_bounds__(warp_size* most_warps)
    advance(unsigned k, View<const Pair<T>, 1> from, View<Pair<T>, 1> to, View<T, 1> reflection) {
  __shared__ T alphas[steps_of_launch];
  const std::int64_t n = from.extent(0);
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const std::int64_t first = std::int64_t{warp} * kept - steps_of_launch + lane * held;
  T y[held], z[held];
  load(from, first, y, z);
  if (threadIdx.x < warp_size) lead(from, k, alphas);
  __syncthreads();

  const unsigned left = n - k, steps = min(steps_of_launch, left);
  for (unsigned s = 0; s < steps; ++s) {
    step(alphas[s], y, z);
    // Position k + s passes from Schur's sequence to y, which gets a new element there.
    const unsigned at = k + s - first;
    for (unsigned m = 0; m < held; ++m) y[m] = at == m ? alphas[s] : y[m];
  }
  for (unsigned m = 0; m < held; ++m)
    if (lane * held >= steps_of_launch && first + m < n) to(first + m) = {y[m], z[m]};
  if (blockIdx.x == 0)
    for (unsigned s = threadIdx.x; s < steps; s += blockDim.x) reflection(k + s) = alphas[s];
}
// [advance]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const unsigned n = problem.n;

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<Pair<T>, 2> device_rows(2, n);
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());

  timeline.begin("kernels");
  const View<const T, 1> r = device_r;
  const View<Pair<T>, 2> rows = device_rows;
  const View<T, 2> result = device_solution;
  begin_with(r, rows.row(0));
  const auto [blocks, threads] = blocks_for(n);
  unsigned launches = 0;
  for (unsigned k = 0; k < n; k += steps_of_launch, ++launches) {
    advance<T><<<blocks, threads>>>(k, rows.row(launches % 2), rows.row((launches + 1) % 2),
                                    result.row(1));
    check_launch();
  }
  end_with(rows.row(launches % 2), result.row(0));
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_solution.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Blocked Schur",
                                        .idea = "Block 64 Schur steps between two barriers",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
