/// \file
/// Where the products of warps lie in a tile of L, and how a tile is loaded and stored by them.

#pragma once

#include <staircase/factor.hpp>

#include "cholesky.hpp"

namespace cholesky {

using staircase::View;

// [products]
constexpr unsigned tile = 128;                // rows and columns of a block of threads
constexpr unsigned warps_i = 2, warps_j = 4;  // warps along them
constexpr unsigned kept_i = tile / warps_i / 16, kept_j = tile / warps_j / 8;  // products of a warp
constexpr unsigned threads = 32 * warps_i * warps_j;

/// What a lane has of a tile: what is left of the elements of its warp's products, but for the
/// sign.
template <typename T>
using Rest = T[kept_i][kept_j][4];

/// Where the products of a warp are in a tile.
__device__ inline unsigned row_of(unsigned m) {
  return (threadIdx.x / 32 / warps_j * kept_i + m) * 16;
}
__device__ inline unsigned column_of(unsigned n) {
  return (threadIdx.x / 32 % warps_j * kept_j + n) * 8;
}

// [products]

// [load]
/// Two neighbours of a row, of which a lane has two in each product.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T of[2];
};

/// Loads the elements of a tile, in place of those behind the last row or from column `end` on some
/// other.
template <typename T>
__device__ void load(View<const T, 2> l, unsigned i0, unsigned j0, unsigned end, Rest<T>& rest) {
  const unsigned last = l.extent(0) - 1;
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
#pragma unroll
      for (unsigned r = 0; r < 4; r += 2) {
        const auto [row, column] = staircase::place_in_c(threadIdx.x % 32, r);
        const unsigned i = min(i0 + row_of(m) + row, last);
        const unsigned j = min(j0 + column_of(n) + column, end - 2);
        const auto pair = reinterpret_cast<const Pair<T>&>(l(i, j));
        rest[m][n][r] = -pair.of[0];
        rest[m][n][r + 1] = -pair.of[1];
      }
}

/// Stores those that are below the diagonal or on it, before column `end`. So many columns
/// before them have `others`.
template <typename T>
__device__ void store(const Rest<T>& rest, unsigned i0, unsigned j0, unsigned others, unsigned end,
                      View<T, 2> l) {
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
#pragma unroll
      for (unsigned r = 0; r < 4; r += 2) {
        const auto [row, column] = staircase::place_in_c(threadIdx.x % 32, r);
        const unsigned i = i0 + row_of(m) + row, j = j0 + column_of(n) + column;
        const Pair<T> pair = {-rest[m][n][r], others + j < i ? -rest[m][n][r + 1] : 0};
        if (i < l.extent(0) && j < end && others + j <= i)
          reinterpret_cast<Pair<T>&>(l(i, j)) = pair;
      }
}
// [load]

}  // namespace cholesky
