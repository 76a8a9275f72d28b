/// \file
/// Changed: pairs are computed in slices of 64 bodies by 1024 source bodies; one loop runs over all
///          slices, and the source bodies of each slice are copied into rows of their own.
/// Legal:   slices with different bodies write different forces; slices with the same bodies add to
///          the same forces, and one thread computes them one after the other.
/// Expect:  for any number of bodies, this stage computes as many pairs per second as stage 02 does
///          if its source bodies fit into a cache.
/// Run:     ./climb nbody --stages 02,03
/// Next:    04_naive_cuda starts again from stage 01, on the GPU.

#include "../nbody.hpp"

#include <omp.h>

#include <bit>
#include <staircase/simd.hpp>
#include <type_traits>
#include <utility>

namespace nbody {

using staircase::Array;
using staircase::Elements;
using staircase::View;

// [sizes]
constexpr std::size_t bodies_of_slice = 64, sources_of_slice = 1024;
// [sizes]

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
/// Adds the terms of source bodies, stored as a structure of arrays, to the force on a body.
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
    force = {force.a + Vector<T>{ax, ay, az}, force.j + Vector<T>{jx, jy, jz}};
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

/// The bodies of slice s, if each slice has `size` bodies.
template <typename Body>
View<Body, 1> slice(View<Body, 1> bodies, std::size_t s, std::size_t size) {
  return part(bodies, Slices{bodies.extent(0), size}(s));
}

/// Computes the force on every body. Each thread has its own rows for the source bodies of a slice.
template <typename T>
void evaluate(View<const Body<T>, 1> bodies, T softening2, View<T, 3> rows,
              View<Force<T>, 1> forces) {
  static const auto sum = staircase::ForWidestVectors<Sum<T>, const Body<T>&, View<const T, 2>, T,
                                                      Force<T>&>::function();
  const std::size_t slices = (bodies.extent(0) + bodies_of_slice - 1) / bodies_of_slice;
  const std::size_t slices_of_sources =
      (bodies.extent(0) + sources_of_slice - 1) / sources_of_slice;
#pragma omp parallel for schedule(static, slices_of_sources)
  for (std::size_t e = 0; e < slices_of_sources * slices; ++e) {
    const std::size_t s = e / slices_of_sources, s_of_sources = e % slices_of_sources;
    const auto sources = slice(bodies, s_of_sources, sources_of_slice);
    const View<T, 2> own_rows(rows.row(omp_get_thread_num()).data(), {7, sources.extent(0)});
    put_in_rows<T>(sources, own_rows);
    const auto own = slice(bodies, s, bodies_of_slice);
    const auto felt = slice(forces, s, bodies_of_slice);
    if (s_of_sources == 0) std::fill_n(felt.data(), felt.extent(0), Force<T>{});
    for (std::size_t i = 0; i < own.extent(0); ++i) sum(own(i), own_rows, softening2, felt(i));
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
  Array<T, 3> rows(omp_get_max_threads(), 7, sources_of_slice);
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
                              .title = "Sliced",
                              .idea = "Slice the pairs so that sources fit a cache",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
