/// \file
/// Changed: the two loops over columns are exchanged. The products of all columns to the left are
///          subtracted from an element in one loop, and each element is written once.
/// Legal:   a column is finished before a column to its right reads it. From each element, the same
///          products are subtracted in the same order as in stage 00.
/// Expect:  this stage is several times as fast as stage 00 if A exceeds the caches: the factors
///          are contiguous in memory, and the partial sum stays in a register.
/// Run:     ./climb cholesky --stages 00,01
/// Next:    02_blocked processes tiles of 64 columns.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace cholesky {

using staircase::View;

// [left]
/// Returns A(i, j) minus the dot product of rows i and j of L over the columns before j.
template <typename T>
T left(View<const T, 2> l, std::size_t i, std::size_t j) {
  T left = l(i, j);
  for (std::size_t k = 0; k < j; ++k) left -= l(i, k) * l(j, k);
  return left;
}
// [left]

// [factorise]
/// Left-looking: updates each column with all columns before it, and then finishes it.
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
                                 .idea = "Update a column once, from all to its left",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
