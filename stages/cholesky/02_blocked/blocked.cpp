/// \file
/// Changed: L is divided into tiles of 64 × 64 elements. The program factorises a tile on the
///          diagonal, solves the tiles below with it, and subtracts the products of these tiles
///          from all tiles to the right.
/// Legal:   from each element, the same products are subtracted in the same order as in stage 01. A
///          tile is finished before it is used as a factor.
/// Expect:  two tiles stay in the L1 or L2 cache, where each of their elements is used 64 times.
/// Run:     ./climb cholesky --stages 01,02
/// Next:    03_openmp_tasks makes each operation on a tile a task.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>

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
                                 .idea = "Factorise, solve and update tiles",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
