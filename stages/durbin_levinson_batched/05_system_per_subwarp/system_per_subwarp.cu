/// \file
/// Changed: a sub-warp, a group of 1 to 32 lanes, solves each system. The Schur algorithm needs no
///          sums: it updates a row of pairs (v, u) in the registers of these lanes. Each step
///          computes the next coefficient before it updates most of the pairs.
/// Legal:   the Schur algorithm computes the same coefficients. Each step updates each pair from
///          this pair and the coefficient alone, so the order of the updates does not matter.
/// Expect:  the FP64 pipeline is the limit; a step has no barriers and shuffles two
///          values.
/// Run:     ./climb durbin_levinson_batched --stages 04,05

#include <cuda_pipeline.h>

#include <algorithm>

#include "../durbin_levinson_batched.hpp"

namespace durbin_levinson_batched {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned warp = 32;
constexpr unsigned all_lanes = ~0u;
constexpr unsigned held = 32;     // positions of the row of pairs per lane
constexpr unsigned team = 4;      // warps per block
constexpr unsigned resident = 2;  // blocks per SM for which the compiler limits the registers

/// A row of a tile: the elements at the positions of one lane. With the additional slot, accesses
/// along rows and along columns of a tile use all banks.
template <typename T>
using Row = T[held + 1];

/// Tiles of a warp in shared memory: row t belongs to lane t.
template <typename T>
struct Tiles {
  Row<T> alpha[warp], y[warp];
};
// [sizes]

// [divide]
/// Returns a / b for b > 0. x is a reciprocal with at least 20 correct bits and a relative error e.
/// The quotient is a x / (1 - e), and a x (1 + e + e²) agrees with it in nearly all bits.
__device__ inline double divide(double a, double b) {
  double x = 0;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(x) : "d"(b));
  const double e = fma(-b, x, 1.0), quotient = a * x;
  return fma(quotient, fma(e, e, e), quotient);
}
__device__ inline float divide(float a, float b) { return __fdividef(a, b); }
// [divide]

// [transfers]
/// Rows of a tile that are copied in one iteration. With all rows in one iteration, the compiler
/// would keep the address and the condition of each row in registers, from fetch() to write().
template <unsigned lanes>
constexpr unsigned rows_at_once = lanes > 8 ? lanes : 8;

/// Copies r_1 ... r_n of the systems of the warp to a tile. Row m of the tile belongs to system m /
/// lanes. Elements of missing systems, and of positions beyond n, are set to 0.
template <unsigned lanes, typename T>
__device__ void fetch(View<const T, 2> r, unsigned s0, unsigned systems, Row<T>* tile) {
  constexpr unsigned rows = rows_at_once<lanes>;
  const unsigned t = threadIdx.x, n = r.extent(1) - 1;
  const T* from = &r(s0, 1 + t);
#pragma unroll 1
  for (unsigned m0 = 0; m0 < warp; m0 += rows, from += rows / lanes * (n + 1))
#pragma unroll
    for (unsigned m = 0; m < rows; ++m) {
      const unsigned i = m % lanes * held;
      if ((m0 + m) / lanes < systems && i + t < n)
        __pipeline_memcpy_async(&tile[m0 + m][t], from + m / lanes * (n + 1) + i, sizeof(T));
      else
        tile[m0 + m][t] = 0;
    }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
}

/// Writes both tiles to the solutions of the systems of the warp.
template <unsigned lanes, typename T>
__device__ void write(const Tiles<T>& tiles, unsigned s0, unsigned systems, View<T, 3> solution) {
  constexpr unsigned rows = rows_at_once<lanes>;
  const unsigned t = threadIdx.x, n = solution.extent(2);
  T* to = &solution(s0, 0, t);
  __syncwarp();
#pragma unroll 1
  for (unsigned m0 = 0; m0 < warp; m0 += rows, to += rows / lanes * 2 * n)
#pragma unroll
    for (unsigned m = 0; m < rows; ++m) {
      const unsigned i = m % lanes * held;
      if ((m0 + m) / lanes >= systems || i + t >= n) continue;
      T* at = to + m / lanes * 2 * n + i;
      at[0] = tiles.y[m0 + m][t];
      at[n] = tiles.alpha[m0 + m][t];
    }
}
// [transfers]

// [update]
/// The slot of u at position m of a lane. Elements of u move right by one position per step. Each
/// keeps its slot, and thus its register, until it leaves the lane.
__device__ constexpr unsigned slot(unsigned m, unsigned step) { return (m - step) % held; }

