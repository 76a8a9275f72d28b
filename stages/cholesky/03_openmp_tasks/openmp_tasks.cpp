/// \file
/// Changed: each turn of a tile is a task, which names the tiles that it reads and the one that it
///          writes. Tasks run on any thread as soon as these are ready.
/// Legal:   tasks that write a tile keep their order, and what reads it waits for them.
/// Expect:  as many times faster as there are cores, while there are several tiles to be had.
/// Run:     ./climb cholesky --stages 02,03
/// Next:    04_vectorised keeps a part of a tile in vectors of registers.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <staircase/thread_times.hpp>

namespace cholesky {

using staircase::View;

constexpr std::size_t tile = 64;  // rows and columns

// [left]
/// What is left of element (i, j) once the columns from `first` up to `last` are taken off.
template <typename T>
T left(View<const T, 2> l, std::size_t i, std::size_t j, std::size_t first, std::size_t last) {
  T left = l(i, j);
  for (std::size_t k = first; k < last; ++k) left -= l(i, k) * l(j, k);
  return left;
}
// [left]

// [tiles]
/// The rows, or the columns, of tile `k`.
struct Range {
  Range(std::size_t k, std::size_t n) : first(k * tile), last(std::min(first + tile, n)) {}
  std::size_t first, last;
};

/// A tile on the diagonal: column by column, each gathers what those before it take off.
template <typename T>
void factorise_tile(View<T, 2> l, Range columns) {
  for (std::size_t j = columns.first; j < columns.last; ++j) {
    l(j, j) = std::sqrt(left<T>(l, j, j, columns.first, j));
    for (std::size_t i = j + 1; i < columns.last; ++i)
      l(i, j) = left<T>(l, i, j, columns.first, j) / l(j, j);
  }
}

/// A tile below: its rows are solved with the tile on the diagonal.
template <typename T>
void solve_tile(View<T, 2> l, Range rows, Range columns) {
  for (std::size_t i = rows.first; i < rows.last; ++i)
    for (std::size_t j = columns.first; j < columns.last; ++j)
      l(i, j) = left<T>(l, i, j, columns.first, j) / l(j, j);
}

/// A tile to the right: it loses the products of two tiles; on the diagonal, its triangle does.
template <typename T>
void update_tile(View<T, 2> l, Range rows, Range columns, Range done) {
  for (std::size_t i = rows.first; i < rows.last; ++i)
    for (std::size_t j = columns.first; j < std::min(columns.last, i + 1); ++j)
      l(i, j) = left<T>(l, i, j, done.first, done.last);
}
// [tiles]

// [factorise]
/// Tile by tile: once a column of tiles is known, its products are taken off everything to its
/// right. One thread hands out the tasks, all do them. The first number of a tile stands for it.
template <typename T>
void factorise(View<T, 2> l, staircase::ThreadTimes& times) {
  const std::size_t n = l.extent(0), tiles = (n + tile - 1) / tile;
  const auto at = [&](std::size_t i, std::size_t j) { return &l(i * tile, j * tile); };
#pragma omp parallel
#pragma omp single
  for (std::size_t k = 0; k < tiles; ++k) {
    const T* const diagonal = at(k, k);
#pragma omp task depend(inout : *diagonal)
    times.of("factorise", [&] { factorise_tile<T>(l, {k, n}); });
    for (std::size_t i = k + 1; i < tiles; ++i) {
      const T* const below = at(i, k);
#pragma omp task depend(in : *diagonal) depend(inout : *below)
      times.of("solve", [&] { solve_tile<T>(l, {i, n}, {k, n}); });
    }
    for (std::size_t i = k + 1; i < tiles; ++i)
      for (std::size_t j = k + 1; j <= i; ++j) {
        const T *const left = at(i, k), *const upper = at(j, k), *const own = at(i, j);
#pragma omp task depend(in : *left, *upper) depend(inout : *own)
        times.of("update", [&] { update_tile<T>(l, {i, n}, {j, n}, {k, n}); });
      }
  }
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> l(problem.n, problem.n);
  timeline.begin("copy in");
  std::copy_n(problem.a<T>().data(), problem.n * problem.n, l.data());
  staircase::ThreadTimes times(timeline);
  timeline.begin("kernels");
  factorise<T>(l, times);
  timeline.end();
  times.hand_over();
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "OpenMP tasks",
                                 .idea = "A task for each turn of a tile",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
