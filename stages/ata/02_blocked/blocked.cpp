/// \file
/// Changed: A is copied into panels of 24 columns. A kernel multiplies two panels and keeps a tile
///          of C in registers. A thread computes groups of 8 × 8 tiles and processes 128 rows of A
///          at a time.
/// Legal:   an element of C is the sum of the same products in another order, 128 rows at a time;
///          only rounding errors change. Tiles of C, like rows of C, are independent of each other.
/// Expect:  arithmetic is the limit, not memory: AVX-512 uses each loaded element 8 or 24 times.
/// Run:     ./climb ata --stages 00-02
/// Next:    03_naive_cuda computes each element of C in a thread of its own, on a GPU.

#include "../panels.hpp"

#include <algorithm>
#include <staircase/simd.hpp>

namespace ata {

using staircase::Array;
using staircase::View;

// [sizes]
constexpr std::size_t group = 8;    // panels in a group; a thread multiplies two groups
constexpr std::size_t depth = 128;  // rows of A that a thread processes at a time
// [sizes]

// [multiply_panels]
/// Adds xᵀy for `steps` rows of two panels to `tile`. The tile is split into parts that fit in the
/// registers; each part is completed for all steps before the next one begins.
struct MultiplyPanels {
  template <int bytes>
  [[gnu::always_inline]] static void run(const double* x, const double* y, std::size_t steps,
                                         double (*tile)[width]) {
    using Vector [[gnu::vector_size(bytes), gnu::aligned(8)]] = double;
    constexpr std::size_t lanes = bytes / sizeof(double);
    constexpr std::size_t height = bytes == 64 ? 8 : 4;   // rows of a part
    constexpr std::size_t vectors = bytes == 16 ? 2 : 3;  // vectors in a row of a part
    for (std::size_t i0 = 0; i0 < width; i0 += height)
      for (std::size_t j0 = 0; j0 < width; j0 += vectors * lanes) {
        Vector sum[height][vectors] = {};
        for (std::size_t k = 0; k < steps; ++k)
#pragma GCC unroll 8
          for (std::size_t i = 0; i < height; ++i)
#pragma GCC unroll 8
            for (std::size_t v = 0; v < vectors; ++v)
              sum[i][v] += x[k * width + i0 + i] *
                           reinterpret_cast<const Vector&>(y[k * width + j0 + v * lanes]);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < height; ++i)
#pragma GCC unroll 8
          for (std::size_t v = 0; v < vectors; ++v)
            reinterpret_cast<Vector&>(tile[i0 + i][j0 + v * lanes]) += sum[i][v];
      }
  }
};
using PanelProduct = staircase::ForWidestVectors<MultiplyPanels, const double*, const double*,
                                                 std::size_t, double (*)[width]>;
// [multiply_panels]

// [multiply]
/// Computes C = AᵀA in tiles; each tile is a sum over chunks of rows of A.
void multiply(View<const double, 2> a, View<double, 3> panels, View<double, 2> c) {
  const std::size_t rows = a.extent(0), cols = a.extent(1), count = panels.extent(0);
  const auto multiply_panels = PanelProduct::function();
#pragma omp parallel
  {
#pragma omp for
    for (std::size_t p = 0; p < count; ++p) pack(a, p, panels.row(p));
#pragma omp for
    for (std::size_t i = 0; i < cols; ++i)
      for (std::size_t j = 0; j < cols; ++j) c(i, j) = 0;
#pragma omp for collapse(2) schedule(dynamic)
    for (std::size_t p0 = 0; p0 < count; p0 += group)
      for (std::size_t q0 = 0; q0 < count; q0 += group)
        for (std::size_t k = 0; k < rows; k += depth)
          for (std::size_t p = p0; p < std::min(p0 + group, count); ++p)
            for (std::size_t q = q0; q < std::min(q0 + group, count); ++q) {
              double tile[width][width] = {};
              multiply_panels(&panels(p, k, 0), &panels(q, k, 0), std::min(depth, rows - k), tile);
              add(tile, p, q, c);
            }
  }
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product c(problem.cols, problem.cols);
  Array<double, 3> panels(panels_of(c.extent(0)), problem.rows, width);
  timeline.begin("kernels");
  multiply(problem.matrix(), panels, c);
  return c;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Blocked",
                            .idea = "Tile C for registers, A for the caches",
                            .solve_f64 = ata::solve,
                        });
}
