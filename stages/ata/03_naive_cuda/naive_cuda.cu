/// \file
/// From:    01_openmp
/// Changed: both loops over C become the grid of threads. The loop over the rows of A stays in
///          the thread, which keeps its sum in a register.
/// Legal:   elements of C are independent; each is the sum of the same products in the same order.
/// Expect:  the L1 cache limits the kernel, because each multiply-add needs two loads.
/// Run:     ./climb ata --stages 00-03
/// Next:    04_tiled shares loaded elements among the threads of a block.

#include "../ata.hpp"

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned tile = 16;  // rows and columns of C per block

// [multiply]
/// Each thread computes one element of C = AᵀA. Neighbouring threads have neighbouring columns j.
__global__ void multiply(View<const double, 2> a, View<double, 2> c) {
  const std::size_t rows = a.extent(0), cols = a.extent(1);
  const unsigned i = blockIdx.y * tile + threadIdx.y;
  const unsigned j = blockIdx.x * tile + threadIdx.x;
  if (i >= cols || j >= cols) return;
  double sum = 0;
  for (std::size_t k = 0; k < rows; ++k) sum += a(k, i) * a(k, j);
  c(i, j) = sum;
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned cols = problem.cols;
  DeviceArray<double, 2> a(problem.rows, cols), c(cols, cols);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.a.data());

  timeline.begin("kernels");
  const unsigned tiles = (cols + tile - 1) / tile;
  multiply<<<dim3(tiles, tiles), dim3(tile, tile)>>>(a, c);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Naive CUDA",
                            .idea = "Compute each element of C in its own thread",
                            .solve_f64 = ata::solve,
                        });
}
