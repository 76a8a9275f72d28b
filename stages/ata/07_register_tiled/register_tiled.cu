/// \file
/// Changed: tiles of C are 128 × 128 instead of 16 × 16. A thread loads 8 elements of each operand
///          for 64 multiply-adds. Results go through shared memory, 32 rows at a time.
/// Legal:   the sum of an element keeps its order; only the thread that adds it up changes.
/// Expect:  a multiply-add needs an eighth of the loads of stage 06, from both shared and global
///          memory. The FP64 units limit the kernel, apart from waits for loads and at barriers.
/// Run:     ./climb ata --stages 06,07
/// Next:    08_double_buffered loads the next tiles during the multiplication.

#include "../sums.hpp"

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned depth = 16;  // rows of A in shared memory at a time
// [sizes]

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

// [shared]
/// 16 rows of the columns of A that a tile of C needs: `i` for its rows, and `j` for its columns.
struct Tiles {
  double i[depth][tile], j[depth][tile];
};

/// The shared memory of a block: tiles of A, and after the last step a strip of C.
union Shared {
  Tiles a;
  Staged c;
};
// [shared]

// [multiply_tiles]
/// Computes sum += a.iᵀ a.j.
__device__ void multiply_tiles(const Tiles& a, Sums& sum) {
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
    double x[held], y[held];
#pragma unroll
    for (unsigned m = 0; m < held; ++m) {
      x[m] = a.i[k][position(threadIdx.y, m)];
      y[m] = a.j[k][position(threadIdx.x, m)];
    }
    // Alternate the direction: each product shares a factor with the previous one (operand cache).
#pragma unroll
    for (unsigned m = 0; m < held; ++m)
#pragma unroll
      for (unsigned h = 0; h < held; ++h) {
        const unsigned n = m % 2 == 0 ? h : held - 1 - h;
        sum[m][n] += x[m] * y[n];
      }
  }
}
// [multiply_tiles]

// [load_tiles]
/// Loads the tiles of A that begin at row k0. Each thread loads 8 elements of each tile.
__device__ void load_tiles(View<const double, 2> a, unsigned k0, TileIndex at, Tiles& tiles) {
  const unsigned k = threadIdx.y;
#pragma unroll
  for (unsigned m0 = 0; m0 < tile; m0 += side) {
    const unsigned m = m0 + threadIdx.x;
    tiles.i[k][m] = load(a, k0 + k, at.p * tile + m);
    tiles.j[k][m] = load(a, k0 + k, at.q * tile + m);
  }
}
// [load_tiles]

// [multiply]
/// Each block computes a tile of C = AᵀA. It processes 16 rows of A at a time.
__global__ void __launch_bounds__(threads) multiply(View<const double, 2> a, View<double, 2> c) {
  __shared__ Shared shared;
  const unsigned rows = a.extent(0);
  const TileIndex at = tile_of_triangle(blockIdx.x);
  Sums sum = {};
  for (unsigned k0 = 0; k0 < rows; k0 += depth) {
    load_tiles(a, k0, at, shared.a);
    __syncthreads();
    multiply_tiles(shared.a, sum);
    __syncthreads();
  }
  write(sum, at.p, at.q, shared.c, c);
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
  multiply<<<blocks, dim3(side, side)>>>(a, c);
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
                            .title = "Register-tiled",
                            .idea = "Keep 8 × 8 sums per thread in registers",
                            .solve_f64 = ata::solve,
                        });
}
