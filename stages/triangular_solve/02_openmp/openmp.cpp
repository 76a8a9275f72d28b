/// \file
/// Changed: one parallel region; the threads share out the rows below, and meet once per column.
///          Each of them divides for itself, and one writes the unknown down.
/// Legal:   an iteration of the inner loop writes the rest of its own row only; nobody writes the
///          rest of row i any more when the team divides it.
/// Expect:  n meetings, each longer than the work between two of them unless n is large.
/// Run:     ./climb triangular_solve --stages 01,02
/// Next:    03_blocked meets twice for 64 columns, and reads along rows.

#include "../triangular_solve.hpp"

namespace triangular_solve {

using staircase::Array;
using staircase::View;

// [substitute]
/// Column by column: an unknown, once known, is taken out of all equations below.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> rest, View<T, 1> x) {
  const std::size_t n = l.extent(0);
  for (std::size_t i = 0; i < n; ++i) rest(i) = b(i);
#pragma omp parallel
  for (std::size_t i = 0; i < n; ++i) {
    const T known = rest(i) / l(i, i);
#pragma omp single nowait
    x(i) = known;
#pragma omp for
    for (std::size_t j = i + 1; j < n; ++j) rest(j) -= l(j, i) * known;
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
                                         .idea = "Share the rows below out among threads",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
