/// \file
/// Changed: the reflection coefficients of the next 64 steps depend on the next 64 pairs alone. A
///          warp finds them by itself, without a barrier; then the other pairs go through the 64
///          steps in registers, each warp by itself, too. A launch does both. Rows are in memory
///          again; all multiprocessors take part.
/// Legal:   in a step a pair needs itself and its left neighbour. Who reads 64 more pairs on the
///          left can do 64 steps without asking; what becomes of those is thrown away.
/// Expect:  bound by the chain of a step within a warp, an eighth of a step with a barrier.
/// Run:     ./climb durbin_levinson --stages 09,10
/// Next:    11_paired_steps takes two coefficients from one division.

#include "../ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned steps_of_launch = 64;
constexpr unsigned held = 4;                 // pairs of a thread in registers
constexpr unsigned span = warp_size * held;  // pairs of a warp, of which it throws away the first
constexpr unsigned kept = span - steps_of_launch;
constexpr unsigned led = steps_of_launch / warp_size;  // leading pairs of a thread
constexpr unsigned most_warps = 16;                    // of a block
static_assert(steps_of_launch % held == 0);
// [sizes]

// [pairs]
/// A step for the pairs of a thread.
template <typename T, unsigned count>
__device__ void step(T alpha, T (&y)[count], T (&z)[count]) {
  const T left_y = __shfl_up_sync(all_lanes, y[count - 1], 1);
  const T left_z = __shfl_up_sync(all_lanes, z[count - 1], 1);
  for (unsigned m = count; m-- > 0;) {
    y[m] += alpha * z[m];
    z[m] = (m > 0 ? z[m - 1] : left_z) + alpha * (m > 0 ? y[m - 1] : left_y);
  }
}
// [pairs]

// [lead]
/// Finds the reflection coefficients of the steps from k on; a warp calls it. The pairs at
/// positions k, k + 1, ... go through the steps, each until it is the leading one.
template <typename T>
__device__ void lead(View<const Pair<T>, 1> row, unsigned k, T* alphas) {
  const unsigned lane = threadIdx.x % warp_size;
  T y[led], z[led];
  for (unsigned m = 0; m < led; ++m) {
    const Pair<T> pair = pair_at(row, k + lane * led + m);
    y[m] = pair.y;
    z[m] = pair.z;
  }
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
/// Takes all pairs through the steps from k on, 64 or those that are left. Each warp has 128
/// neighbours; with each step, one more on the left lacks what it needs. So it keeps the other 64.
template <typename T>
__global__ void __launch_bounds__(warp_size* most_warps)
    advance(unsigned k, View<const Pair<T>, 1> from, View<Pair<T>, 1> to, View<T, 1> reflection) {
  __shared__ T alphas[steps_of_launch];
  const std::int64_t n = from.extent(0);
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const std::int64_t first = std::int64_t{warp} * kept - steps_of_launch + lane * held;
  T y[held], z[held];
  for (unsigned m = 0; m < held; ++m) {
    const Pair<T> pair = pair_at(from, first + m);
    y[m] = pair.y;
    z[m] = pair.z;
  }
  if (threadIdx.x < warp_size) lead(from, k, alphas);
  __syncthreads();

  const unsigned left = n - k, steps = min(steps_of_launch, left);
  for (unsigned s = 0; s < steps; ++s) {
    step(alphas[s], y, z);
    // Schur's sequence ends at position k + s, where y has a new number.
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
  constexpr unsigned threads = 256;
  begin<<<(n + threads - 1) / threads, threads>>>(r, rows.row(0));
  check_launch();

  // As few warps a block as keep all multiprocessors at work.
  const unsigned warps = (n + kept - 1) / kept, processors = staircase::processors();
  const unsigned of_block = std::min((warps + processors - 1) / processors, most_warps);
  const unsigned blocks = (warps + of_block - 1) / of_block;
  unsigned launches = 0;
  for (unsigned k = 0; k < n; k += steps_of_launch, ++launches) {
    advance<T><<<blocks, of_block * warp_size>>>(k, rows.row(launches % 2),
                                                 rows.row((launches + 1) % 2), result.row(1));
    check_launch();
  }
  end<T><<<(n + threads - 1) / threads, threads>>>(rows.row(launches % 2), result.row(0));
  check_launch();
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
                                        .idea = "64 steps between two barriers",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
