/// \file
/// Baseline: OpenBLAS solves the equations with a Cholesky factorisation, as for any positive
/// definite matrix.
///
/// The factorisation takes n³ / 3 operations, whereas Durbin's recursion takes 2 n². A separate
/// phase computes the reflection coefficients from y.

#include "../step_down.hpp"

#include <lapack.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <staircase/error.hpp>
#include <staircase/openblas.hpp>
#include <string>

namespace durbin_levinson {

using staircase::Array;
using staircase::View;

// [sizes]
constexpr std::int64_t largest = 15000;  // order; for higher orders, n³ operations take minutes
// [sizes]

// [factorise]
/// Solves T y = -r by factorising T = L Lᵀ. Returns the order of the largest leading submatrix of T
/// that is positive definite.
std::size_t factorise_and_solve(std::span<const double> r, View<double, 2> t, View<double, 1> y) {
  const std::size_t n = t.extent(0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) t(i, j) = r[i - j];
    y(i) = -r[i + 1];
  }
  const lapack_int order = n;
  const lapack_int one = 1;
  lapack_int failed = 0;
  // LAPACK stores matrices by columns: our lower triangle is LAPACK's upper triangle.
  LAPACK_dposv("U", &order, &one, t.data(), &order, y.data(), &order, &failed);
  return failed > 0 ? failed - 1 : order;
}
// [factorise]

// [solve]
Solution<double> solve(const Problem& problem, staircase::Timeline& timeline) {
  if (problem.n > largest)
    throw staircase::BadInput("n = " + std::to_string(problem.n) +
                              " is too large for a dense matrix; this baseline takes at most " +
                              std::to_string(largest));
  timeline.begin("allocate");
  Solution<double> solution(2, problem.n);
  Array<double, 2> t(problem.n, problem.n);
  Array<double, 1> y(problem.n);
  timeline.begin("kernels");
  std::size_t order = factorise_and_solve(problem.r, t, solution.row(0));
  timeline.begin("step down");
  std::copy_n(solution.data(), y.extent(0), y.data());
  if (order < y.extent(0) || !(std::abs(y(order - 1)) < 1)) {
    // The coefficient of this order is the first that is too large, and its step cannot be undone.
    // The coefficient stays NaN, its initial value, and the harness reports it.
    --order;
    if (order > 0) factorise_and_solve(problem.r, {t.data(), {order, order}}, {y.data(), {order}});
  }
  step_down({y.data(), {order}}, solution.row(1));
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  staircase::use_widest_openblas_kernels(argv);
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "OpenBLAS dposv",
                                        .idea = "Solve by a dense Cholesky factorisation",
                                        .solve_f64 = durbin_levinson::solve,
                                    });
}
