/// \file
/// The problem that every stage solves: the advection of a field on a periodic plane.
///
/// The advection equation is discretised with the Lax-Wendroff scheme in each direction (Lax and
/// Wendroff, "Systems of Conservation Laws", Comm. Pure Appl. Math. 13, 1960). README.md in this
/// directory explains the mathematics.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace advection {

// [Problem]
/// A field of rows × cols cells on the unit square, with x along a row and y along a column, moves
/// with velocity (vx, vy) for `steps` time steps. The result is the field after the last step.
struct Problem {
  std::int64_t rows = 512;
  std::int64_t cols = 512;
  std::int64_t steps = 100;
  double cfl = 0.25;            ///< time step in units of min(1 / rows, 1 / cols)
  double vx = 1, vy = 1;        ///< velocity, in sides of the square per unit of time
  std::int64_t field = 0;       ///< initial field: 0 waves, 1 a square pulse, 2 random values
  std::int64_t seed = 1;        ///< seed of the random values
  std::int64_t p = 0, q = 0;    ///< CPU threads along y and x; 0: the stage chooses
  std::int64_t gx = 0, gy = 0;  ///< blocks of a GPU's grid along x and y; 0: the stage chooses
  std::int64_t bx = 0, by = 0;  ///< threads of a block along x and y; 0: the stage chooses
  staircase::Elements<double> initial = {};  ///< the initial field, row by row

  staircase::View<const double, 2> field_at_first() const {
    return {initial.data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)}};
  }
};

template <typename T>
using Field = staircase::Array<T, 2>;
// [Problem]

// [weights]
/// The weights of the neighbours at offsets -1, 0 and +1 in each direction. Each of the nine
/// weights of the stencil is a product of two of these weights.
template <typename T>
struct Weights {
  T x[3], y[3];
};

/// Sets the weights for a Courant number c (the number of cells that the field moves by in a step):
/// c (c + 1) / 2, 1 - c² and c (c - 1) / 2.
template <typename T>
constexpr void set_weights(double c, T* w) {
  w[0] = T(c * (c + 1) / 2);
  w[1] = T(1 - c * c);
  w[2] = T(c * (c - 1) / 2);
}

/// The number of cells that the field moves by in a step, along x and along y.
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
/// The combined weights of several steps, along x and along y. A cell depends on its neighbours at
/// offsets from -`steps` to `steps`.
template <typename T, unsigned steps>
struct Filter {
  static constexpr unsigned taps = 2 * steps + 1;
  T x[taps], y[taps];
};

/// Convolves a unit impulse `steps` times with the weights of one step; pads with zeros.
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

/// Returns the filter of the `left` remaining steps, but of at most `most` steps.
template <typename T, unsigned most>
Filter<T, most> filter_of(const Weights<double>& w, std::int64_t left) {
  Filter<T, most> filter;
  set_filter(w.x, std::min<std::int64_t>(most, left), filter.x);
  set_filter(w.y, std::min<std::int64_t>(most, left), filter.y);
  return filter;
}
// [filter]

// [team]
/// The CPU threads as a grid: p threads along y and q along x.
struct Team {
  std::size_t p, q;
};

/// Returns the grid that the problem sets. By default, all OpenMP threads are along y.
/// \throws BadInput if OpenMP has fewer threads
Team team_of(const Problem& problem);
// [team]

// [range]
/// A thread's rows or columns, and whether they include the first and the last of the field.
struct Range {
  std::size_t begin, end;
  bool first = false, last = false;
};

/// Returns range `index` of `ranges` nearly equal ranges; the first begins at 1, after the halo.
inline Range range_of(std::size_t count, std::size_t ranges, std::size_t index) {
  return {1 + count * index / ranges, 1 + count * (index + 1) / ranges, index == 0,
          index + 1 == ranges};
}
// [range]

#ifdef __CUDACC__
// [shape]
/// The extents of a grid and of its thread blocks.
struct Shape {
  dim3 grid, block;
};

/// Returns the shape that the problem sets. By default, blocks have the shape `block`, and there
/// are enough of them for all cells if each thread computes `cells` cells along x.
inline Shape shape_of(const Problem& problem, dim3 block, unsigned cells = 1) {
  if (problem.bx != 0 || problem.by != 0) {
    block.x = problem.bx != 0 ? problem.bx : 256 / problem.by + 1;
    block.y = problem.by != 0 ? problem.by : 256 / problem.bx + 1;
  }
  const dim3 all = staircase::blocks(block, staircase::ceil_div(problem.cols, cells), problem.rows);
  return {dim3(problem.gx != 0 ? problem.gx : all.x, problem.gy != 0 ? problem.gy : all.y), block};
}
// [shape]

// [pair]
/// Two neighbouring cells, aligned for one access.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T a, b;
};

/// Whether a cell and the cell after it can be accessed together.
template <typename T>
__device__ bool together(const T* cell) {
  return reinterpret_cast<std::uintptr_t>(cell) % sizeof(Pair<T>) == 0;
}

/// Loads a cell and its neighbour, which lies at an offset of `neighbour` cells.
template <typename T>
__device__ Pair<T> load(const T* cell, int neighbour) {
  if (neighbour == 1 && together(cell)) return *reinterpret_cast<const Pair<T>*>(cell);
  return {cell[0], cell[neighbour]};
}

/// Stores two neighbouring cells, or only the first one at the end of a row.
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

/// Maps an index before the first or after the last element into the periodic range.
__device__ inline unsigned wrapped_around(int index, int count) {
  while (index < 0) index += count;
  while (index >= count) index -= count;
  return index;
}

// [along_row]
/// The sums along x for two neighbouring cells. `cells` points to the first cell that is read.
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
/// Copies the initial field into an array with a halo of `halo` cells on each side.
template <typename T>
void put_inside(staircase::View<const double, 2> field, staircase::View<T, 2> u,
                std::size_t halo = 1) {
  for (std::size_t i = 0; i < field.extent(0); ++i)
    for (std::size_t j = 0; j < field.extent(1); ++j)
      u(i + halo, j + halo) = static_cast<T>(field(i, j));
}

/// Returns the field without the halo of `halo` cells on each side.
template <typename T>
Field<T> inside(staircase::View<T, 2> u, std::size_t halo = 1) {
  Field<T> field(u.extent(0) - 2 * halo, u.extent(1) - 2 * halo);
  for (std::size_t i = 0; i < field.extent(0); ++i)
    for (std::size_t j = 0; j < field.extent(1); ++j) field(i, j) = u(i + halo, j + halo);
  return field;
}
// [halo]

/// The initial field in the precision of the computation.
template <typename T>
staircase::Elements<T> rounded(const Problem& problem) {
  return {problem.initial.begin(), problem.initial.end()};
}

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program on the problem that the command line describes; returns the exit
/// status. The directories of the stage's source give the names of the workload and of the stage.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace advection
