/// \file
/// Run:  ./climb durbin_levinson_batched --stages 00
/// Next: 01_openmp solves one system per vector lane and distributes systems over threads.

#include "../durbin_levinson_batched.hpp"

namespace durbin_levinson_batched {

using staircase::View;

// [solve_system]
/// Solves a system by Durbin's recursion (Golub and Van Loan, algorithm 4.7.1). A step computes the
/// solution of order k + 1 from the solution of order k. The update is in place, in pairs: y_i and
/// y_(k+1-i) depend only on each other.
template <typename T>
void solve_system(View<const T, 1> r, View<T, 1> y, View<T, 1> alphas) {
  const std::size_t n = y.extent(0);
  T beta = 1;
  for (std::size_t k = 0; k < n; ++k) {
    T sum = r(k + 1);
    for (std::size_t i = 0; i < k; ++i) sum += r(k - i) * y(i);
    const T alpha = -sum / beta;
    for (std::size_t i = 0; 2 * i < k; ++i) {
      const T low = y(i), high = y(k - 1 - i);
      y(i) = low + alpha * high;
      y(k - 1 - i) = high + alpha * low;
    }
    y(k) = alphas(k) = alpha;
    beta *= 1 - alpha * alpha;
  }
}
// [solve_system]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> solution(problem.systems, 2, problem.n);
  const staircase::Elements<T> numbers = rounded<T>(problem);
  const View<const T, 2> r(numbers.data(), {solution.extent(0), solution.extent(2) + 1});
  timeline.begin("kernels");
  for (std::size_t s = 0; s < r.extent(0); ++s)
    solve_system<T>(r.row(s), solution.row(s, 0), solution.row(s, 1));
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(argc, argv,
                                            {
                                                .title = "Original",
                                                .idea = "Solve one system after the other",
                                                .solve_f64 = durbin_levinson_batched::solve<double>,
                                                .solve_f32 = durbin_levinson_batched::solve<float>,
                                            });
}
