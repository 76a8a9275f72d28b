/// \file
/// Changed: 256 columns of A and rows of B at a time are copied into micro-panels, which are as
///          narrow as a tile of C that fits in registers. A micro-panel of B stays in the L1 cache.
///          The micro-panels of A for a block of C stay in the L2 cache.
/// Legal:   an element of C is the sum of the same products, added in chunks of 256; only rounding
///          errors change.
/// Expect:  the rate is close to a core's peak, since the sums stay in registers for 256 steps.
/// Run:     ./climb matmul --stages 00,15-17
/// Next:    18_shared_panels distributes packing and blocks of C to threads.

#include "../micro_panels.hpp"

#include <algorithm>

namespace matmul {

// [multiply]
/// Computes C = A B: for each chunk of columns of A and rows of B, packs the micro-panels and adds
/// their products to C, block by block.
template <typename T>
void multiply(View<const T, 2> a, View<const T, 2> b, Packed<T>& packed, View<T, 2> c) {
  const std::size_t rows = c.extent(0), cols = c.extent(1), all = a.extent(1);
  for (std::size_t k = 0; k < all; k += depth) {
    const std::size_t end = std::min(k + depth, all);
    for (std::size_t i = 0; i < rows; i += unit) pack_a<T>(a, {k, end}, i, packed);
    for (std::size_t n = k; n < end; n += rows_at_a_time)
      pack_b<T>(b, k, {n, std::min(n + rows_at_a_time, end)}, packed);
    for (std::size_t i = 0; i < rows; i += most_rows)
      for (std::size_t j = 0; j < cols; j += most_cols)
        multiply_block<T>(packed, {i, std::min(i + most_rows, rows)},
                          {j, std::min(j + most_cols, cols)}, end - k, k > 0, c);
  }
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  Packed<T> packed(c.extent(0), c.extent(1));
  timeline.begin("multiply");
  multiply<T>(problem.a<T>(), problem.b<T>(), packed, c);
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Micro-panels",
                               .idea = "Copy panels as narrow as a tile in registers",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
