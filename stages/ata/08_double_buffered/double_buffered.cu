/// \file
/// Changed: shared memory has four pairs of tiles. The copy engine of the SM fills some pairs while
///          threads use another pair. A warp starts the copies, row by row, and threads continue
///          without waiting. Barriers in shared memory signal which pairs are full and which are
///          empty; they replace the barriers of the block. A is padded with zeros after its last
///          row.
/// Legal:   a pair is used after all its bytes have arrived; it is refilled when no warp needs it.
/// Expect:  loads from global memory overlap the arithmetic. The FP64 units limit the kernel.
/// Run:     ./climb ata --stages 07,08
/// Next:    09_tensor_core uses FP64 units of twice the rate.

#include "../sums.hpp"

#include <staircase/bulk_copy.hpp>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned depth = 16;   // rows of A in shared memory at a time
constexpr unsigned buffers = 4;  // pairs of tiles in shared memory
constexpr unsigned ahead = 2;    // steps from the start of a copy to its use
constexpr unsigned warps = threads / 32;
// [sizes]

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
struct Shared {
  union {
    Tiles a[buffers];
    Staged c;
  };
  staircase::TransferBarrier full[buffers], empty[buffers];
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
/// Clears those columns of tiles that lie beyond the last column of A: no copy writes them.
__device__ void clear_beyond(unsigned cols, TileIndex at, Shared& shared) {
  for (unsigned e = threadIdx.y * side + threadIdx.x; e < buffers * depth * tile; e += threads) {
    Tiles& tiles = shared.a[e / tile / depth];
    const unsigned k = e / tile % depth, m = e % tile;
    if (at.p * tile + m >= cols) tiles.i[k][m] = 0;
    if (at.q * tile + m >= cols) tiles.j[k][m] = 0;
  }
}

/// Waits until the buffer of a step is empty, then starts the copies of tiles of A into it. One
/// warp calls this function; each lane starts the copy of one row.
__device__ void load_tiles(View<const double, 2> a, unsigned step, TileIndex at, Shared& shared) {
  const unsigned lane = (threadIdx.y * side + threadIdx.x) % 32, k = lane % depth;
  const unsigned p = at.p * tile, q = at.q * tile, cols = a.extent(1);
  const unsigned bytes_i = min(tile, cols - p) * sizeof(double);
  const unsigned bytes_j = min(tile, cols - q) * sizeof(double);
  Tiles& tiles = shared.a[step % buffers];
  auto& full = shared.full[step % buffers];
  shared.empty[step % buffers].wait((step / buffers + 1) % 2);
  if (lane == 0) full.arrive_and_expect(depth * (bytes_i + bytes_j));
  __syncwarp();
  if (lane < depth)
    staircase::bulk_copy(tiles.i[k], &a(step * depth + k, p), bytes_i, full);
  else
    staircase::bulk_copy(tiles.j[k], &a(step * depth + k, q), bytes_j, full);
}
// [load_tiles]

// [sum_up]
/// Computes a thread's sums over all rows of A, `depth` rows per step.
__device__ void sum_up(View<const double, 2> a, TileIndex at, const unsigned& warp, Shared& shared,
                       Sums& sum) {
  const unsigned steps = a.extent(0) / depth;
  if (warp < min(ahead, steps)) load_tiles(a, warp, at, shared);
  for (unsigned s = 0; s < steps; ++s) {
    // In each step, another warp starts the copies.
    if (s % warps == warp && s + ahead < steps) load_tiles(a, s + ahead, at, shared);
    shared.full[s % buffers].wait(s / buffers % 2);
    multiply_tiles(shared.a[s % buffers], sum);
    shared.empty[s % buffers].arrive();
  }
}
// [sum_up]

// [multiply]
/// Each block computes a tile of C = AᵀA. It processes 16 rows of A at a time.
__global__ void __launch_bounds__(threads) multiply(View<const double, 2> a, View<double, 2> c) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(bytes);
  const unsigned thread = threadIdx.y * side + threadIdx.x, warp = thread / 32;
  if (thread == 0) staircase::init(shared.full, shared.empty, threads);
  const TileIndex at = tile_of_triangle(blockIdx.x);
  if ((at.q + 1) * tile > a.extent(1)) clear_beyond(a.extent(1), at, shared);
  __syncthreads();

  Sums sum = {};
  sum_up(a, at, warp, shared, sum);
  __syncthreads();
  write(sum, at.p, at.q, shared.c, c);
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "an engine for copies into shared memory");
  staircase::require_shared_memory(sizeof(Shared));
  const unsigned cols = problem.cols;
  const unsigned tiles = (cols + tile - 1) / tile;
  DeviceArray<double, 2> a(padded_rows(problem, depth), padded_cols(problem)), c(cols, cols);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_padded(problem.matrix());

  timeline.begin("kernels");
  const unsigned blocks = tiles * (tiles + 1) / 2;
  staircase::allow_shared_memory(multiply, sizeof(Shared));
  multiply<<<blocks, dim3(side, side), sizeof(Shared)>>>(a, c);
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
                            .title = "Double-buffered",
                            .idea = "Overlap loads and products by a ring of tiles",
                            .needs = "the copy engine of compute capability 9.0",
                            .solve_f64 = ata::solve,
                        });
}
