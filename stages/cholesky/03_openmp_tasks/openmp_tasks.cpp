/// \file
/// Changed: each operation on a tile is a task, which names the tiles that it reads and the tile
///          that it writes. Any thread runs a task as soon as these tiles are ready.
/// Legal:   tasks that write the same tile keep their order, and tasks that read a tile wait for
///          earlier tasks that write it.
/// Expect:  the speed grows with the number of cores, as long as enough tasks are ready.
/// Run:     ./climb cholesky --stages 02,03
/// Next:    04_vectorised keeps a part of a tile in vector registers.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <staircase/thread_times.hpp>

namespace cholesky {

using staircase::View;

constexpr std::size_t tile = 64;  // rows and columns

// [left]
/// Returns element (i, j) minus the dot product of rows i and j over columns `first` to `last` - 1.
template <typename T>
T left(View<const T, 2> l, std::size_t i, std::size_t j, std::size_t first, std::size_t last) {
  T left = l(i, j);
  for (std::size_t k = first; k < last; ++k) left -= l(i, k) * l(j, k);
  return left;
}
// [left]

// [tiles]
/// The range of rows or of columns of tile `k`.
struct Range {
  Range(std::size_t k, std::size_t n) : first(k * tile), last(std::min(first + tile, n)) {}
  std::size_t first, last;
};

/// Factorises a tile on the diagonal, left-looking, with the products of its own columns only.
template <typename T>
void factorise_tile(View<T, 2> l, Range columns) {
  for (std::size_t j = columns.first; j < columns.last; ++j) {
    l(j, j) = std::sqrt(left<T>(l, j, j, columns.first, j));
    for (std::size_t i = j + 1; i < columns.last; ++i)
      l(i, j) = left<T>(l, i, j, columns.first, j) / l(j, j);
  }
}

/// Solves the rows of a tile below the diagonal with the tile on the diagonal.
template <typename T>
void solve_tile(View<T, 2> l, Range rows, Range columns) {
  for (std::size_t i = rows.first; i < rows.last; ++i)
    for (std::size_t j = columns.first; j < columns.last; ++j)
      l(i, j) = left<T>(l, i, j, columns.first, j) / l(j, j);
}

/// Subtracts the products of two tiles from a tile to the right. If this tile is on the diagonal,
/// only its lower triangle is updated.
template <typename T>
void update_tile(View<T, 2> l, Range rows, Range columns, Range done) {
  for (std::size_t i = rows.first; i < rows.last; ++i)
    for (std::size_t j = columns.first; j < std::min(columns.last, i + 1); ++j)
      l(i, j) = left<T>(l, i, j, done.first, done.last);
}
// [tiles]

// [factorise]
/// Right-looking: finishes each column of tiles and subtracts its products from all tiles to its
/// right. One thread creates the tasks, and all threads execute them. In `depend`, the first
/// element of a tile stands for the tile.
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
  times.add_to_timeline();
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "OpenMP tasks",
                                 .idea = "Run each operation on a tile as a task",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
