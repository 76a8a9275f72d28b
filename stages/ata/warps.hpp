/// \file
/// A tile of C whose elements lie in registers, products of tensor cores of a warp: which they are,
/// and how they are written, or left as sums of a slice and added up.

#pragma once

#include "plan.hpp"

namespace ata {

// [sizes]
constexpr unsigned tile = 128;                // rows and columns of C of a block
constexpr unsigned warps_i = 2, warps_j = 4;  // warps of a block along the rows and columns of C
constexpr unsigned warps = warps_i * warps_j, threads = 32 * warps;
constexpr unsigned held_i = tile / warps_i / 16;  // products of 16 × 8 elements that a warp holds,
constexpr unsigned held_j = tile / warps_j / 8;   // along the rows and the columns of C
constexpr unsigned strip = 16 * warps_i;          // rows of C that are written at a time

using Sums = double[held_i][held_j][4];  // what a lane holds of its warp's part of C
constexpr unsigned held = held_i * held_j * 4;
// [sizes]

// [lane]
/// Where the calling thread's numbers lie in the products of its warp; see mma.hpp.
struct Lane {
  unsigned i = threadIdx.x / 32 / warps_j;  // the warp's place among the warps of the block
  unsigned j = threadIdx.x / 32 % warps_j;
  unsigned group = threadIdx.x % 32 / 4;
  unsigned member = threadIdx.x % 4;

  /// The first row (column) of product m (n) in the tile.
  __device__ unsigned row(unsigned m) const { return m * strip + i * 16; }
  __device__ unsigned column(unsigned n) const { return (j * held_j + n) * 8; }
};
// [lane]

// [write]
/// Rows of C on their way; a row is longer by one place, so that columns meet all banks.
using Leaving = double[strip][tile + 1];

/// Writes a tile of C and its mirror image: threads meet in shared memory and change places, so
/// that neighbours write neighbours both ways.
__device__ void write(const Sums& sum, Task at, Lane lane, Leaving& shared,
                      staircase::View<double, 2> c) {
  const unsigned cols = c.extent(1), i0 = at.p * tile, j0 = at.q * tile;
#pragma unroll
  for (unsigned s = 0; s < held_i; ++s) {
#pragma unroll
    for (unsigned n = 0; n < held_j; ++n)
#pragma unroll
      for (unsigned e = 0; e < 4; ++e)
        shared[lane.i * 16 + lane.group + e / 2 * 8][lane.column(n) + 2 * lane.member + e % 2] =
            sum[s][n][e];
    __syncthreads();
    for (unsigned e = threadIdx.x; e < strip * tile; e += threads) {
      const unsigned i = i0 + s * strip + e / tile, j = j0 + e % tile;
      if (i <= j && j < cols) c(i, j) = shared[e / tile][e % tile];
    }
    for (unsigned e = threadIdx.x; e < strip * tile; e += threads) {
      const unsigned i = i0 + s * strip + e % strip, j = j0 + e / strip;
      if (i < j && j < cols) c(j, i) = shared[e % strip][e / strip];
    }
    __syncthreads();
  }
}
// [write]

// [parts]
/// Leaves a block's sums in `parts`: (part, number that a thread holds, thread).
__device__ void leave(const Sums& sum, staircase::View<double, 3> parts, unsigned part) {
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    parts(part, h, threadIdx.x) = sum[h / (held_j * 4)][h / 4 % held_j][h % 4];
}

/// Adds up the sums of the tiles that are cut into `slices`, one after the other.
__global__ void __launch_bounds__(threads)
    add_up(staircase::View<const Task, 1> tasks, unsigned whole, unsigned slices,
           staircase::View<const double, 3> parts, staircase::View<double, 2> c) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Sums sum = {};
  for (unsigned s = 0; s < slices; ++s)
#pragma unroll
    for (unsigned h = 0; h < held; ++h)
      sum[h / (held_j * 4)][h / 4 % held_j][h % 4] +=
          parts(s * gridDim.x + blockIdx.x, h, threadIdx.x);
  write(sum, tasks(whole + blockIdx.x), Lane(), *reinterpret_cast<Leaving*>(bytes), c);
}

/// Adds up the tiles of a plan that are cut, if any are.
inline void add_up(const Plan& plan, staircase::View<const Task, 1> tasks,
                   staircase::View<const double, 3> parts, staircase::View<double, 2> c,
                   cudaStream_t stream = nullptr) {
  if (plan.left == 0) return;
  add_up<<<plan.left, threads, sizeof(Leaving), stream>>>(tasks, plan.whole, plan.slices, parts, c);
  staircase::check_launch();
}
// [parts]

}  // namespace ata
