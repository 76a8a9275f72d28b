/// \file
/// Changed: the leading warp computes the next two coefficients from the next two pairs with one
///          reciprocal, and carries its pairs through both steps without an exchange in between.
/// Legal:   the second coefficient is a quotient of polynomials in the four leading values. The
///          left neighbour's pair after the first step follows from the neighbour's last two pairs.
/// Expect:  a step has a dependency chain of 84 cycles instead of 160.
/// Run:     ./climb durbin_levinson --stages 13,14
/// Next:    15_persistent_blocks replaces the launches by flags.

#include "../ends.hpp"

#include <cstdint>
#include <staircase/reciprocal.hpp>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

static_assert(led == 2);

// [lead]
/// Computes the coefficients of the next two steps from the leading pair and the pair after it.
template <typename T>
__device__ void two_alphas(const T (&y)[2], const T (&z)[2], T (&alpha)[2]) {
  const T square = (z[0] - y[0]) * (z[0] + y[0]);  // z[0] times the z that leads the second step
  const T reciprocal = staircase::reciprocal(z[0] * square);
  alpha[0] = quotient(-y[0], z[0], square * reciprocal);
  alpha[1] = quotient(y[0] * z[1] - y[1] * z[0], square, z[0] * reciprocal);
}

/// Computes the reflection coefficients of the steps from k on, in one warp. The pairs at positions
/// k, k + 1, ... go through the steps, each until it is the leading pair. Every lane computes two
/// coefficients from its pairs, and the warp uses the coefficients of the lane with the leading
/// pairs.
template <typename T>
__device__ void lead(View<const Pair<T>, 1> row, unsigned k, T* alphas) {
  const unsigned lane = threadIdx.x % warp_size;
  T y[led], z[led], own[led] = {};
  load(row, k + lane * led, y, z);
  for (unsigned leader = 0; leader < warp_size; ++leader) {
    T left_y[led], left_z[led], alpha[led];
    for (unsigned m = 0; m < led; ++m) {
      left_y[m] = __shfl_up_sync(all_lanes, y[m], 1);
      left_z[m] = __shfl_up_sync(all_lanes, z[m], 1);
    }
    two_alphas(y, z, alpha);
    for (unsigned m = 0; m < led; ++m) alpha[m] = __shfl_sync(all_lanes, alpha[m], leader);
    for (unsigned m = 0; m < led; ++m) {
      own[m] = lane == leader ? alpha[m] : own[m];
      step(alpha[m], left_y[1], left_z[1], y, z);
      left_y[1] += alpha[m] * left_z[1];
      left_z[1] = left_z[0] + alpha[m] * left_y[0];
    }
  }
  const Pair<T> both = {own[0], own[1]};
  reinterpret_cast<Pair<T>&>(alphas[lane * led]) = both;
}
// [lead]

// [advance]
/// Executes the steps from k on (64, or fewer at the end) for all pairs. Each warp has 128
/// neighbouring pairs. In each step, one more pair on the left becomes invalid, because it lacks a
/// left neighbour. After 64 steps, the warp stores only the 64 valid pairs.
template <typename T>
__global__ void __launch_bounds__(warp_size* most_warps)
    advance(unsigned k, View<const Pair<T>, 1> from, View<Pair<T>, 1> to, View<T, 1> reflection) {
  __shared__ alignas(sizeof(Pair<T>)) T alphas[steps_of_launch];
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
                                        .title = "Paired steps",
                                        .idea = "Compute two coefficients with one division",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
