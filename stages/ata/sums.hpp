/// \file
/// A tile of C in registers, 8 × 8 elements per thread: the positions of these elements, and the
/// function that stores the tile.

#pragma once

#include "ata.hpp"

namespace ata {

// [sizes]
constexpr unsigned tile = 128;          // rows and columns of C per block
constexpr unsigned held = 8;            // rows and columns of C per thread
constexpr unsigned side = tile / held;  // threads of a block along a side of the tile
constexpr unsigned threads = side * side;
constexpr unsigned strip = 2 * side;  // rows of C that are stored at a time

using Sums = double[held][held];  // the elements of C of a thread
// [sizes]

// [position]
/// The index, within the tile, of a thread's m-th row (or column). Rows 0 and 1, 2 and 3, … are
/// pairs, loaded at once. Pairs of neighbouring threads are adjacent, so loads use all banks.
__device__ unsigned position(unsigned thread, unsigned m) {
  return m / 2 * strip + 2 * thread + m % 2;
}
// [position]

// [write]
/// Rows of C before they are stored; one element of padding spreads a column over all banks.
using Staged = double[strip][tile + 1];

/// Stores a tile of C and its transpose. Threads first exchange elements through shared memory, so
/// that both stores are coalesced.
__device__ void write(const Sums& sum, unsigned p, unsigned q, Staged& shared,
                      staircase::View<double, 2> c) {
  const unsigned cols = c.extent(1), i0 = p * tile, j0 = q * tile;
  const unsigned thread = threadIdx.y * side + threadIdx.x;
#pragma unroll
  for (unsigned s = 0; s < tile / strip; ++s) {
#pragma unroll
    for (unsigned m = 0; m < 2; ++m)
#pragma unroll
      for (unsigned n = 0; n < held; ++n)
        shared[position(threadIdx.y, m)][position(threadIdx.x, n)] = sum[2 * s + m][n];
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
