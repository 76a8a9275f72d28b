/// \file
/// Changed: the loops over columns change places. A column gathers what all columns before it take
///          off, and is written once.
/// Legal:   a column is complete before any column to its right gathers from it, and each number
///          loses the same products, in the same order.
/// Expect:  several times faster where A is larger than the caches: rows of L lie along memory, and
///          what is left stays in a register.
/// Run:     ./climb cholesky --stages 00,01
/// Next:    02_blocked takes 64 columns at a time.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace cholesky {

using staircase::View;

// [left]
/// What is left of element (i, j) once the columns before j are taken off.
template <typename T>
T left(View<const T, 2> l, std::size_t i, std::size_t j) {
  T left = l(i, j);
  for (std::size_t k = 0; k < j; ++k) left -= l(i, k) * l(j, k);
  return left;
}
// [left]

// [factorise]
/// Column by column: each gathers what all before it take off.
template <typename T>
void factorise(View<T, 2> l) {
  const std::size_t n = l.extent(0);
  for (std::size_t j = 0; j < n; ++j) {
    l(j, j) = std::sqrt(left<T>(l, j, j));
    for (std::size_t i = j + 1; i < n; ++i) l(i, j) = left<T>(l, i, j) / l(j, j);
  }
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Solution<T> l(problem.n, problem.n);
  timeline.begin("copy in");
  std::copy_n(problem.a<T>().data(), problem.n * problem.n, l.data());
  timeline.begin("kernels");
  factorise<T>(l);
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Left-looking",
                                 .idea = "Gather from all columns before, write once",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
