/// \file
/// Changed: two rows that swap roles replace the array y, and a local variable replaces sum.
/// Legal:   only step k + 1 reads column k of y, and only iteration i reads element i of sum.
/// Expect:  memory use shrinks from 2 n² to 2 n values, which fit into the caches and are
///          contiguous. The dependency chain of additions becomes the limit.
/// Run:     ./climb durbin_levinson --stages 00,01
/// Next:    02_openmp distributes both loops over threads.

#include "../durbin_levinson.hpp"

namespace durbin_levinson {

using staircase::Array;
using staircase::View;

// [durbin]
/// Durbin's recursion: computes y of order k + 1 from y of order k. Each step appends one element,
/// the reflection coefficient alpha.
template <typename T>
void durbin(const std::vector<T>& r, View<T, 1> y, View<T, 1> next, View<T, 2> solution) {
  const std::size_t n = y.extent(0);
  T alpha = -r[1], beta = 1;
  y(0) = alpha;
  solution(1, 0) = alpha;
  for (std::size_t k = 1; k < n; ++k) {
    beta = (1 - alpha * alpha) * beta;
    T sum = r[k + 1];
    for (std::size_t i = 0; i < k; ++i) sum += r[k - i] * y(i);
    alpha = -sum / beta;
    for (std::size_t i = 0; i < k; ++i) next(i) = y(i) + alpha * y(k - 1 - i);
    next(k) = alpha;
    solution(1, k) = alpha;
    std::swap(y, next);
  }
  for (std::size_t i = 0; i < n; ++i) solution(0, i) = y(i);
}
// [durbin]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> solution(2, problem.n);
  Array<T, 2> rows(2, problem.n);
  const std::vector<T> r(problem.r.begin(), problem.r.end());
  timeline.begin("kernels");
  durbin<T>(r, rows.row(0), rows.row(1), solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Array contraction",
                                        .idea = "Contract the arrays to two rows and a sum",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
