/// \file
/// Changed: each thread of a block loads one source body into a tile in shared memory, and then all
///          threads read the whole tile from there.
/// Legal:   each sum keeps its order. Barriers separate writing a tile from reading it, and reading
///          it from writing the next tile. Zero-mass padding fills the last tile.
/// Expect:  there are far fewer loads from global memory than in stage 04, but this saves little
///          time: the L1 cache served these loads, and arithmetic takes most of the time.
/// Run:     ./climb nbody --stages 04,05
/// Next:    06_register_tiled keeps several bodies in the registers of each thread.

#include "../nbody.hpp"

#include <cmath>
#include <utility>

namespace nbody {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::Elements;
using staircase::View;

constexpr unsigned threads = 128;  // per block

// [pull]
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
__device__ Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = 1 / std::sqrt(dot(x, x, softening2));
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
__global__ void evaluate(View<const Body<T>, 1> bodies, T softening2, View<Force<T>, 1> forces) {
  __shared__ Body<T> tile[threads];
  const unsigned i = column(), n = bodies.extent(0);
  const Body<T> body = body_or_none(bodies, i);
  Force<T> sum{};
  for (unsigned first = 0; first < n; first += threads) {
    tile[threadIdx.x] = body_or_none(bodies, first + threadIdx.x);
    __syncthreads();
    for (unsigned j = 0; j < threads; ++j) {
      const auto [a, jerk] = pull(body, tile[j], softening2);
      sum = {sum.a + a, sum.j + jerk};
    }
    __syncthreads();
  }
  if (i < n) forces(i) = sum;
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
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  bodies.copy_from(host.data());
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  const unsigned blocks = staircase::ceil_div(problem.bodies, threads);
  View<Force<T>, 1> forces = at_begin, next = at_end;
  evaluate<T><<<blocks, threads>>>(bodies, softening2, forces);
  check_launch();
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T><<<blocks, threads>>>(bodies, forces, dt, predicted);
    check_launch();
    evaluate<T><<<blocks, threads>>>(predicted, softening2, next);
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
                              .title = "Tiled",
                              .idea = "Share tiles of source bodies in shared memory",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
