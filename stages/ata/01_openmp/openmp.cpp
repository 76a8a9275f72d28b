/// \file
/// Changed: one OpenMP directive makes the loop over the rows of C parallel.
/// Legal:   iterations write disjoint rows of C, and no iteration writes A.
/// Expect:  the time is at best divided by the number of cores; each row still reads all of A.
/// Run:     ./climb ata --stages 00,01
/// Next:    02_blocked keeps a tile of C in registers and panels of A in the caches.

#include "../ata.hpp"

namespace ata {

using staircase::View;

// [multiply]
/// Computes C = AᵀA. The innermost loop is over j, because a(k, j) and a(k, j + 1) are adjacent.
void multiply(View<const double, 2> a, View<double, 2> c) {
  const std::size_t rows = a.extent(0), cols = a.extent(1);
#pragma omp parallel for
  for (std::size_t i = 0; i < cols; ++i) {
    for (std::size_t j = 0; j < cols; ++j) c(i, j) = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      const double factor = a(k, i);
      for (std::size_t j = 0; j < cols; ++j) c(i, j) += factor * a(k, j);
    }
  }
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product c(problem.cols, problem.cols);
  timeline.begin("kernels");
  multiply(problem.matrix(), c);
  return c;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "OpenMP",
                            .idea = "Distribute the rows of C among threads",
                            .solve_f64 = ata::solve,
                        });
}
