/// \file
/// Run:  ./climb triangular_solve --stages 00
/// Next: 01_columns interchanges the loops, which makes the inner loop parallel.

#include "../triangular_solve.hpp"

namespace triangular_solve {

using staircase::View;

// [substitute]
/// Forward substitution row by row: sums up the contributions of the earlier unknowns, subtracts
/// the sum from the right-hand side and divides by the pivot.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x) {
  const std::size_t n = l.extent(0);
  for (std::size_t i = 0; i < n; ++i) {
    T sum = 0;
    for (std::size_t j = 0; j < i; ++j) sum += l(i, j) * x(j);
    x(i) = (b(i) - sum) / l(i, i);
  }
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> x(problem.rhs, problem.n);
  timeline.begin("kernels");
  for (std::size_t side = 0; side < x.extent(0); ++side)
    substitute<T>(problem.l<T>(), problem.b<T>().row(side), x.row(side));
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Original",
                                         .idea = "Compute the unknowns row by row, one sum each",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
