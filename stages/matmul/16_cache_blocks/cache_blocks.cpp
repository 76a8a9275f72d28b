/// \file
/// Changed: B is divided into blocks of 64 rows, with 512 columns in f64 or 1024 in f32. All rows
///          of C use a block before the next block is read.
/// Legal:   an element of C is still the sum of the same products, in the order of k.
/// Expect:  B comes from the L2 cache. Loads from and stores to the L1 cache limit the program.
/// Run:     ./climb matmul --stages 00,15,16
/// Next:    17_micro_panels keeps a tile of C in registers.

#include "../matmul.hpp"

#include <algorithm>
#include <staircase/simd.hpp>

namespace matmul {

using staircase::View;

// [sizes]
// A block of B has 256 KB, half of an L2 cache of 512 KB. A row of the block has 4 KB.
constexpr std::size_t block_rows = 64;
template <typename T>
constexpr std::size_t block_cols = 4096 / sizeof(T);
// [sizes]

// [multiply]
/// Computes C = A B, one block of B after the other: for each row of C, adds the rows of the block,
/// each multiplied by an element of A.
template <typename T>
struct Multiply {
  template <int bytes>
  [[gnu::always_inline]] static void run(View<const T, 2> a, View<const T, 2> b, View<T, 2> c) {
    const std::size_t rows = c.extent(0), cols = c.extent(1), depth = a.extent(1);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) c(i, j) = 0;
    for (std::size_t j0 = 0; j0 < cols; j0 += block_cols<T>)
      for (std::size_t k0 = 0; k0 < depth; k0 += block_rows) {
        const std::size_t j1 = std::min(j0 + block_cols<T>, cols);
        const std::size_t k1 = std::min(k0 + block_rows, depth);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t k = k0; k < k1; ++k)
            for (std::size_t j = j0; j < j1; ++j) c(i, j) += a(i, k) * b(k, j);
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
                               .title = "Cache blocks",
                               .idea = "Use a block of B while the L2 cache has it",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
