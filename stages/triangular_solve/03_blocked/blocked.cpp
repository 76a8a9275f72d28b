/// \file
/// Changed: 64 columns at a time: one thread solves the block on the diagonal row by row; then the
///          threads take all its unknowns out of the rows below, each row in one go.
/// Legal:   a row loses the same products, grouped by blocks; the block's unknowns are known
///          behind the end of `single`, and the rows below are done behind the end of `for`.
/// Expect:  the speed at which the threads read the triangle, which now lies along rows.
/// Run:     ./climb triangular_solve --stages 02,03
/// Next:    04_naive_cuda goes back to columns, and makes each a kernel.

#include "../triangular_solve.hpp"

#include <algorithm>

namespace triangular_solve {

using staircase::Array;
using staircase::View;

constexpr std::size_t block = 64;  // columns

// [product]
/// The part of row i of L from column `first` up to `last`, times the unknowns there.
template <typename T>
T product(View<const T, 2> l, View<const T, 1> x, std::size_t i, std::size_t first,
          std::size_t last) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t j = first; j < last; ++j) sum += l(i, j) * x(j);
  return sum;
}
// [product]

// [substitute]
/// Block by block: unknowns, once known, are taken out of all equations below.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> rest, View<T, 1> x) {
  const std::size_t n = l.extent(0);
  for (std::size_t i = 0; i < n; ++i) rest(i) = b(i);
#pragma omp parallel
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t last = std::min(first + block, n);
#pragma omp single
    for (std::size_t i = first; i < last; ++i)
      x(i) = (rest(i) - product<T>(l, x, i, first, i)) / l(i, i);
#pragma omp for
    for (std::size_t j = last; j < n; ++j) rest(j) -= product<T>(l, x, j, first, last);
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
                                         .title = "Blocked",
                                         .idea = "Solve 64 rows, then take them out below",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
