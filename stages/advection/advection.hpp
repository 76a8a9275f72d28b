/// \file
/// A field that is carried over a periodic plane: the problem that every stage solves.
///
/// The advection equation by the scheme of Lax and Wendroff in each direction (Lax and Wendroff,
/// "Systems of Conservation Laws", Comm. Pure Appl. Math. 13, 1960). README.md beside this file has
/// the mathematics.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace advection {

// [Problem]
/// A field of rows × cols cells on the unit square, x along a row and y along a column, is carried
/// with a velocity (vx, vy) for a number of steps; wanted is the field after the last.
struct Problem {
  std::int64_t rows = 512;
  std::int64_t cols = 512;
  std::int64_t steps = 100;
  double cfl = 0.25;            ///< a step takes cfl min(1 / rows, 1 / cols)
  double vx = 1, vy = 1;        ///< sides of the square in a unit of time
  std::int64_t field = 0;       ///< at first: 0 waves, 1 a square pulse, 2 random numbers
  std::int64_t seed = 1;        ///< of the random numbers
  std::int64_t p = 0, q = 0;    ///< threads of a processor along y and x; 0: the stage's choice
  std::int64_t gx = 0, gy = 0;  ///< blocks of a GPU's grid along x and y; 0: the stage's choice
  std::int64_t bx = 0, by = 0;  ///< threads of a block along x and y; 0: the stage's choice
  staircase::Elements<double> initial = {};  ///< the field at first, row by row

  staircase::View<const double, 2> field_at_first() const {
    return {initial.data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)}};
  }
};

template <typename T>
using Field = staircase::Array<T, 2>;
// [Problem]

// [weights]
/// The weights of the neighbours at -1, 0 and +1 in each direction; those of the nine cells of the
/// stencil are their products.
template <typename T>
struct Weights {
  T x[3], y[3];
};

/// By the Courant number c, the cells that the field moves on by in a step: c (c + 1) / 2, 1 - c²
/// and c (c - 1) / 2.
template <typename T>
constexpr void set_weights(double c, T* w) {
  w[0] = T(c * (c + 1) / 2);
  w[1] = T(1 - c * c);
  w[2] = T(c * (c - 1) / 2);
}

/// The cells that the field moves on by in a step, along x and along y.
struct Courant {
  double x, y;
};
Courant courant(const Problem& problem);

template <typename T>
Weights<T> weights_of(const Problem& problem) {
  Weights<T> w;
  set_weights(courant(problem).x, w.x);
  set_weights(courant(problem).y, w.y);
  return w;
}
// [weights]

// [filter]
/// The weights of several steps in one along x and along y, from the neighbour `steps` before a
/// cell on to the one behind it.
template <typename T, unsigned steps>
struct Filter {
  static constexpr unsigned taps = 2 * steps + 1;
  T x[taps], y[taps];
};

/// The weights of a step, convolved with themselves so many times; zeros fill a shorter filter up.
template <typename T, std::size_t taps>
void set_filter(const double (&w)[3], std::int64_t steps, T (&filter)[taps]) {
  double sums[taps] = {};
  sums[taps / 2] = 1;
  for (std::int64_t step = 0; step < steps; ++step) {
    double before = 0;
    for (std::size_t k = 0; k < taps; ++k) {
      const double here = sums[k], behind = k + 1 < taps ? sums[k + 1] : 0;
      sums[k] = w[2] * before + w[1] * here + w[0] * behind;
      before = here;
    }
  }
  std::copy_n(sums, taps, filter);
}

/// As many steps as are left, but not more than a filter has room for.
template <typename T, unsigned most>
Filter<T, most> filter_of(const Weights<double>& w, std::int64_t left) {
  Filter<T, most> filter;
  set_filter(w.x, std::min<std::int64_t>(most, left), filter.x);
  set_filter(w.y, std::min<std::int64_t>(most, left), filter.y);
  return filter;
}
// [filter]

// [team]
/// The threads of a processor as a grid, p along y and q along x.
struct Team {
  std::size_t p, q;
};

/// As the problem asks for; where it leaves the choice, all threads, along y.
/// \throws BadInput if OpenMP has not so many threads
Team team_of(const Problem& problem);
// [team]

