/// \file
/// Changed: each of the three loops over bodies has an OpenMP directive.
/// Legal:   an iteration writes only the entry of its own body, and no iteration of the same loop
///          writes an element that another iteration reads.
/// Expect:  the time of stage 00 is divided by the number of cores.
/// Run:     ./climb nbody --stages 00,01
/// Next:    02_vectorised computes eight or sixteen pairs with one instruction.

#include "../nbody.hpp"

#include <cmath>
#include <utility>

namespace nbody {

using staircase::Elements;
using staircase::View;

// [pull]
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = 1 / std::sqrt(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T jerk_factor = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + jerk_factor * x)};
}
// [pull]

// [evaluate]
/// Computes the force on every body as a sum over all source bodies.
template <typename T>
void evaluate(View<const Body<T>, 1> bodies, T softening2, View<Force<T>, 1> forces) {
#pragma omp parallel for
  for (std::size_t i = 0; i < bodies.extent(0); ++i) {
    const Body<T> body = bodies(i);
    Force<T> sum{};
    for (std::size_t j = 0; j < bodies.extent(0); ++j) {
      const auto [a, jerk] = pull(body, bodies(j), softening2);
      sum = {sum.a + a, sum.j + jerk};
    }
    forces(i) = sum;
  }
}
// [evaluate]

// [predict]
/// Predicts positions and velocities at the end of a step, as if the jerk were constant.
template <typename T>
void predict(View<const Body<T>, 1> bodies, View<const Force<T>, 1> forces, T dt,
             View<Body<T>, 1> predicted) {
#pragma omp parallel for
  for (std::size_t i = 0; i < bodies.extent(0); ++i) {
    const auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    predicted(i) = {x + dt * (v + dt / 2 * (a + dt / 3 * j)), mass, v + dt * (a + dt / 2 * j), 0};
  }
}
// [predict]

// [correct]
/// Corrects positions and velocities from the forces at both ends of the step.
template <typename T>
void correct(View<const Force<T>, 1> forces, View<const Force<T>, 1> next, T dt,
             View<Body<T>, 1> bodies) {
#pragma omp parallel for
  for (std::size_t i = 0; i < bodies.extent(0); ++i) {
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
  Elements<Body<T>> ahead(problem.bodies);
  Elements<Force<T>> at_begin(problem.bodies), at_end(problem.bodies);
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  const View<Body<T>, 1> bodies = all(host), predicted = all(ahead);
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  View<Force<T>, 1> forces = all(at_begin), next = all(at_end);
  evaluate<T>(bodies, softening2, forces);
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T>(bodies, forces, dt, predicted);
    evaluate<T>(predicted, softening2, next);
    correct<T>(forces, next, dt, bodies);
    std::swap(forces, next);
  }
  timeline.begin("copy out");
  return solution_of<T>(host);
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "OpenMP",
                              .idea = "Distribute the bodies over threads",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
