/// \file
/// Baseline: potrf of OpenBLAS, on all cores.

#include "../cholesky.hpp"

#include <lapack.h>

#include <algorithm>
#include <staircase/openblas.hpp>

namespace cholesky {

using staircase::View;

// [factorise]
/// Calls LAPACK, which uses column-major order: our lower triangle is its upper triangle.
inline lapack_int factorise(lapack_int n, double* l) {
  lapack_int failed = 0;
  LAPACK_dpotrf("U", &n, l, &n, &failed);
  return failed;
}

inline lapack_int factorise(lapack_int n, float* l) {
  lapack_int failed = 0;
  LAPACK_spotrf("U", &n, l, &n, &failed);
  return failed;
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
  const lapack_int failed = factorise(static_cast<lapack_int>(problem.n), l.data());
  // LAPACK stores no root for the failed pivot, and the element there may be positive.
  if (failed > 0) l(failed - 1, failed - 1) = 0;
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  staircase::use_widest_openblas_kernels(argv);
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "OpenBLAS potrf",
                                 .idea = "Call potrf of OpenBLAS",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
