/// \file
/// Baseline: the symmetric rank-k update of cuBLAS, which computes one triangle of C.
///
/// cuBLAS stores matrices in column-major order, so it reads the rows of A as columns of Aᵀ. The
/// other triangle is copied in a separate phase, so the phase `kernels` measures cuBLAS alone.

#include "../ata.hpp"

#include <staircase/cublas.hpp>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [mirror]
constexpr unsigned tile = 32;

/// Copies elements above the diagonal to their mirror positions, in tiles through shared memory.
__global__ void mirror(View<double, 2> c) {
  __shared__ double transposed[tile][tile + 1];
  const unsigned cols = c.extent(1), i0 = blockIdx.y * tile, j0 = blockIdx.x * tile;
  if (i0 > j0) return;
  for (unsigned y = threadIdx.y; y < tile; y += blockDim.y)
    if (i0 + y < cols && j0 + threadIdx.x < cols)
      transposed[threadIdx.x][y] = c(i0 + y, j0 + threadIdx.x);
  __syncthreads();
  for (unsigned y = threadIdx.y; y < tile; y += blockDim.y)
    if (i0 + threadIdx.x < j0 + y && j0 + y < cols)
      c(j0 + y, i0 + threadIdx.x) = transposed[y][threadIdx.x];
}
// [mirror]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int rows = problem.rows, cols = problem.cols;
  const staircase::CublasHandle handle;
  DeviceArray<double, 2> a(rows, cols), c(cols, cols);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.a.data());

  timeline.begin("kernels");
  const double one = 1, zero = 0;
  check(cublasDsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, cols, rows, &one, a.data(), cols,
                    &zero, c.data(), cols));
  check(cudaDeviceSynchronize());

  timeline.begin("mirror");
  const unsigned tiles = (cols + tile - 1) / tile;
  mirror<<<dim3(tiles, tiles), dim3(tile, 8)>>>(c);
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
                            .title = "cublasDsyrk",
                            .idea = "Compute one triangle with cuBLAS, then copy it",
                            .solve_f64 = ata::solve,
                        });
}
