/// \file
/// Changed: the grid has a second dimension, over which the tiles of source bodies are distributed;
///          each row of the grid stores partial sums, and predictor and corrector add these up.
/// Legal:   a sum may be split into partial sums; each partial sum has one writer, and a kernel
///          ends before the next one begins.
/// Expect:  this stage is as fast as stage 06 if that stage has several blocks for each SM.
///          Otherwise, it is faster, because SMs that stage 06 leaves idle have work.
/// From:    06_register_tiled
/// Run:     ./climb nbody --stages 06,10
/// Next:    11_short_last_wave also splits the sums of large clusters, for a shorter last wave.

#include "../nbody.hpp"

#include <algorithm>
#include <staircase/inverse_root.hpp>
#include <utility>

namespace nbody {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::Elements;
using staircase::View;

// [sizes]
constexpr unsigned threads = 128;              // per block
constexpr unsigned held = 4;                   // bodies per thread
constexpr unsigned of_block = threads * held;  // bodies per block
// [sizes]

// [inverse root]
/// Returns 1 / √x, computed by the special function unit. In f32, the error of about 2 roundings is
/// accepted. In f64, the relative error is up to 2⁻²⁰, and a third-order step reduces it to less
/// than one rounding.
template <typename T>
__device__ T inverse_root(T x) {
  const T y = staircase::rough_inverse_root(x);
  if constexpr (sizeof(T) == sizeof(float)) return y;
  const T e = 1 - x * y * y;
  return y + y * e * (T{0.5} + T{0.375} * e);
}
// [inverse root]

// [pull]
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
__device__ Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T jerk_factor = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + jerk_factor * x)};
}
// [pull]

// [load]
/// Returns body i, or zero-mass padding if i is beyond the last body.
template <typename T>
__device__ Body<T> body_or_none(View<const Body<T>, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? bodies(i) : Body<T>{};
}
// [load]

// [evaluate]
/// Computes the force on every body as a sum over all source bodies.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Body<T>, 1> bodies, T softening2, View<Force<T>, 2> partials) {
  __shared__ Body<T> tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  Body<T> body[held];
  Force<T> sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = body_or_none(bodies, i + h * threads);
  for (unsigned first = blockIdx.y * threads; first < n; first += gridDim.y * threads) {
    tile[threadIdx.x] = body_or_none(bodies, first + threadIdx.x);
    __syncthreads();
#pragma unroll 4
    for (unsigned j = 0; j < threads; ++j) {
      const Body<T> other = tile[j];
#pragma unroll
      for (unsigned h = 0; h < held; ++h) {
        const auto [a, jerk] = pull(body[h], other, softening2);
        sum[h] = {sum[h].a + a, sum[h].j + jerk};
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    if (i + h * threads < n) partials(blockIdx.y, i + h * threads) = sum[h];
}
// [evaluate]

// [add up]
/// Returns the force on body i, added up from the partial sums in all rows.
template <typename T>
__device__ Force<T> add_up(View<const Force<T>, 2> partials, unsigned i) {
  Force<T> sum{};
  for (unsigned p = 0; p < partials.extent(0); ++p)
    sum = {sum.a + partials(p, i).a, sum.j + partials(p, i).j};
  return sum;
}
// [add up]

// [predict]
/// Predicts positions and velocities at the end of a step, as if the jerk were constant.
template <typename T>
__global__ void predict(View<const Body<T>, 1> bodies, View<const Force<T>, 2> forces, T dt,
                        View<Body<T>, 1> predicted) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    const auto& [x, mass, v, unused] = bodies(i);
    const auto [a, j] = add_up(forces, i);
    predicted(i) = {x + dt * (v + dt / 2 * (a + dt / 3 * j)), mass, v + dt * (a + dt / 2 * j), 0};
  }
}
// [predict]

// [correct]
/// Corrects positions and velocities from the forces at both ends of the step.
template <typename T>
__global__ void correct(View<const Force<T>, 2> forces, View<const Force<T>, 2> next, T dt,
                        View<Body<T>, 1> bodies) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    auto& [x, mass, v, unused] = bodies(i);
    const auto [a, j] = add_up(forces, i);
    const auto [a1, j1] = add_up(next, i);
    x = x + dt * (v + dt / 20 * (T{7} * a + T{3} * a1 + dt / 3 * (T{3} * j - T{2} * j1)));
    v = v + dt / 2 * (a + a1 + dt / 6 * (j - j1));
  }
}
// [correct]

// [grid]
/// Returns a grid with about eight blocks per SM, or fewer if there are not enough tiles.
dim3 grid_of(std::size_t bodies) {
  const unsigned blocks = staircase::ceil_div(bodies, of_block);
  const unsigned wanted = staircase::ceil_div(8 * staircase::processors(), blocks);
  return {blocks, std::min(wanted, staircase::ceil_div(bodies, threads))};
}
// [grid]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const dim3 grid = grid_of(problem.bodies);
  DeviceArray<Body<T>, 1> bodies(problem.bodies), predicted(problem.bodies);
  DeviceArray<Force<T>, 2> at_begin(grid.y, problem.bodies), at_end(grid.y, problem.bodies);
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  bodies.copy_from(host.data());
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  const unsigned blocks = staircase::ceil_div(problem.bodies, threads);
  View<Force<T>, 2> forces = at_begin, next = at_end;
  evaluate<T><<<grid, threads>>>(bodies, softening2, forces);
  check_launch();
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T><<<blocks, threads>>>(bodies, forces, dt, predicted);
    check_launch();
    evaluate<T><<<grid, threads>>>(predicted, softening2, next);
    check_launch();
    correct<T><<<blocks, threads>>>(forces, next, dt, bodies);
    check_launch();
    std::swap(forces, next);
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  bodies.copy_to(host.data());
  return solution_of<T>(host);
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "Split reductions",
                              .idea = "Split each sum over several blocks",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
