/// \file
/// A baseline for comparison with published rates, most of which count accelerations without jerks:
/// 20 operations and 13 instructions per pair. It times as many evaluations of accelerations as the
/// steps need. The kernels of stage 06 then compute the solution, which is not timed.

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

// [accelerate]
/// Position and mass of a body.
template <typename T>
struct alignas(16) Position {
  Vector<T> x;
  T mass;
};

template <typename T>
__device__ Position<T> position_or_none(View<const Body<T>, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? Position<T>{bodies(i).x, bodies(i).mass} : Position<T>{};
}

/// Computes the accelerations of all bodies, with one partial sum for each row of the grid. The
/// source bodies are distributed over these rows, so that there are many short blocks and the last
/// wave costs little.
template <typename T>
__global__ void __launch_bounds__(threads)
    accelerate(View<const Body<T>, 1> bodies, T softening2, View<Vector<T>, 2> accelerations) {
  __shared__ Position<T> tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  Vector<T> body[held], sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = position_or_none(bodies, i + h * threads).x;
  for (unsigned first = blockIdx.y * threads; first < n; first += gridDim.y * threads) {
    tile[threadIdx.x] = position_or_none(bodies, first + threadIdx.x);
    __syncthreads();
#pragma unroll 8
    for (unsigned j = 0; j < threads; ++j) {
      const Position<T> other = tile[j];
#pragma unroll
      for (unsigned h = 0; h < held; ++h) {
        const Vector<T> x = other.x - body[h];
        const T inverse = inverse_root(dot(x, x, softening2));
        sum[h] = sum[h] + other.mass * inverse * (inverse * inverse) * x;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    if (i + h * threads < n) accelerations(blockIdx.y, i + h * threads) = sum[h];
}

/// Adds up the partial sums of each acceleration into the first row.
template <typename T>
__global__ void add_up(View<Vector<T>, 2> accelerations) {
  const unsigned i = column();
  if (i < accelerations.extent(1))
    for (unsigned p = 1; p < accelerations.extent(0); ++p)
      accelerations(0, i) = accelerations(0, i) + accelerations(p, i);
}

/// Returns a grid with about 64 blocks per SM, or fewer if there are not enough tiles.
dim3 grid_of(std::size_t bodies) {
  const unsigned blocks = staircase::ceil_div(bodies, of_block);
  const unsigned wanted = staircase::ceil_div(64 * staircase::processors(), blocks);
  return {blocks, std::min(wanted, staircase::ceil_div(bodies, threads))};
}
// [accelerate]

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
    evaluate(View<const Body<T>, 1> bodies, T softening2, View<Force<T>, 1> forces) {
  __shared__ Body<T> tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  Body<T> body[held];
  Force<T> sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = body_or_none(bodies, i + h * threads);
  for (unsigned first = 0; first < n; first += threads) {
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
    if (i + h * threads < n) forces(i + h * threads) = sum[h];
}
// [evaluate]

// [predict]
/// Predicts positions and velocities at the end of a step, as if the jerk were constant.
template <typename T>
__global__ void predict(View<const Body<T>, 1> bodies, View<const Force<T>, 1> forces, T dt,
                        View<Body<T>, 1> predicted) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    const auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    predicted(i) = {x + dt * (v + dt / 2 * (a + dt / 3 * j)), mass, v + dt * (a + dt / 2 * j), 0};
  }
}
// [predict]

// [correct]
/// Corrects positions and velocities from the forces at both ends of the step.
template <typename T>
__global__ void correct(View<const Force<T>, 1> forces, View<const Force<T>, 1> next, T dt,
                        View<Body<T>, 1> bodies) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    const auto& [a1, j1] = next(i);
    x = x + dt * (v + dt / 20 * (T{7} * a + T{3} * a1 + dt / 3 * (T{3} * j - T{2} * j1)));
    v = v + dt / 2 * (a + a1 + dt / 6 * (j - j1));
  }
}
// [correct]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<Body<T>, 1> bodies(problem.bodies), predicted(problem.bodies);
  DeviceArray<Force<T>, 1> at_begin(problem.bodies), at_end(problem.bodies);
  const dim3 grid = grid_of(problem.bodies);
  DeviceArray<Vector<T>, 2> accelerations(grid.y, problem.bodies);
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  bodies.copy_from(host.data());
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  const unsigned blocks = staircase::ceil_div(problem.bodies, threads);
  const unsigned blocks_of_pairs = staircase::ceil_div(problem.bodies, of_block);
  View<Force<T>, 1> forces = at_begin, next = at_end;
  for (std::int64_t evaluation = 0; evaluation <= problem.steps; ++evaluation) {
    accelerate<T><<<grid, threads>>>(bodies, softening2, accelerations);
    check_launch();
    add_up<T><<<blocks, threads>>>(accelerations);
    check_launch();
  }
  check(cudaDeviceSynchronize());
  timeline.begin("solve");
  evaluate<T><<<blocks_of_pairs, threads>>>(bodies, softening2, forces);
  check_launch();
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T><<<blocks, threads>>>(bodies, forces, dt, predicted);
    check_launch();
    evaluate<T><<<blocks_of_pairs, threads>>>(predicted, softening2, next);
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
                              .title = "Acceleration",
                              .idea = "Compute accelerations only, 20 flops per pair",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
