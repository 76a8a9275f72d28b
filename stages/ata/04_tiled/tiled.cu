/// \file
/// Changed: the threads of a block together load two tiles of 16 rows of A into shared memory.
/// Legal:   strip mining keeps the order of the sum. A barrier separates the writes to a tile from
///          its reads, and another barrier separates its reads from the writes of the next tile.
/// Expect:  at best, 1/16 of the global loads remain; loads from shared memory become the limit.
/// Run:     ./climb ata --stages 03,04
/// Next:    05_unrolled pads every tile, so that the loop over a tile needs no tests.

#include "../ata.hpp"

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned tile = 16;  // rows and columns of C per block

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
    if (k < rows && i0 + threadIdx.x < cols) a_i[threadIdx.y][threadIdx.x] = a(k, i0 + threadIdx.x);
    if (k < rows && j0 + threadIdx.x < cols) a_j[threadIdx.y][threadIdx.x] = a(k, j0 + threadIdx.x);
    __syncthreads();
    if (i < cols && j < cols)
      for (unsigned m = 0; m < min(tile, rows - k0); ++m)
        sum += a_i[m][threadIdx.y] * a_j[m][threadIdx.x];
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
                            .title = "Tiled",
                            .idea = "Share tiles of A through shared memory",
                            .solve_f64 = ata::solve,
                        });
}
