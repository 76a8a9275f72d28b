/// \file
/// The all-pairs N-body problem that every stage solves.
///
/// Bodies attract each other, and the fourth-order Hermite scheme advances them (Makino and
/// Aarseth, "On a Hermite Integrator with Ahmad-Cohen Scheme for Gravitational Many-Body Problems",
/// Publ. Astron. Soc. Japan 44, 1992). README.md in this directory explains the equations.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace nbody {

// [Problem]
/// Bodies at time 0, to be advanced by a number of steps, in units in which the gravitational
/// constant is 1.
struct Problem {
  std::int64_t bodies = 2048;
  std::int64_t steps = 8;
  double dt = 1.0 / 512;                     ///< length of a time step
  double softening = 1.0 / 32;               ///< its square is added to each squared distance
  std::int64_t seed = 1;                     ///< seed of the random numbers
  double budget = 0;                         ///< bytes of device memory for slices; 0: all
  std::int64_t gpus = 0;                     ///< number of GPUs to use; 0: all
  staircase::Elements<double> initial = {};  ///< mass, position and velocity of each body

  staircase::View<const double, 2> bodies_at_first() const {
    return {initial.data(), {static_cast<std::size_t>(bodies), 7}};
  }
};

/// A row for each body, with its position and velocity.
template <typename T>
using Solution = staircase::Array<T, 2>;
// [Problem]

// [Vector]
/// A vector in space.
template <typename T>
struct Vector {
  T x, y, z;
};

template <typename T>
constexpr Vector<T> operator+(Vector<T> a, Vector<T> b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <typename T>
constexpr Vector<T> operator-(Vector<T> a, Vector<T> b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <typename T>
constexpr Vector<T> operator*(T factor, Vector<T> a) {
  return {factor * a.x, factor * a.y, factor * a.z};
}
template <typename T>
constexpr T dot(Vector<T> a, Vector<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// Returns number + a · b, in a form that compiles to multiply-adds.
template <typename T>
constexpr T dot(Vector<T> a, Vector<T> b, T number) {
  return number + a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Converts a vector to another precision.
template <typename T, typename U>
constexpr Vector<T> rounded(Vector<U> a) {
  return {static_cast<T>(a.x), static_cast<T>(a.y), static_cast<T>(a.z)};
}
// [Vector]

// [Body]
/// The seven values of a body that determine its pull on other bodies, and one value of padding.
/// With the padding, two loads of 16 bytes read a body in f32.
template <typename T>
struct alignas(4 * sizeof(T)) Body {
  Vector<T> x;
  T mass;
  Vector<T> v;
  T unused;
};

/// The effect of other bodies on a body: acceleration a and its time derivative, the jerk j.
template <typename T>
struct Force {
  Vector<T> a, j;
};
// [Body]

// [softening]
/// The square of the softening, or a positive value that is negligible compared with any squared
/// distance. The value is not zero, so the term of a body with itself is zero times a finite value.
template <typename T>
T softening_squared(const Problem& problem) {
  constexpr double least = sizeof(T) == sizeof(double) ? 1e-180 : 1e-20;
  return static_cast<T>(std::max(problem.softening * problem.softening, least));
}
// [softening]

// [Slices]
/// `size` consecutive bodies, beginning with index `first`.
struct Slice {
  std::size_t first, size;
};

/// A view of the elements of an array that belong to a slice.
template <typename T>
staircase::View<T, 1> part(staircase::View<T, 1> array, Slice slice) {
  return {array.data() + slice.first, {slice.size}};
}

/// A view of a whole array.
template <typename T>
staircase::View<T, 1> all(staircase::Elements<T>& array) {
  return {array.data(), {array.size()}};
}

/// A partition of all bodies into slices of equal size; the last slice may be smaller.
struct Slices {
  std::size_t bodies, size;

  std::size_t count() const { return (bodies + size - 1) / size; }
  Slice operator()(std::size_t s) const { return {s * size, std::min(size, bodies - s * size)}; }
};

/// The partition into the fewest slices whose buffers fit into the budget, if the buffers take
/// `bytes_of_body` for each body of a slice. The number of slices is a multiple of `parts` if there
/// are enough bodies.
/// \throws NotEnoughMemory if a slice of one body does not fit into the budget
Slices slices_of(const Problem& problem, std::size_t bytes_of_body, std::size_t parts = 1);
// [Slices]

/// The initial bodies as an array of structures, in the precision of the computation.
template <typename T>
staircase::Elements<Body<T>> bodies_of(const Problem& problem) {
  const auto given = problem.bodies_at_first();
  const auto number = [&](std::size_t i, std::size_t k) { return static_cast<T>(given(i, k)); };
  staircase::Elements<Body<T>> bodies(given.extent(0));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    bodies[i] = {.x = {number(i, 1), number(i, 2), number(i, 3)},
                 .mass = number(i, 0),
                 .v = {number(i, 4), number(i, 5), number(i, 6)},
                 .unused = 0};
  return bodies;
}

/// Copies the positions and velocities of bodies into a solution.
template <typename T, typename U>
Solution<T> solution_of(const staircase::Elements<Body<U>>& bodies) {
  Solution<T> solution(bodies.size(), 6);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& [x, mass, v, unused] = bodies[i];
    std::size_t k = 0;
    for (const U number : std::array{x.x, x.y, x.z, v.x, v.y, v.z})
      solution(i, k++) = static_cast<T>(number);
  }
  return solution;
}

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line specifies; returns the exit
/// status. The directories of the stage's source give the names of the workload and the stage.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace nbody
