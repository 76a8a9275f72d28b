/// \file
/// Changed: only tiles on and above the diagonal are computed. A second pass copies the elements
///          above the diagonal to the other side.
/// Legal:   C is symmetric: c(j, i) is the sum of the same products as c(i, j).
/// Expect:  for a large C, the program takes half the time of stage 14.
/// Run:     ./climb ata --stages 02,14,15,baseline_openblas_dsyrk
/// Next:    nothing; this is the last stage.

#include "../micro_panels.hpp"

#include <omp.h>
#include <algorithm>
#include <staircase/simd.hpp>

namespace ata {

using staircase::View;

// [multiply]
/// Computes the tiles of C = AᵀA on and above the diagonal: for each chunk of rows of A, packs the
/// micro-panels and adds their products to C. Each thread computes some blocks of C.
void multiply(View<const double, 2> a, Panels& panels, View<double, 2> c) {
  static const auto pack = staircase::ForWidestVectors<Pack, View<const double, 2>, Range,
                                                       std::size_t, Panels&>::function();
  static const auto multiply_block =
      staircase::ForWidestVectors<MultiplyBlock, const Panels&, Range, Range, std::size_t, bool,
                                  View<double, 2>>::function();
  const std::size_t rows = a.extent(0), cols = a.extent(1);
  const std::size_t height = rows_of_block(cols, omp_get_max_threads());
#pragma omp parallel
  for (std::size_t k = 0; k < rows; k += depth) {
    const std::size_t chunk = std::min(depth, rows - k);
#pragma omp for
    for (std::size_t j = 0; j < cols; j += unit) pack(a, {k, k + chunk}, j, panels);
#pragma omp for collapse(2) schedule(dynamic)
    for (std::size_t i = 0; i < cols; i += height)
      for (std::size_t j = 0; j < cols; j += most_cols) {
        const Range block_rows{i, std::min(i + height, cols)};
        const std::size_t right = std::min(j + most_cols, cols);
        for (std::size_t d = i; d < block_rows.end; d += unit)  // the square on the diagonal
          multiply_block(panels, {d, std::min(d + unit, cols)},
                         {std::max(d, j), std::min(block_rows.end, right)}, chunk, k > 0, c);
        multiply_block(panels, block_rows, {std::max(block_rows.end, j), right}, chunk, k > 0, c);
      }
  }
}
// [multiply]

// [mirror]
/// Copies the elements above the diagonal to the other side, in squares that fit in the L1 cache.
void mirror(View<double, 2> c) {
  const std::size_t n = c.extent(0);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i0 = 0; i0 < n; i0 += unit)
    for (std::size_t j0 = 0; j0 <= i0; j0 += unit)
      for (std::size_t i = i0; i < std::min(i0 + unit, n); ++i)
        for (std::size_t j = j0; j < std::min(j0 + unit, i); ++j) c(i, j) = c(j, i);
}
// [mirror]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product c(problem.cols, problem.cols);
  Panels panels(problem.cols);
  timeline.begin("kernels");
  multiply(problem.matrix(), panels, c);
  timeline.begin("mirror");
  mirror(c);
  return c;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Symmetric tiles",
                            .idea = "Compute a triangle of C, then copy it",
                            .solve_f64 = ata::solve,
                        });
}
