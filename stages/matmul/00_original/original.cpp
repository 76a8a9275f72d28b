/// \file
/// Run:  ./climb matmul --stages 00
/// Next: 01_sliced computes C slice by slice.

#include "../matmul.hpp"

namespace matmul {

using staircase::View;

// [multiply]
/// Computes C = A B: element (i, j) is the inner product of row i of A and column j of B.
template <typename T>
void multiply(View<const T, 2> a, View<const T, 2> b, View<T, 2> c) {
  const std::size_t rows = c.extent(0), cols = c.extent(1), depth = a.extent(1);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
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
  timeline.begin("multiply");
  multiply<T>(problem.a<T>(), problem.b<T>(), c);
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Original",
                               .idea = "Compute C by a triple loop, one sum each",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