// [share]
/// The rows or the columns of a thread, from begin to end, and whether it has the first, the last.
struct Share {
  std::size_t begin, end;
  bool first = false, last = false;
};

/// Share `index` of so many; the halo comes before row and column 1.
inline Share share(std::size_t count, std::size_t shares, std::size_t index) {
  return {1 + count * index / shares, 1 + count * (index + 1) / shares, index == 0,
          index + 1 == shares};
}
// [share]

#ifdef __CUDACC__
// [shape]
/// A grid of blocks of threads.
struct Shape {
  dim3 grid, block;
};

/// As the problem asks for; where it leaves the choice, blocks as given, and as many as there are
/// cells for, if each thread has so many along x.
inline Shape shape_of(const Problem& problem, dim3 block, unsigned cells = 1) {
  if (problem.bx != 0 || problem.by != 0) {
    block.x = problem.bx != 0 ? problem.bx : 256 / problem.by + 1;
    block.y = problem.by != 0 ? problem.by : 256 / problem.bx + 1;
  }
  const dim3 all = staircase::blocks(block, staircase::pieces(problem.cols, cells), problem.rows);
  return {dim3(problem.gx != 0 ? problem.gx : all.x, problem.gy != 0 ? problem.gy : all.y), block};
}
// [shape]

// [pair]
/// Two neighbouring cells.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T a, b;
};

/// Whether a cell and its neighbour can be had by one access.
template <typename T>
__device__ bool together(const T* cell) {
  return reinterpret_cast<std::uintptr_t>(cell) % sizeof(Pair<T>) == 0;
}

/// A cell and its neighbour, which lies so far from it.
template <typename T>
__device__ Pair<T> load(const T* cell, int neighbour) {
  if (neighbour == 1 && together(cell)) return *reinterpret_cast<const Pair<T>*>(cell);
  return {cell[0], cell[neighbour]};
}

/// Puts two neighbours into a row, or one at its end.
template <typename T>
__device__ void store(T* cell, int neighbour, Pair<T> pair) {
  if (neighbour == 1 && together(cell)) {
    *reinterpret_cast<Pair<T>*>(cell) = pair;
  } else {
    cell[0] = pair.a;
    if (neighbour == 1) cell[1] = pair.b;
  }
}
// [pair]

/// Where an index lies that may be before the first or behind the last.
__device__ inline unsigned wrapped_around(int index, int count) {
  while (index < 0) index += count;
  while (index >= count) index -= count;
  return index;
}

// [along_row]
/// The sums along x for two neighbouring cells, from the first of the cells that they come from on.
template <typename T, unsigned steps>
__device__ Pair<T> along_row(const Filter<T, steps>& filter, const T* cells) {
  constexpr unsigned taps = 2 * steps + 1;
  Pair<T> sums = {0, 0};
#pragma unroll
  for (unsigned k = 0; k < taps; k += 2) {
    const auto [a, b] = *reinterpret_cast<const Pair<T>*>(&cells[k]);
    sums.a += filter.x[k] * a + (k + 1 < taps ? filter.x[k + 1] * b : 0);
    sums.b += (k > 0 ? filter.x[k - 1] * a : 0) + filter.x[k] * b;
  }
  return sums;
}
// [along_row]
#endif

// [halo]
/// Puts the field at first inside an array with a halo of so many cells on each side.
template <typename T>
void put_inside(staircase::View<const double, 2> field, staircase::View<T, 2> u,
                std::size_t halo = 1) {
  for (std::size_t i = 0; i < field.extent(0); ++i)
    for (std::size_t j = 0; j < field.extent(1); ++j)
      u(i + halo, j + halo) = static_cast<T>(field(i, j));
}

/// The field inside an array with a halo of so many cells on each side.
template <typename T>
Field<T> inside(staircase::View<T, 2> u, std::size_t halo = 1) {
  Field<T> field(u.extent(0) - 2 * halo, u.extent(1) - 2 * halo);
  for (std::size_t i = 0; i < field.extent(0); ++i)
    for (std::size_t j = 0; j < field.extent(1); ++j) field(i, j) = u(i + halo, j + halo);
  return field;
}
// [halo]

/// The field at first in the precision of a solve.
template <typename T>
staircase::Elements<T> rounded(const Problem& problem) {
  return {problem.initial.begin(), problem.initial.end()};
}

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace advection
