/// \file
/// Baseline: the symmetric rank-k update of OpenBLAS, which computes one triangle of C.
///
/// The other triangle is copied in a separate phase, so the phase `kernels` measures OpenBLAS
/// alone.

#include "../ata.hpp"

#include <cblas.h>

#include <staircase/openblas.hpp>

namespace ata {

using staircase::View;

// [mirror]
/// Copies the elements above the diagonal to their mirror positions below it.
void mirror(View<double, 2> c) {
  const std::size_t cols = c.extent(0);
  for (std::size_t i = 0; i < cols; ++i)
    for (std::size_t j = 0; j < i; ++j) c(i, j) = c(j, i);
}
// [mirror]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product c(problem.cols, problem.cols);
  timeline.begin("kernels");
  const blasint rows = problem.rows, cols = problem.cols;
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, cols, rows, 1, problem.a.data(), cols, 0,
              c.data(), cols);
  timeline.begin("mirror");
  mirror(c);
  return c;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  staircase::use_widest_openblas_kernels(argv);
  return ata::run_stage(argc, argv,
                        {
                            .title = "OpenBLAS dsyrk",
                            .idea = "Compute a triangle with OpenBLAS, then copy it",
                            .solve_f64 = ata::solve,
                        });
}
