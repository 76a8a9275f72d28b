/// \file
/// A correct solution of ata 04 that differs from the stage: versions.py changes it in many ways.

#include "../ata.hpp"

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned size = 16;  // rows and columns of a tile

/// Each thread loads an element of each tile (zero outside of A) and computes an element of C.
__global__ void product(View<const double, 2> a, View<double, 2> c) {
  __shared__ double left[size][size];
  __shared__ double right[size][size];
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned i = blockIdx.y * size + y;
  const unsigned j = blockIdx.x * size + x;
  const unsigned loaded = blockIdx.y * size + x;
  double sum = 0;
  for (unsigned first = 0; first < rows; first += size) {
    const bool inside = first + y < rows;
    left[y][x] = inside && loaded < cols ? a(first + y, loaded) : 0;
    right[y][x] = inside && j < cols ? a(first + y, j) : 0;
    __syncthreads();
    for (unsigned m = 0; m < size; ++m) sum += left[m][y] * right[m][x];
    __syncthreads();
  }
  if (i < cols && j < cols) c(i, j) = sum;
}

Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned cols = problem.cols;
  DeviceArray<double, 2> a(problem.rows, cols), c(cols, cols);
  Product result(cols, cols);
  timeline.begin("copy in");
  a.copy_from(problem.a.data());
  timeline.begin("kernels");
  const unsigned tiles = (cols + size - 1) / size;
  product<<<dim3(tiles, tiles), dim3(size, size)>>>(a, c);
  check_launch();
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  c.copy_to(result.data());
  return result;
}

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Tiled",
                            .idea = "Share tiles of A within a thread block",
                            .solve_f64 = ata::solve,
                        });
}
