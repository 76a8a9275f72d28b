/// \file
/// Changed: the grid has a second dimension, along which blocks share the tiles of others out; each
///          piece has a row of forces, and who reads a force adds up the pieces.
/// Legal:   a sum may be added up in pieces; each has one writer, and a kernel ends before the
///          next.
/// Expect:  as fast as 06 where that has blocks for all multiprocessors several times, and where
///          it has not, faster by as much as it leaves idle.
/// From:    06_registers
/// Run:     ./climb nbody --stages 06,10
/// Next:    11_full_rounds does the same for the last blocks of a large cluster.

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
constexpr unsigned threads = 128;              // of a block
constexpr unsigned held = 4;                   // bodies of a thread
constexpr unsigned of_block = threads * held;  // bodies
// [sizes]

// [inverse root]
/// 1 / √x. The special function unit is off by 2 roundings of f32, which stay; in f64 by as much as
/// 2⁻²⁰, of which a step of third order leaves less than a rounding.
template <typename T>
__device__ T inverse_root(T x) {
  const T y = staircase::rough_inverse_root(x);
  if constexpr (sizeof(T) == sizeof(float)) return y;
  const T e = 1 - x * y * y;
  return y + y * e * (T{0.5} + T{0.375} * e);
}
// [inverse root]

// [pull]
/// What a body feels of another one.
template <typename T>
__device__ Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T turn = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + turn * x)};
}
// [pull]

// [load]
/// A body, or behind the last one a body without mass.
template <typename T>
__device__ Body<T> body_or_none(View<const Body<T>, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? bodies(i) : Body<T>{};
}
// [load]

// [evaluate]
/// The forces on all bodies of all bodies.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Body<T>, 1> bodies, T softening2, View<Force<T>, 2> pieces) {
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
    if (i + h * threads < n) pieces(blockIdx.y, i + h * threads) = sum[h];
}
// [evaluate]

// [add up]
/// The force on a body, of which each row has a piece.
template <typename T>
__device__ Force<T> add_up(View<const Force<T>, 2> pieces, unsigned i) {
  Force<T> sum{};
  for (unsigned p = 0; p < pieces.extent(0); ++p)
    sum = {sum.a + pieces(p, i).a, sum.j + pieces(p, i).j};
  return sum;
}
// [add up]

// [predict]
/// Where bodies will be, and how fast, if the jerk stays.
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
/// Moves bodies on, by the forces at the beginning and those at the predicted end of the step.
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
/// As many pieces as give each multiprocessor eight blocks, if there are tiles for them.
dim3 grid_of(std::size_t bodies) {
  const unsigned blocks = staircase::pieces(bodies, of_block);
  const unsigned wanted = staircase::pieces(8 * staircase::processors(), blocks);
  return {blocks, std::min(wanted, staircase::pieces(bodies, threads))};
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
  const unsigned blocks = staircase::pieces(problem.bodies, threads);
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
                              .title = "Split sums",
                              .idea = "Blocks share the terms of a sum out",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
