/// \file
/// Run:  ./climb cholesky --stages 00
/// Next: 01_left_looking exchanges the loops, so that each column is written once.

#include "../cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace cholesky {

using staircase::View;

// [factorise]
/// Right-looking: finishes each column and subtracts its products from all columns to its right.
template <typename T>
void factorise(View<T, 2> l) {
  const std::size_t n = l.extent(0);
  for (std::size_t k = 0; k < n; ++k) {
    l(k, k) = std::sqrt(l(k, k));
    for (std::size_t i = k + 1; i < n; ++i) l(i, k) /= l(k, k);
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = k + 1; j <= i; ++j) l(i, j) -= l(i, k) * l(j, k);
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
                                 .title = "Original",
                                 .idea = "Finish a column, update all to its right",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
