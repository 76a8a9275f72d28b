/// \file
/// Baseline: OpenBLAS solves each system with a Cholesky factorisation of its dense matrix. Each
/// thread solves systems of its own, so OpenBLAS uses one thread per call.
///
/// A factorisation takes n³ / 3 operations, whereas Durbin's recursion takes 2 n². A separate phase
/// computes the reflection coefficients from y.

#include "../durbin_levinson_batched.hpp"

#include <cblas.h>
#include <lapack.h>

#include <algorithm>
#include <staircase/openblas.hpp>
#include <vector>

namespace durbin_levinson_batched {

using staircase::View;

// [factorise]
inline lapack_int factorise_and_solve(lapack_int n, double* t, double* y) {
  const lapack_int one = 1;
  lapack_int failed = 0;
  LAPACK_dposv("U", &n, &one, t, &n, y, &n, &failed);
  return failed;
}

inline lapack_int factorise_and_solve(lapack_int n, float* t, float* y) {
  const lapack_int one = 1;
  lapack_int failed = 0;
  LAPACK_sposv("U", &n, &one, t, &n, y, &n, &failed);
  return failed;
}

/// Solves the leading `order` equations of a system, or fewer if only a smaller leading submatrix
/// of T is positive definite. Returns the number of solved equations. `t` is scratch space.
template <typename T>
std::size_t solve_system(View<const T, 1> r, std::size_t order, View<T, 1> y,
                         staircase::Elements<T>& t) {
  // Our lower triangle is the upper triangle in LAPACK's column-major order.
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j <= i; ++j) t[i * order + j] = r(i - j);
    y(i) = -r(i + 1);
  }
  const auto failed = factorise_and_solve(static_cast<lapack_int>(order), t.data(), y.data());
  // The equations before the pivot that is not positive have a solution.
  return failed > 0 ? solve_system(r, static_cast<std::size_t>(failed) - 1, y, t) : order;
}
// [factorise]

// [step_down]
/// Executes the recursion in reverse: alpha_k is the last element of y of order k. Undoing the step
/// from order k - 1 to order k gives y of order k - 1. The steps run in f64, because their rounding
/// errors add up. `y` is overwritten.
template <typename T>
void step_down(std::size_t order, View<double, 1> y, View<T, 1> alphas) {
  for (std::size_t k = order; k-- > 0;) {
    const double alpha = y(k), scale = 1 / (1 - alpha * alpha);
    alphas(k) = static_cast<T>(alpha);
    for (std::size_t i = 0; 2 * i < k; ++i) {
      const double low = y(i), high = y(k - 1 - i);
      y(i) = (low - alpha * high) * scale;
      y(k - 1 - i) = (high - alpha * low) * scale;
    }
  }
}
// [step_down]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const std::size_t n = problem.n;
  Solution<T> solution(problem.systems, 2, problem.n);
  const staircase::Elements<T> numbers = rounded<T>(problem);
  const View<const T, 2> r(numbers.data(), {solution.extent(0), n + 1});
  std::vector<std::size_t> orders(problem.systems);
  openblas_set_num_threads(1);

  timeline.begin("kernels");
#pragma omp parallel
  {
    staircase::Elements<T> t(n * n);
#pragma omp for
    for (std::size_t s = 0; s < orders.size(); ++s)
      orders[s] = solve_system<T>(r.row(s), n, {&solution(s, 0, 0), {n}}, t);
  }

  timeline.begin("step down");
#pragma omp parallel
  {
    staircase::Elements<double> y(n);
#pragma omp for
    for (std::size_t s = 0; s < orders.size(); ++s) {
      std::copy_n(&solution(s, 0, 0), n, y.data());
      step_down<T>(orders[s], {y.data(), {n}}, {&solution(s, 1, 0), {n}});
    }
  }
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  staircase::use_widest_openblas_kernels(argv);
  return durbin_levinson_batched::run_stage(argc, argv,
                                            {
                                                .title = "OpenBLAS posv",
                                                .idea = "Factorise each dense matrix with OpenBLAS",
                                                .solve_f64 = durbin_levinson_batched::solve<double>,
                                                .solve_f32 = durbin_levinson_batched::solve<float>,
                                            });
}
