/// \file
/// Changed: the grid has one block for each tile on or above the diagonal, and the index of a block
///          gives its tile. A tile above the diagonal is stored a second time, transposed.
/// Legal:   c(j, i) adds the same products as c(i, j) in the same order, so both are equal bit for
///          bit.
/// Expect:  the kernel takes half the time, because n (n + 1) / 2 of the n² tiles remain.
/// Run:     ./climb ata --stages 05,06
/// Next:    07_register_tiled computes 64 elements per thread instead of one.

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

// [triangle]
/// Row p and column q of a tile of the upper triangle; tiles are indexed column by column.
struct TileIndex {
  unsigned p, q;
};

/// Returns the tile at an index. Column q has q + 1 tiles and begins at index q (q + 1) / 2. `sqrt`
/// is exact for perfect squares and rounds no other root to an integer.
__device__ TileIndex tile_of_triangle(unsigned index) {
  const unsigned q = (sqrt(8.0 * index + 1) - 1) / 2;
  return {index - q * (q + 1) / 2, q};
}
// [triangle]

// [multiply]
/// Each thread computes one element of C = AᵀA. The block processes 16 rows of A at a time.
__global__ void multiply(View<const double, 2> a, View<double, 2> c) {
  __shared__ double a_i[tile][tile], a_j[tile][tile], transposed[tile][tile + 1];
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const auto [p, q] = tile_of_triangle(blockIdx.x);
  const unsigned i0 = p * tile, i = i0 + threadIdx.y;
  const unsigned j0 = q * tile, j = j0 + threadIdx.x;
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
  if (p == q) return;

  // Threads exchange sums, so that the store to the transposed tile is coalesced, too.
  transposed[threadIdx.x][threadIdx.y] = sum;
  __syncthreads();
  if (j0 + threadIdx.y < cols && i0 + threadIdx.x < cols)
    c(j0 + threadIdx.y, i0 + threadIdx.x) = transposed[threadIdx.y][threadIdx.x];
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned cols = problem.cols;
  const unsigned tiles = (cols + tile - 1) / tile;
  DeviceArray<double, 2> a(problem.rows, cols), c(cols, cols);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.a.data());

  timeline.begin("kernels");
  const unsigned blocks = tiles * (tiles + 1) / 2;
  multiply<<<blocks, dim3(tile, tile)>>>(a, c);
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
                            .title = "Symmetric",
                            .idea = "Compute only the upper triangle of C",
                            .solve_f64 = ata::solve,
                        });
}
