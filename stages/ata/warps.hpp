/// \file
/// A tile of C in registers, in the layout of tensor-core products: the positions of its elements,
/// and the functions that store the tile, write its partial sums, and add partial sums.

#pragma once

#include "plan.hpp"

namespace ata {

// [sizes]
constexpr unsigned tile = 128;                // rows and columns of C per block
constexpr unsigned warps_i = 2, warps_j = 4;  // warps of a block along i (rows of C) and j
constexpr unsigned warps = warps_i * warps_j, threads = 32 * warps;
constexpr unsigned held_i = tile / warps_i / 16;  // products of 16 × 8 elements per warp along i
constexpr unsigned held_j = tile / warps_j / 8;   // products of 16 × 8 elements per warp along j
constexpr unsigned strip = 16 * warps_i;          // rows of C that are stored at a time

using Sums = double[held_i][held_j][4];  // the elements of C of a lane
constexpr unsigned held = held_i * held_j * 4;
// [sizes]

// [lane]
/// The position of the calling thread in its block and in the products of its warp; see mma.hpp.
struct Lane {
  unsigned i = threadIdx.x / 32 / warps_j;  // row and column of the warp in the block
  unsigned j = threadIdx.x / 32 % warps_j;
  unsigned group = threadIdx.x % 32 / 4;
  unsigned member = threadIdx.x % 4;

  /// The index, within the tile, of the first row of product m (or the first column of product n).
  __device__ unsigned row(unsigned m) const { return m * strip + i * 16; }
  __device__ unsigned column(unsigned n) const { return (j * held_j + n) * 8; }
};
// [lane]

// [write]
/// Rows of C before they are stored; one element of padding spreads a column over all banks.
using Staged = double[strip][tile + 1];

/// Stores a tile of C and its transpose. Threads first exchange elements through shared memory, so
/// that both stores are coalesced.
__device__ void write(const Sums& sum, Task at, Lane lane, Staged& shared,
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
/// Writes a block's partial sums to `parts`, indexed by (part, index within the thread, thread).
__device__ void write_partial(const Sums& sum, staircase::View<double, 3> parts, unsigned part) {
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    parts(part, h, threadIdx.x) = sum[h / (held_j * 4)][h / 4 % held_j][h % 4];
}

/// Adds the `splits` partial sums of each split tile in a fixed order, and stores the tile.
__global__ void __launch_bounds__(threads)
    add_up(staircase::View<const Task, 1> tasks, unsigned complete, unsigned splits,
           staircase::View<const double, 3> parts, staircase::View<double, 2> c) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Sums sum = {};
  for (unsigned s = 0; s < splits; ++s)
#pragma unroll
    for (unsigned h = 0; h < held; ++h)
      sum[h / (held_j * 4)][h / 4 % held_j][h % 4] +=
          parts(s * gridDim.x + blockIdx.x, h, threadIdx.x);
  write(sum, tasks(complete + blockIdx.x), Lane(), *reinterpret_cast<Staged*>(bytes), c);
}

/// Launches the addition of partial sums if the plan has split tiles.
inline void add_up(const Plan& plan, staircase::View<const Task, 1> tasks,
                   staircase::View<const double, 3> parts, staircase::View<double, 2> c,
                   cudaStream_t stream = nullptr) {
  if (plan.remaining == 0) return;
  add_up<<<plan.remaining, threads, sizeof(Staged), stream>>>(tasks, plan.complete, plan.splits,
                                                              parts, c);
  staircase::check_launch();
}
// [parts]

}  // namespace ata
