/// \file
/// A detour: a kernel as a compiler may generate it from the loops. Such a compiler maps loops to
/// threads and keeps every array in memory. The sums are elements of an array, so each term is
/// added in global memory. Each launch adds the terms of 32 source bodies, and a grid of 32 blocks
/// of 32 threads strides over the bodies. README.md of the workload quantifies the cost.

#include "../nbody.hpp"

#include <utility>

namespace nbody {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::Elements;
using staircase::View;

constexpr unsigned threads = 128;  // per block

// [pull]
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
__device__ Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = 1 / sqrt(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T jerk_factor = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + jerk_factor * x)};
}
// [pull]

// [evaluate]
constexpr unsigned tile = 32;  // blocks, threads per block, and source bodies per launch

/// Sets all sums to zero.
template <typename T>
__global__ void clear(View<Force<T>, 1> forces) {
  for (unsigned i = column(); i < forces.extent(0); i += columns()) forces(i) = {};
}

/// Adds the terms of 32 source bodies, beginning at index `first`, to the force on every body.
template <typename T>
__global__ void add(View<const Body<T>, 1> bodies, unsigned first, T softening2,
                    View<Force<T>, 1> forces) {
  const unsigned n = bodies.extent(0);
  for (unsigned i = column(); i < n; i += columns())
    for (unsigned j = first; j < first + tile && j < n; ++j) {
      const auto [a, jerk] = pull(bodies(i), bodies(j), softening2);
      forces(i) = {forces(i).a + a, forces(i).j + jerk};
    }
}

/// Computes the force on every body as a sum over all source bodies.
template <typename T>
void evaluate(View<const Body<T>, 1> bodies, T softening2, View<Force<T>, 1> forces) {
  clear<T><<<tile, tile>>>(forces);
  check_launch();
  for (unsigned first = 0; first < bodies.extent(0); first += tile) {
    add<T><<<tile, tile>>>(bodies, first, softening2, forces);
    check_launch();
  }
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
  evaluate<T>(bodies, softening2, forces);
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T><<<blocks, threads>>>(bodies, forces, dt, predicted);
    check_launch();
    evaluate<T>(predicted, softening2, next);
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
                              .title = "Generated",
                              .idea = "Add each term in memory, as generated code may",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
