/// \file
/// Changed: the source bodies are copied into a structure of arrays, and the loop over them is
///          vectorised; Newton steps compute 1 / √x from a guess that is based on the bits of x.
/// Legal:   the terms of a sum are independent of each other; each vector lane adds up its own
///          terms, and the sums of the lanes are added up at the end.
/// Expect:  with the widest vectors, an instruction computes eight pairs in f64 and sixteen in f32.
/// Run:     ./climb nbody --stages 01,02
/// Next:    03_sliced keeps the source bodies in a cache.

#include "../nbody.hpp"

#include <bit>
#include <staircase/simd.hpp>
#include <type_traits>
#include <utility>

namespace nbody {

using staircase::Array;
using staircase::Elements;
using staircase::View;

// [inverse root]
/// Returns 1 / √x. The bits of x, as an integer, give a first guess with an error of 3.5 % (Lomont,
/// "Fast Inverse Square Root", 2003). Each Newton step reduces a relative error e to about 1.5 e².
template <typename T>
[[gnu::always_inline]] inline T inverse_root(T x) {
  constexpr bool is_double = sizeof(T) == sizeof(double);
  using Bits = std::conditional_t<is_double, std::int64_t, std::int32_t>;
  constexpr auto magic = static_cast<Bits>(is_double ? 0x5FE6'EB50'C7B5'37A9 : 0x5F37'5A86);
  T y = std::bit_cast<T>(magic - (std::bit_cast<Bits>(x) >> 1));
  for (int step = 0; step < (is_double ? 4 : 3); ++step) y *= T{1.5} - T{0.5} * x * (y * y);
  return y;
}
// [inverse root]

// [pull]
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
[[gnu::always_inline]] inline Force<T> pull(const Body<T>& body, const Body<T>& other,
                                            T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T jerk_factor = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + jerk_factor * x)};
}
// [pull]

// [sum]
/// The force on a body, summed over source bodies that are stored as a structure of arrays.
template <typename T>
struct Sum {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Body<T>& body, View<const T, 2> sources,
                                         T softening2, Force<T>& force) {
    T ax = 0, ay = 0, az = 0, jx = 0, jy = 0, jz = 0;
#pragma omp simd simdlen(bytes / sizeof(T)) reduction(+ : ax, ay, az, jx, jy, jz)
    for (std::size_t k = 0; k < sources.extent(1); ++k) {
      const Body<T> other{{sources(1, k), sources(2, k), sources(3, k)},
                          sources(0, k),
                          {sources(4, k), sources(5, k), sources(6, k)},
                          0};
      const auto [a, j] = pull(body, other, softening2);
      ax += a.x, ay += a.y, az += a.z, jx += j.x, jy += j.y, jz += j.z;
    }
    force = {{ax, ay, az}, {jx, jy, jz}};
  }
};
// [sum]

// [evaluate]
/// Copies bodies into a structure of arrays, one row for each of the seven components.
template <typename T>
void put_in_rows(View<const Body<T>, 1> bodies, View<T, 2> rows) {
  for (std::size_t i = 0; i < bodies.extent(0); ++i) {
    const auto& [x, mass, v, unused] = bodies(i);
    std::size_t row = 0;
    for (const T number : {mass, x.x, x.y, x.z, v.x, v.y, v.z}) rows(row++, i) = number;
  }
}

/// Computes the force on every body as a sum over all source bodies.
template <typename T>
void evaluate(View<const Body<T>, 1> bodies, T softening2, View<T, 2> rows,
              View<Force<T>, 1> forces) {
  static const auto sum = staircase::ForWidestVectors<Sum<T>, const Body<T>&, View<const T, 2>, T,
                                                      Force<T>&>::function();
  put_in_rows<T>(bodies, rows);
#pragma omp parallel for
  for (std::size_t i = 0; i < bodies.extent(0); ++i) sum(bodies(i), rows, softening2, forces(i));
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
  Array<T, 2> rows(7, problem.bodies);
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  const View<Body<T>, 1> bodies = all(host), predicted = all(ahead);
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  View<Force<T>, 1> forces = all(at_begin), next = all(at_end);
  evaluate<T>(bodies, softening2, rows, forces);
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T>(bodies, forces, dt, predicted);
    evaluate<T>(predicted, softening2, rows, next);
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
                              .title = "Vectorised",
                              .idea = "Vectorise over source bodies, stored as arrays",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
