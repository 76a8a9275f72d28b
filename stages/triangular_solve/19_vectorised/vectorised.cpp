/// \file
/// Changed: a thread multiplies four rows at a time by the new unknowns, in the widest vectors of
///          the processor. The sums of the four rows stay in registers.
/// From:    03_blocked
/// Legal:   the updates of different rows are independent, and the terms of each sum are added up
///          in another order.
/// Expect:  products no longer wait for additions, so one core reads the triangle as fast as memory
///          delivers it.
/// Run:     ./climb triangular_solve --stages 03,19
/// Next:    20_pipelined_rows lets each thread read whole rows and replaces the barriers.

#include "../four_rows.hpp"
#include "../triangular_solve.hpp"

#include <algorithm>

namespace triangular_solve {

using staircase::View;

// [substitute]
/// Blocked forward substitution: solves 64 equations, then subtracts the contributions of their
/// unknowns from all equations below.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x) {
  static const auto update =
      staircase::ForWidestVectors<Update<T>, const Rows<T>&, std::size_t>::function();
  static const auto solve_rows = staircase::ForWidestVectors<Solve<T>, const Rows<T>&>::function();
  const std::size_t n = l.extent(0);
  std::copy_n(b.data(), n, x.data());
#pragma omp parallel
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t last = std::min(first + block, n);
#pragma omp single
    solve_rows({l.data(), n, first, last, first, x.data()});
#pragma omp for
    for (std::size_t j = last; j < n; j += jammed)
      update({l.data(), n, j, std::min(j + jammed, n), first, x.data()}, last);
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
                                         .title = "Vectorised",
                                         .idea = "Multiply four rows at a time in wide vectors",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
