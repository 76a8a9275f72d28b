/// \file
/// Changed: a thread whose element is outside A loads the first element of A and stores zero: a
///          selection, not a branch. The loop over a tile always has 16 iterations.
/// Legal:   products with zero do not change a sum, and elements outside C are not stored.
/// Expect:  each multiply-add needs two loads from shared memory and few other instructions.
/// Run:     ./climb ata --stages 04,05
/// Next:    06_symmetric computes only the tiles on and above the diagonal.

#include "../ata.hpp"

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned tile = 16;  // rows and columns of C per block

// [load]
/// Returns element (k, i) of a matrix, or zero if it lies beyond the last row or column.
__device__ double load(View<const double, 2> a, unsigned k, unsigned i) {
  const bool inside = k < a.extent(0) && i < a.extent(1);
  const double value = a(inside ? k : 0, inside ? i : 0);
  return inside ? value : 0;
}
// [load]

// [multiply]
/// Each thread computes one element of C = AᵀA. The block processes 16 rows of A at a time.
__global__ void multiply(View<const double, 2> a, View<double, 2> c) {
  __shared__ double a_i[tile][tile], a_j[tile][tile];
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned i0 = blockIdx.y * tile, i = i0 + threadIdx.y;
  const unsigned j0 = blockIdx.x * tile, j = j0 + threadIdx.x;
  double sum = 0;
  for (unsigned k0 = 0; k0 < rows; k0 += tile) {
    const unsigned k = k0 + threadIdx.y;
    a_i[threadIdx.y][threadIdx.x] = load(a, k, i0 + threadIdx.x);
    a_j[threadIdx.y][threadIdx.x] = load(a, k, j0 + threadIdx.x);
    __syncthreads();
#pragma unroll
    for (unsigned m = 0; m < tile; ++m) sum += a_i[m][threadIdx.y] * a_j[m][threadIdx.x];
    __syncthreads();
  }
  if (i < cols && j < cols) c(i, j) = sum;
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
                            .title = "Unrolled",
                            .idea = "Pad tiles with zeros and unroll their loop",
                            .solve_f64 = ata::solve,
                        });
}
