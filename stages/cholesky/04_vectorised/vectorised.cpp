/// \file
/// Changed: L is packed into panels of 24 rows (48 in f32), which store the elements of each column
///          contiguously. A block of L has the rows of a panel and as many columns. Two functions
///          compute a block in vector registers. A tile has 8 × 8 blocks.
/// Legal:   from each element, the same products are subtracted, in another order: the products of
///          a tile are added up first, and then their sum is subtracted.
/// Expect:  arithmetic limits the program, as in stage 02 of AᵀA.
/// Run:     ./climb cholesky --stages 03,04
/// Next:    05_naive_cuda starts again on the GPU, column by column.

#include "../packed.hpp"

#include <algorithm>
#include <staircase/simd.hpp>
#include <staircase/thread_times.hpp>

namespace cholesky {

using staircase::View;

constexpr std::size_t tile = 8;  // rows and columns of a tile, in blocks

// [subtract]
/// Computes block -= xᵀy over `columns` columns of two panels, in parts that fit into registers.
template <typename T>
struct Subtract {
  template <int bytes>
  [[gnu::always_inline]] static void run(const T* x, const T* y, std::size_t columns, T* block) {
    using Vector [[gnu::vector_size(bytes), gnu::aligned(alignof(T))]] = T;
    constexpr std::size_t lanes = bytes / sizeof(T);
    constexpr std::size_t height = bytes == 64 ? 8 : 4;   // rows of a part
    constexpr std::size_t vectors = bytes == 16 ? 2 : 3;  // vectors in a row of a part
    for (std::size_t i0 = 0; i0 < width<T>; i0 += height)
      for (std::size_t j0 = 0; j0 < width<T>; j0 += vectors * lanes) {
        Vector sum[height][vectors] = {};
        for (std::size_t k = 0; k < columns; ++k)
#pragma GCC unroll 8
          for (std::size_t i = 0; i < height; ++i)
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v)
              sum[i][v] += x[k * width<T> + i0 + i] *
                           reinterpret_cast<const Vector&>(y[k * width<T> + j0 + v * lanes]);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < height; ++i)
#pragma GCC unroll 8
          for (std::size_t v = 0; v < vectors; ++v)
            reinterpret_cast<Vector&>(block[(i0 + i) * width<T> + j0 + v * lanes]) -= sum[i][v];
      }
  }
};
// [subtract]

// [tiles]
/// The range of tile `k`: panels of rows, or blocks of columns.
struct Range {
  Range(std::size_t k, std::size_t n) : first(k * tile), last(std::min(first + tile, n)) {}
  std::size_t first, last;
};

/// Subtracts the products of panels p and q (blocks `first` to `last` - 1) from block (p, q).
template <typename T>
void subtract(View<T, 3> l, std::size_t p, std::size_t q, std::size_t first, std::size_t last) {
  static const auto run =
      staircase::ForWidestVectors<Subtract<T>, const T*, const T*, std::size_t, T*>::function();
  run(&l(q, first * width<T>, 0), &l(p, first * width<T>, 0), (last - first) * width<T>,
      &l(p, q * width<T>, 0));
}

/// Finishes a tile on the diagonal or below: updates each column of blocks with the columns to its
/// left, and then solves the column.
template <typename T>
void solve_tile(View<T, 3> l, Range rows, Range columns) {
  for (std::size_t q = columns.first; q < columns.last; ++q)
    for (std::size_t p = std::max(q, rows.first); p < rows.last; ++p) {
      subtract(l, p, q, columns.first, q);
      solve_block(&l(q, q * width<T>, 0), &l(p, q * width<T>, 0));
    }
}

/// Subtracts the products of two tiles from a tile to the right. If this tile is on the diagonal,
/// only its lower triangle is updated.
template <typename T>
void update_tile(View<T, 3> l, Range rows, Range columns, Range done) {
  for (std::size_t q = columns.first; q < columns.last; ++q)
    for (std::size_t p = std::max(q, rows.first); p < rows.last; ++p)
      subtract(l, p, q, done.first, done.last);
}
// [tiles]

// [factorise]
/// Right-looking: finishes each column of tiles and subtracts its products from all tiles to its
/// right. One thread creates the tasks, and all threads execute them. In `depend`, the first
/// element of a tile stands for the tile.
template <typename T>
void factorise(View<T, 3> l, staircase::ThreadTimes& times) {
  const std::size_t n = l.extent(0), tiles = (n + tile - 1) / tile;
  const auto at = [&](std::size_t i, std::size_t j) {
    return &l(i * tile, j * tile * width<T>, 0);
  };
#pragma omp parallel
#pragma omp single
  for (std::size_t k = 0; k < tiles; ++k) {
    const T* const diagonal = at(k, k);
#pragma omp task depend(inout : *diagonal)
    times.of("factorise", [&] { solve_tile<T>(l, {k, n}, {k, n}); });
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
  staircase::Array<T, 3> panels = panels_for<T>(problem.n);
  timeline.begin("copy in");
  std::copy_n(problem.a<T>().data(), problem.n * problem.n, l.data());
  staircase::ThreadTimes times(timeline);
  timeline.begin("kernels");
  pack<T>(l, panels);
  factorise<T>(panels, times);
  unpack<T>(panels, l);
  timeline.end();
  times.add_to_timeline();
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Vectorised",
                                 .idea = "Keep parts of blocks in vector registers",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
