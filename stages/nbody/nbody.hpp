/// \file
/// Bodies that attract each other: the problem that every stage solves.
///
/// Steps of the Hermite scheme of fourth order over all pairs (Makino and Aarseth, "On a Hermite
/// Integrator with Ahmad-Cohen Scheme for Gravitational Many-Body Problems", Publ. Astron. Soc.
/// Japan 44, 1992). README.md beside this file has the mathematics.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace nbody {

// [Problem]
/// Bodies at time 0; wanted are their positions and velocities after a number of steps. Units are
/// those in which the constant of gravitation is 1.
struct Problem {
  std::int64_t bodies = 2048;
  std::int64_t steps = 8;
  double dt = 1.0 / 512;                     ///< the time of a step
  double softening = 1.0 / 32;               ///< a distance below which attraction ceases to grow
  std::int64_t seed = 1;                     ///< of the random numbers
  double budget = 0;                         ///< bytes of a device for slices; 0: what it has
  std::int64_t gpus = 0;                     ///< that slices are dealt to; 0: all that are there
  staircase::Elements<double> initial = {};  ///< mass, position and velocity, body by body

  staircase::View<const double, 2> bodies_at_first() const {
    return {initial.data(), {static_cast<std::size_t>(bodies), 7}};
  }
};

/// Position and velocity, body by body.
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
/// A number plus a · b.
template <typename T>
constexpr T dot(Vector<T> a, Vector<T> b, T number) {
  return number + a.x * b.x + a.y * b.y + a.z * b.z;
}

/// A vector in another precision.
template <typename T, typename U>
constexpr Vector<T> rounded(Vector<U> a) {
  return {static_cast<T>(a.x), static_cast<T>(a.y), static_cast<T>(a.z)};
}
// [Vector]

// [Body]
/// What others feel of a body. The eighth number is none; with it, two loads of 16 bytes take a
/// body in f32.
template <typename T>
struct alignas(4 * sizeof(T)) Body {
  Vector<T> x;
  T mass;
  Vector<T> v;
  T unused;
};

/// What a body feels of others: acceleration, and jerk, its derivative with respect to time.
template <typename T>
struct Force {
  Vector<T> a, j;
};
// [Body]

// [softening]
/// The square of the softening, or a number that is no more than zero beside the squares of
/// distances: with it, the term of a body with itself is zero times a finite number.
template <typename T>
T softening_squared(const Problem& problem) {
  constexpr double least = sizeof(T) == sizeof(double) ? 1e-180 : 1e-20;
  return static_cast<T>(std::max(problem.softening * problem.softening, least));
}
// [softening]

// [Slices]
/// So many bodies from one on.
struct Slice {
  std::size_t first, size;
};

/// The part of an array that is a slice of it.
template <typename T>
staircase::View<T, 1> part(staircase::View<T, 1> array, Slice slice) {
  return {array.data() + slice.first, {slice.size}};
}

/// All of an array.
template <typename T>
staircase::View<T, 1> all(staircase::Elements<T>& array) {
  return {array.data(), {array.size()}};
}

/// All bodies in slices of a size; the last one may be smaller.
struct Slices {
  std::size_t bodies, size;

  std::size_t count() const { return (bodies + size - 1) / size; }
  Slice operator()(std::size_t s) const { return {s * size, std::min(size, bodies - s * size)}; }
};

/// The fewest slices whose buffers fit into the budget, if a body of each takes so many bytes of
/// them; in a multiple of `parts`, if there are bodies enough.
/// \throws NotEnoughMemory if the budget does not hold a slice of one body
Slices slices_of(const Problem& problem, std::size_t bytes_of_body, std::size_t parts = 1);
// [Slices]

/// The bodies at first, one after the other, in the precision of a solve.
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

/// Position and velocity of bodies, as a solution has them.
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

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace nbody
