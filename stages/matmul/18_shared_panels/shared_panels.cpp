/// \file
/// Changed: each thread packs a part of a chunk, and then computes some of the blocks of C.
/// Legal:   micro-panels are disjoint, and so are the blocks of C. Barriers separate packing from
///          the products, and the products from the next chunk.
/// Expect:  the time of stage 17 is divided by the number of cores.
/// Run:     ./climb matmul --stages 03,17,18,baseline_openblas_gemm
/// Next:    nothing; this is the last stage.

#include "../micro_panels.hpp"

#include <omp.h>
#include <algorithm>

namespace matmul {

// [rows_of_block]
/// Number of rows of a block of C: smaller for a small C, so that each thread gets several blocks.
inline std::size_t rows_of_block(std::size_t rows, std::size_t cols, std::size_t threads) {
  const std::size_t columns_of_blocks = (cols + most_cols - 1) / most_cols;
  return std::clamp(rows * columns_of_blocks / (8 * threads) / unit * unit, unit, most_rows);
}
// [rows_of_block]

// [multiply]
/// Computes C = A B: for each chunk of columns of A and rows of B, packs the micro-panels, and adds
/// their products to C, block by block. OpenMP distributes the packing and the blocks of C.
template <typename T>
void multiply(View<const T, 2> a, View<const T, 2> b, Packed<T>& packed, View<T, 2> c) {
  const std::size_t rows = c.extent(0), cols = c.extent(1), all = a.extent(1);
  const std::size_t height = rows_of_block(rows, cols, omp_get_max_threads());
#pragma omp parallel
  for (std::size_t k = 0; k < all; k += depth) {
    const std::size_t end = std::min(k + depth, all);
#pragma omp for nowait
    for (std::size_t i = 0; i < rows; i += unit) pack_a<T>(a, {k, end}, i, packed);
#pragma omp for
    for (std::size_t n = k; n < end; n += rows_at_a_time)
      pack_b<T>(b, k, {n, std::min(n + rows_at_a_time, end)}, packed);
#pragma omp for collapse(2) schedule(dynamic)
    for (std::size_t i = 0; i < rows; i += height)
      for (std::size_t j = 0; j < cols; j += most_cols)
        multiply_block<T>(packed, {i, std::min(i + height, rows)},
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
                               .title = "Shared panels",
                               .idea = "Let all threads pack and use the same panels",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
