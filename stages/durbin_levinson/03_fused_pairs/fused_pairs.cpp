/// \file
/// Changed: the update of a step and the inner product of the next step are fused into one loop,
///          which updates pairs of elements i and k - 1 - i in place.
/// Legal:   an iteration reads and writes only its own pair, and the inner product multiplies the
///          values that the iteration has just written.
/// Expect:  a step has one barrier instead of two, and loads each element of y once instead of
///          three times.
/// Run:     ./climb durbin_levinson --stages 00-03
/// Next:    04_vectorised processes pairs with vectors.

#include "../durbin_levinson.hpp"

#include <omp.h>

namespace durbin_levinson {

using staircase::View;

// [update]
/// Executes one thread's chunk of the step from y of order k to y of order k + 1; `alpha` is the
/// last element of the new y. Returns the partial sum of this chunk for the next step. Each thread
/// of the team gets a contiguous chunk of pairs; the last chunk includes the middle element.
template <typename T>
T update(const T* r, T* y, std::size_t k, T alpha, std::size_t me, std::size_t team) {
  const std::size_t pairs = (k + 1) / 2;
  T sum = 0;
  for (std::size_t i = pairs * me / team; i < pairs * (me + 1) / team; ++i) {
    const std::size_t j = k - 1 - i;
    const T low = y[i], high = y[j];
    y[i] = low + alpha * high;
    y[j] = high + alpha * low;
    sum += r[j + 2] * y[i];
    if (i < j) sum += r[i + 2] * y[j];
  }
  if (me + 1 < team) return sum;
  y[k] = alpha;
  return sum + r[1] * alpha;
}
// [update]

// [durbin]
/// Durbin's recursion: computes y of order k + 1 from y of order k. Each step appends one element,
/// the reflection coefficient alpha. `sums` starts as a copy of r. An extra element at its end
/// receives the partial sums that the last step computes and no step reads.
template <typename T>
void durbin(const std::vector<T>& r, std::vector<T> sums, View<T, 2> solution) {
  const std::size_t n = solution.extent(1);
  solution(0, 0) = solution(1, 0) = -r[1];
  sums.push_back(0);
  sums[2] -= r[1] * r[1];
#pragma omp parallel
  {
    const std::size_t me = omp_get_thread_num();
    const std::size_t threads = omp_get_num_threads();
    T alpha = -r[1], beta = 1;
    for (std::size_t k = 1; k < n; ++k) {
      beta = (1 - alpha * alpha) * beta;
      alpha = -sums[k + 1] / beta;
      if (me == 0) solution(1, k) = alpha;
      const T part = update(r.data(), solution.data(), k, alpha, me, threads);
#pragma omp atomic
      sums[k + 2] += part;
#pragma omp barrier
    }
  }
}
// [durbin]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> solution(2, problem.n);
  const std::vector<T> r(problem.r.begin(), problem.r.end());
  timeline.begin("kernels");
  durbin<T>(r, r, solution);
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Fused pairs",
                                        .idea = "Fuse both loops over pairs, in place",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
