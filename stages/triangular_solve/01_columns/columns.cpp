/// \file
/// Changed: the loops are interchanged. As soon as an unknown has been computed, its contributions
///          are subtracted from all equations below. `rest` contains the updated right-hand sides.
/// Legal:   each equation subtracts the same products as in stage 00, in the same order.
/// Expect:  the time is longer than in stage 00, because the inner loop reads L down a column. But
///          the iterations of this loop are independent.
/// Run:     ./climb triangular_solve --stages 00,01
/// Next:    02_openmp shares the inner loop among threads.

#include "../triangular_solve.hpp"

namespace triangular_solve {

using staircase::Array;
using staircase::View;

// [substitute]
/// Forward substitution column by column: computes an unknown, then subtracts its contribution from
/// all equations below.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> rest, View<T, 1> x) {
  const std::size_t n = l.extent(0);
  for (std::size_t i = 0; i < n; ++i) rest(i) = b(i);
  for (std::size_t i = 0; i < n; ++i) {
    x(i) = rest(i) / l(i, i);
    for (std::size_t j = i + 1; j < n; ++j) rest(j) -= l(j, i) * x(i);
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
                                         .title = "Columns",
                                         .idea = "Subtract each unknown from all rows below",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
