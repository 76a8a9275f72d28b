/// \file
/// Changed: in one parallel region, threads share the rows below and wait for each other at one
///          barrier per column. Each thread computes the quotient, and one thread stores it.
/// Legal:   an iteration of the inner loop writes only its row's element of `rest`. When the
///          threads divide element i, no thread writes this element any more.
/// Expect:  there are n barriers. Unless n is large, a barrier takes longer than the work between
///          two barriers.
/// Run:     ./climb triangular_solve --stages 01,02
/// Next:    03_blocked has two barriers for 64 columns and reads L along its rows.

#include "../triangular_solve.hpp"

namespace triangular_solve {

using staircase::Array;
using staircase::View;

// [substitute]
/// Forward substitution column by column: the threads share the equations below each unknown.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> rest, View<T, 1> x) {
  const std::size_t n = l.extent(0);
  for (std::size_t i = 0; i < n; ++i) rest(i) = b(i);
#pragma omp parallel
  for (std::size_t i = 0; i < n; ++i) {
    const T computed = rest(i) / l(i, i);
#pragma omp single nowait
    x(i) = computed;
#pragma omp for
    for (std::size_t j = i + 1; j < n; ++j) rest(j) -= l(j, i) * computed;
  }
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Array<T, 1> rest(problem.n);
  Solution<T> x(problem.rhs, problem.n);
  timeline.begin("kernels");
  for (std::size_t side = 0; side < x.extent(0); ++side)
    substitute<T>(problem.l<T>(), problem.b<T>().row(side), rest, x.row(side));
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "OpenMP",
                                         .idea = "Share the rows below among OpenMP threads",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
