/// \file
/// Changed: 256 rows of A at a time are copied into micro-panels, which are as wide as a tile that
///          fits in registers. A micro-panel of one factor stays in the L1 cache. The micro-panels
///          of the other factor for a block of C stay in the L2 cache.
/// From:    02_blocked
/// Legal:   as in stage 02, an element of C is the sum of the same products in another order.
/// Expect:  this stage is 1.5 times as fast as stage 02 and comes close to each core's peak rate.
/// Run:     ./climb ata --stages 02,14,baseline_openblas_dsyrk
/// Next:    15_symmetric_tiles computes only the tiles on and above the diagonal.

#include "../micro_panels.hpp"

#include <omp.h>
#include <algorithm>
#include <staircase/simd.hpp>

namespace ata {

using staircase::View;

// [multiply]
/// Computes C = AᵀA: for each chunk of rows of A, packs the micro-panels and adds their products to
/// C. Each thread computes some blocks of C.
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
      for (std::size_t j = 0; j < cols; j += most_cols)
        multiply_block(panels, {i, std::min(i + height, cols)}, {j, std::min(j + most_cols, cols)},
                       chunk, k > 0, c);
  }
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product c(problem.cols, problem.cols);
  Panels panels(problem.cols);
  timeline.begin("kernels");
  multiply(problem.matrix(), panels, c);
  return c;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Micro-panels",
                            .idea = "Copy panels as wide as a tile in registers",
                            .solve_f64 = ata::solve,
                        });
}
