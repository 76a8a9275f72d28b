/// \file
/// Changed: one loop visits the slices of C, which are rectangles, instead of all of C at once.
/// Legal:   no iteration (i, j) reads or writes an element that another iteration writes, so
///          iterations may run in any order. The sum over k is not divided and keeps its order.
/// Expect:  the columns of B that a slice needs stay in a cache. But the walk down these columns
///          touches as many pages as in stage 00, so nothing is gained if TLB misses are the limit.
/// Run:     ./climb matmul --stages 00,01
/// Next:    02_serialised copies the data that a slice reads into contiguous memory.

#include "../matmul.hpp"

namespace matmul {

using staircase::View;

// [multiply]
/// Computes a slice of C = A B: element (i, j) is the product of row i of A and column j of B.
template <typename T>
void multiply(Slice s, View<const T, 2> a, View<const T, 2> b, View<T, 2> c) {
  const std::size_t depth = a.extent(1);
  for (std::size_t i = s.i0; i < s.i0 + s.rows; ++i)
    for (std::size_t j = s.j0; j < s.j0 + s.cols; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < depth; ++k) sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    }
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const Slices slices = slices_of(problem, 1, sizeof(T));
  timeline.begin("multiply");
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Slice s = slices(e);
    multiply<T>(s, problem.a<T>(), problem.b<T>(), c);
  }
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Sliced",
                               .idea = "Slice the loops over i and j",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
