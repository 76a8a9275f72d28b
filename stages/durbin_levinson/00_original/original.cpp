/// \file
/// Run:  ./climb durbin_levinson --stages 00
/// Next: 01_array_contraction stores only the values that a later step reads.

#include "../durbin_levinson.hpp"

namespace durbin_levinson {

using staircase::Array;
using staircase::View;

// [durbin]
/// Durbin's recursion. Column k of y is the solution of order k + 1; column k of sum contains the
/// partial sums of step k. Each step appends one element to y: the reflection coefficient alpha.
template <typename T>
void durbin(const std::vector<T>& r, View<T, 2> y, View<T, 2> sum, View<T, 2> solution) {
  const std::size_t n = y.extent(0);
  T alpha = -r[1], beta = 1;
  y(0, 0) = alpha;
  solution(1, 0) = alpha;
  for (std::size_t k = 1; k < n; ++k) {
    beta = (1 - alpha * alpha) * beta;
    sum(0, k) = r[k + 1];
    for (std::size_t i = 0; i < k; ++i) sum(i + 1, k) = sum(i, k) + r[k - i] * y(i, k - 1);
    alpha = -sum(k, k) / beta;
    for (std::size_t i = 0; i < k; ++i) y(i, k) = y(i, k - 1) + alpha * y(k - 1 - i, k - 1);
    y(k, k) = alpha;
    solution(1, k) = alpha;
  }
  for (std::size_t i = 0; i < n; ++i) solution(0, i) = y(i, n - 1);
}
// [durbin]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> solution(2, problem.n);
  Array<T, 2> y(problem.n, problem.n), sum(problem.n, problem.n);
  const std::vector<T> r(problem.r.begin(), problem.r.end());
  timeline.begin("kernels");
  durbin<T>(r, y, sum, solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Original",
                                        .idea = "Store each order of the recursion in a column",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
