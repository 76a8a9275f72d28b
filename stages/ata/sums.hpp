/// \file
/// A tile of C whose elements lie in registers, 8 × 8 of a thread: which they are, and how they are
/// written.

#pragma once

#include "ata.hpp"

namespace ata {

// [sizes]
constexpr unsigned tile = 128;          // rows and columns of C of a block
constexpr unsigned held = 8;            // rows and columns of C of a thread
constexpr unsigned side = tile / held;  // threads of a block along a side of the tile
constexpr unsigned threads = side * side;
constexpr unsigned strip = 2 * side;  // rows of C that are written at a time

using Sums = double[held][held];  // what a thread holds of C
// [sizes]

// [place]
/// Which row (or column) of the tile is the m-th that a thread holds. They come in pairs, which a
/// thread loads at once; the pairs of neighbouring threads are neighbours and meet all banks.
__device__ unsigned place(unsigned thread, unsigned m) {
  return m / 2 * strip + 2 * thread + m % 2;
}
// [place]

// [write]
/// Rows of C on their way; a row is longer by one place, so that columns meet all banks.
using Leaving = double[strip][tile + 1];

/// Writes a tile of C and its mirror image: threads meet in shared memory and change places, so
/// that neighbours write neighbours both ways.
__device__ void write(const Sums& sum, unsigned p, unsigned q, Leaving& shared,
                      staircase::View<double, 2> c) {
  const unsigned cols = c.extent(1), i0 = p * tile, j0 = q * tile;
  const unsigned thread = threadIdx.y * side + threadIdx.x;
#pragma unroll
  for (unsigned s = 0; s < tile / strip; ++s) {
#pragma unroll
    for (unsigned m = 0; m < 2; ++m)
#pragma unroll
      for (unsigned n = 0; n < held; ++n)
        shared[place(threadIdx.y, m)][place(threadIdx.x, n)] = sum[2 * s + m][n];
    __syncthreads();
    for (unsigned e = thread; e < strip * tile; e += threads) {
      const unsigned i = i0 + s * strip + e / tile, j = j0 + e % tile;
      if (i < cols && j < cols) c(i, j) = shared[e / tile][e % tile];
    }
    for (unsigned e = thread; e < strip * tile && p < q; e += threads) {
      const unsigned i = i0 + s * strip + e % strip, j = j0 + e / strip;
      if (i < cols && j < cols) c(j, i) = shared[e % strip][e / strip];
    }
    __syncthreads();
  }
}
// [write]

}  // namespace ata
