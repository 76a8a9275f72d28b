/// \file
/// Baseline: the general matrix product of cuBLAS, which does not use the symmetry of C.
///
/// cuBLAS stores matrices in column-major order, so it reads the rows of A as columns of Aᵀ.

#include "../ata.hpp"

#include <staircase/cublas.hpp>

namespace ata {

using staircase::check;
using staircase::DeviceArray;

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int rows = problem.rows, cols = problem.cols;
  const staircase::CublasHandle handle;
  DeviceArray<double, 2> a(rows, cols), c(cols, cols);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.a.data());

  timeline.begin("kernels");
  const double one = 1, zero = 0;
  check(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, cols, cols, rows, &one, a.data(), cols,
                    a.data(), cols, &zero, c.data(), cols));
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "cublasDgemm",
                            .idea = "Compute the general product with cuBLAS",
                            .solve_f64 = ata::solve,
                        });
}
