/// \file
/// Changed: every thread executes all steps and adds its partial sum of the inner product to the
///          sum of the step; each thread has its own alpha and beta.
/// Legal:   the order of additions changes only the rounding; elements of a row are independent.
///          One barrier separates the inner product from the update, and another one separates the
///          update from the next step.
/// Expect:  a step has two barriers. A barrier takes the same time for each k, so short rows take
///          longer than in stage 01.
/// Run:     ./climb durbin_levinson --stages 00-02
/// Next:    03_fused_pairs needs one barrier and one pass per step.

#include "../durbin_levinson.hpp"

namespace durbin_levinson {

using staircase::Array;
using staircase::View;

// [durbin]
/// Durbin's recursion: computes y of order k + 1 from y of order k. Each step appends one element,
/// the reflection coefficient alpha. `sums`, a copy of r, receives the partial sums of the threads.
template <typename T>
void durbin(const std::vector<T>& r, std::vector<T> sums, View<T, 2> rows, View<T, 2> solution) {
  const std::size_t n = rows.extent(1);
#pragma omp parallel
  {
    View<T, 1> y = rows.row(0), next = rows.row(1);
    T alpha = -r[1], beta = 1;
#pragma omp single
    {
      y(0) = alpha;
      solution(1, 0) = alpha;
    }
    for (std::size_t k = 1; k < n; ++k) {
      beta = (1 - alpha * alpha) * beta;
      T sum = 0;
#pragma omp for schedule(static) nowait
      for (std::size_t i = 0; i < k; ++i) sum += r[k - i] * y(i);
#pragma omp atomic
      sums[k + 1] += sum;
#pragma omp barrier
      alpha = -sums[k + 1] / beta;
#pragma omp master
      {
        next(k) = alpha;
        solution(1, k) = alpha;
      }
#pragma omp for schedule(static)
      for (std::size_t i = 0; i < k; ++i) next(i) = y(i) + alpha * y(k - 1 - i);
      std::swap(y, next);
    }
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < n; ++i) solution(0, i) = y(i);
  }
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
  durbin<T>(r, r, rows, solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "OpenMP",
                                        .idea = "Distribute both loops over one team of threads",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