/// Executes a step for one pair: adds alpha times the old value of each element to the other one.
template <typename T>
__device__ void update(T alpha, T& v, T& u) {
  const T before = v;
  v += alpha * u;
  u += alpha * before;
}
// [update]

// [solve_in_subwarps]
/// Solves the systems of a warp, each in a sub-warp of `lanes` lanes, by the Schur algorithm.
template <typename T, unsigned lanes>
__global__ void __launch_bounds__(team* warp, resident)
    solve_in_subwarps(View<const T, 2> r, View<T, 3> solution) {
  extern __shared__ double memory[];
  constexpr unsigned end = held - 1, systems_of_warp = warp / lanes;
  const unsigned n = solution.extent(2), t = threadIdx.x, lane = t % lanes;
  const unsigned s0 = (blockIdx.x * blockDim.y + threadIdx.y) * systems_of_warp;
  const unsigned all = solution.extent(0);
  const unsigned systems = s0 < all ? min(systems_of_warp, all - s0) : 0;
  Tiles<T>& tiles = reinterpret_cast<Tiles<T>*>(memory)[threadIdx.y];
  fetch<lanes>(r, s0, systems, tiles.alpha);

  T v[held], u[held];
#pragma unroll
  for (unsigned m = 0; m < held; ++m) v[m] = tiles.alpha[t][m];
  const T left = __shfl_up_sync(all_lanes, v[end], 1, lanes);
  u[0] = lane > 0 ? left : 1;
#pragma unroll
  for (unsigned m = 1; m < held; ++m) u[m] = v[m - 1];

  T alpha = __shfl_sync(all_lanes, -v[0], 0, lanes);
  for (unsigned leader = 0; leader * held < n; ++leader)
#pragma unroll
    for (unsigned step = 0; step < held; ++step) {
      const unsigned k = leader * held + step, next = (step + 1) % held;
      update(alpha, v[step], u[slot(step, step)]);
      if (step != end) update(alpha, v[end], u[slot(end, step)]);
      const T from_left = __shfl_up_sync(all_lanes, u[slot(end, step)], 1, lanes);
      u[slot(end, step)] = lane > 0 ? from_left : alpha;
      if (next != end) update(alpha, v[next], u[slot(next, step)]);
      const T quotient = divide(-v[next], u[slot(next, step + 1)]);
      const T following = __shfl_sync(all_lanes, k + 1 < n ? quotient : 0,
                                      step == end ? leader + 1 : leader, lanes);
#pragma unroll
      for (unsigned m = 0; m < held; ++m)
        if (m != step && m != next && m != end) update(alpha, v[m], u[slot(m, step)]);

      v[step] = lane == leader ? alpha : v[step];
      if (lane == leader) tiles.alpha[t][step] = alpha;
      alpha = following;
    }

#pragma unroll
  for (unsigned m = 0; m < held; ++m) tiles.y[t][m] = v[m];
  write<lanes>(tiles, s0, systems, solution);
}
// [solve_in_subwarps]

// [launch]
/// Solves all systems, each in the smallest sub-warp that has at least n positions.
template <typename T, unsigned lanes = 1>
void solve_all(unsigned systems, unsigned n, const DeviceArray<T, 2>& r,
               const DeviceArray<T, 3>& solution) {
  if constexpr (lanes < warp)
    if (n > lanes * held) return solve_all<T, 2 * lanes>(systems, n, r, solution);
  const unsigned warps = (systems - 1) / (warp / lanes) + 1;
  const unsigned that_fit = shared_memory() / sizeof(Tiles<T>);
  const unsigned concurrent =
      std::clamp(std::min(warps / staircase::processors(), that_fit), 1u, team);
  const std::size_t bytes = concurrent * sizeof(Tiles<T>);
  staircase::allow_shared_memory(solve_in_subwarps<T, lanes>, bytes);
  solve_in_subwarps<T, lanes>
      <<<(warps - 1) / concurrent + 1, dim3(warp, concurrent), bytes>>>(r, solution);
}
// [launch]

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
  solve_all<T>(problem.systems, problem.n, r, y_and_alpha);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  y_and_alpha.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(
      argc, argv,
      {
          .title = "System per sub-warp",
          .idea = "Keep Schur's row in registers of a sub-warp",
          .solve_f64 = durbin_levinson_batched::solve<double>,
          .solve_f32 = durbin_levinson_batched::solve<float>,
      });
}
