/// \file
/// Changed: 64 unknowns are computed at a time. One thread solves the diagonal block row by row.
///          Then the threads multiply the rows below by these unknowns and subtract the sums.
/// Legal:   each row subtracts the same products, grouped by blocks. The unknowns of a block are
///          complete at the end of `single`, and the rows below are updated at the end of `for`.
/// Expect:  the program needs only the time to read the triangle, now along its rows.
/// Run:     ./climb triangular_solve --stages 02,03
/// Next:    04_naive_cuda returns to columns and launches a kernel for each of them.

#include "../triangular_solve.hpp"

#include <algorithm>

namespace triangular_solve {

using staircase::Array;
using staircase::View;

constexpr std::size_t block = 64;  // columns per group

// [product]
/// The sum of the products of row i of L with the unknowns of columns `first` to `last` - 1.
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
/// Blocked forward substitution: solves 64 equations, then subtracts the contributions of their
/// unknowns from all equations below.
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
                                         .idea = "Solve 64 rows, then update all rows below",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
