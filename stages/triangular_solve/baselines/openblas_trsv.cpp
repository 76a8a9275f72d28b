/// \file
/// Baseline: the triangular solve of OpenBLAS on the CPU. The program calls trsv for one right-hand
/// side and trsm for several. The right-hand sides are rows, so trsm solves x Lᵀ = b.

#include "../triangular_solve.hpp"

#include <cblas.h>

#include <algorithm>
#include <staircase/openblas.hpp>

namespace triangular_solve {

using staircase::View;

// [substitute]
inline void substitute(View<const double, 2> l, View<double, 1> x) {
  const blasint n = l.extent(0);
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l.data(), n, x.data(), 1);
}

inline void substitute(View<const float, 2> l, View<float, 1> x) {
  const blasint n = l.extent(0);
  cblas_strsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l.data(), n, x.data(), 1);
}

inline void substitute(View<const double, 2> l, View<double, 2> x) {
  const blasint n = l.extent(0), rhs = x.extent(0);
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rhs, n, 1, l.data(),
              n, x.data(), n);
}

inline void substitute(View<const float, 2> l, View<float, 2> x) {
  const blasint n = l.extent(0), rhs = x.extent(0);
  cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rhs, n, 1, l.data(),
              n, x.data(), n);
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> x(problem.rhs, problem.n);
  timeline.begin("kernels");
  std::copy_n(problem.b<T>().data(), problem.rhs * problem.n, x.data());
  if (problem.rhs == 1)
    substitute(problem.l<T>(), x.row(0));
  else
    substitute(problem.l<T>(), x);
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  staircase::use_widest_openblas_kernels(argv);
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "OpenBLAS trsv, trsm",
                                         .idea = "Call trsv or trsm of OpenBLAS on the CPU",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
