/// \file
/// Changed: L is cut into tiles of 64 × 64. A tile on the diagonal is factorised, the tiles below
///          it are solved with it, and their products are taken off all tiles to the right.
/// Legal:   each number loses the same products in the same order; a tile is complete before it is
///          multiplied.
/// Expect:  a pair of tiles stays in the nearest caches for 64 products of each of its numbers.
/// Run:     ./climb cholesky --stages 01,02
/// Next:    03_openmp_tasks makes a task of each tile's turn.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>

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
/// right.
template <typename T>
void factorise(View<T, 2> l) {
  const std::size_t n = l.extent(0), tiles = (n + tile - 1) / tile;
  for (std::size_t k = 0; k < tiles; ++k) {
    factorise_tile<T>(l, {k, n});
    for (std::size_t i = k + 1; i < tiles; ++i) solve_tile<T>(l, {i, n}, {k, n});
    for (std::size_t i = k + 1; i < tiles; ++i)
      for (std::size_t j = k + 1; j <= i; ++j) update_tile<T>(l, {i, n}, {j, n}, {k, n});
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
  timeline.begin("kernels");
  factorise<T>(l);
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Blocked",
                                 .idea = "Factorise a tile, solve below, take off",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
