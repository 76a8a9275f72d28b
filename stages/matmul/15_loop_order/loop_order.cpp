/// \file
/// Changed: the loops over j and k are exchanged. The innermost loop walks along a row of B and a
///          row of C, and the compiler vectorises it.
/// From:    00_original
/// Legal:   an element of C is still the sum of the same products, in the order of k.
/// Expect:  the reads of B, which come from the L3 cache for each row of C, limit the program.
/// Run:     ./climb matmul --stages 00,15
/// Next:    16_cache_blocks uses a block of B in the L2 cache for all rows of C.

#include "../matmul.hpp"

#include <staircase/simd.hpp>

namespace matmul {

using staircase::View;

// [multiply]
/// Computes C = A B row by row: adds rows of B, each multiplied by an element of A, to a row of C.
template <typename T>
struct Multiply {
  template <int bytes>
  [[gnu::always_inline]] static void run(View<const T, 2> a, View<const T, 2> b, View<T, 2> c) {
    const std::size_t rows = c.extent(0), cols = c.extent(1), depth = a.extent(1);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) c(i, j) = 0;
      for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t j = 0; j < cols; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
};
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  using Kernel =
      staircase::ForWidestVectors<Multiply<T>, View<const T, 2>, View<const T, 2>, View<T, 2>>;
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  timeline.begin("multiply");
  Kernel::function()(problem.a<T>(), problem.b<T>(), c);
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Loop order",
                               .idea = "Exchange two loops, so that rows are read",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
