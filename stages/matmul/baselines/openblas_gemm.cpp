/// \file
/// Baseline: the OpenBLAS product of matrices, on all cores.

#include "../matmul.hpp"

#include <cblas.h>

#include <staircase/openblas.hpp>

namespace matmul {

using staircase::View;

// [multiply]
inline void multiply(View<const double, 2> a, View<const double, 2> b, View<double, 2> c) {
  const blasint l = c.extent(0), m = a.extent(1), n = c.extent(1);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l, n, m, 1, a.data(), m, b.data(), n, 0,
              c.data(), n);
}

inline void multiply(View<const float, 2> a, View<const float, 2> b, View<float, 2> c) {
  const blasint l = c.extent(0), m = a.extent(1), n = c.extent(1);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l, n, m, 1, a.data(), m, b.data(), n, 0,
              c.data(), n);
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  timeline.begin("multiply");
  multiply(problem.a<T>(), problem.b<T>(), c);
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  staircase::use_widest_openblas_kernels(argv);
  return matmul::run_stage(argc, argv,
                           {
                               .title = "OpenBLAS gemm",
                               .idea = "Multiply with OpenBLAS on all cores",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
