/// \file
/// Changed: a warp copies the rows of r of its 32 systems to shared memory and transposes them. The
///          recursion is unrolled for orders up to 64, so each element of y has a register. Two
///          orders are computed in one pass, so each element of r that is loaded is used three
///          times.
/// Legal:   the sum for alpha_(k+2) is regrouped into two sums over y of order k.
/// Expect:  each element is transferred once; arithmetic and shared memory take equally long.
/// Run:     ./climb durbin_levinson_batched --stages 02,03
/// Next:    04_system_per_block gives a system of higher order a block of threads.

#include "../divide.hpp"
#include "../tiles.hpp"

namespace durbin_levinson_batched {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned order = 64;  // the highest order for which a thread has registers
// [sizes]

// [extend]
/// Extends the solution of order k, y_1 ... y_k in y[0] ... y[k - 1], to order k + 1.
template <typename T>
__device__ void extend(T (&y)[order], unsigned k, T alpha) {
#pragma unroll
  for (unsigned i = 0; i < order / 2; ++i) {
    if (2 * i >= k) break;
    const T low = y[i], high = y[k - 1 - i];
    y[i] = low + alpha * high;
    y[k - 1 - i] = high + alpha * low;
  }
  y[k] = alpha;
}
// [extend]

// [sums]
/// Sums over the solution of order k, for two reflection coefficients. The numerators of
/// alpha_(k+1) and alpha_(k+2) are -first and -(second + alpha_(k+1) * mirrored). Each element of r
/// is loaded once for all three sums.
template <typename T>
struct Sums {
  T first, second, mirrored;
};

template <typename T>
__device__ Sums<T> sums_of(const T (&y)[order], unsigned k, const Row<T>* tile) {
  const unsigned s = threadIdx.x;
  Sums<T> sums{tile[k][s], tile[k + 1][s], tile[0][s]};
#pragma unroll
  for (unsigned m = 0; m < order; ++m) {
    if (m > k) break;
    const T r = tile[m][s];
    if (m < k) sums.first += r * y[k - 1 - m];
    if (m > 0) sums.second += r * y[k - m];
    if (m > 0) sums.mirrored += r * y[m - 1];
  }
  return sums;
}
// [sums]

// [solve_in_registers]
/// Solves one system of order up to 64 per thread by Durbin's recursion, two orders at a time. A
/// block has blockDim.y warps, which exchange no data. The barrier keeps the warps at the same
/// position of the long unrolled program, so that instructions fetched by one warp are still cached
/// for the other warps.
template <typename T>
__global__ void __launch_bounds__(team<T>* warp, resident)
    solve_in_registers(View<const T, 2> r, View<T, 3> solution) {
  extern __shared__ double memory[];
  const unsigned n = solution.extent(2), s = threadIdx.x;
  const unsigned s0 = (blockIdx.x * blockDim.y + threadIdx.y) * warp;
  Row<T>* tile = reinterpret_cast<Row<T>*>(memory) + threadIdx.y * rows_for(n);
  Row<T>* alphas = tile + filled(n);
  fetch(r, s0, tile);

  T y[order], beta = 1;
#pragma unroll
  for (unsigned k = 0; k < order; k += 2) {
    __syncthreads();
    const Sums<T> sums = sums_of(y, k, tile);
    T alpha = k < n ? divide(-sums.first, beta) : 0;
    extend(y, k, alpha);
    alphas[k % kept][s] = alpha;
    beta *= 1 - alpha * alpha;
    alpha = k + 1 < n ? divide(-sums.second - alpha * sums.mirrored, beta) : 0;
    extend(y, k + 1, alpha);
    alphas[(k + 1) % kept][s] = alpha;
    beta *= 1 - alpha * alpha;
    if ((k + 2) % kept > 0) continue;
    write_kept(alphas, k + 2 - kept, s0, solution);
    if (k + 2 >= n) break;
  }
  write_all(y, tile, s0, solution);
}
// [solve_in_registers]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<T, 2> r(problem.systems, problem.n + 1);
  DeviceArray<T, 3> y_and_alpha(problem.systems, 2, problem.n);
  Solution<T> solution(problem.systems, 2, problem.n);
  const staircase::Elements<T> numbers = rounded<T>(problem);

  timeline.begin("copy in");
  r.copy_from(numbers.data());

  timeline.begin("kernels");
  const Teams teams = teams_for<T>(solve_in_registers<T>, problem.systems, problem.n);
  solve_in_registers<T><<<teams.blocks, dim3(warp, teams.warps), teams.bytes>>>(r, y_and_alpha);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  y_and_alpha.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(argc, argv,
                                            {
                                                .title = "Register-resident",
                                                .idea = "Keep y in registers, r in shared memory",
                                                .solve_f64 = durbin_levinson_batched::solve<double>,
                                                .solve_f32 = durbin_levinson_batched::solve<float>,
                                            });
}
