/// \file
/// The positions of each warp's `mma` products in a tile of L, and loads and stores of a tile.

#pragma once

#include <staircase/factor.hpp>

#include "cholesky.hpp"

namespace cholesky {

using staircase::View;

// [products]
constexpr unsigned tile = 128;                // rows and columns of a thread block
constexpr unsigned warps_i = 2, warps_j = 4;  // warps along rows and columns
constexpr unsigned kept_i = tile / warps_i / 16, kept_j = tile / warps_j / 8;  // products of a warp
constexpr unsigned threads = 32 * warps_i * warps_j;

/// The partially updated elements of a lane in the products of its warp, with the opposite sign.
template <typename T>
using Rest = T[kept_i][kept_j][4];

/// The first row and the first column of product (m, n) of a warp in a tile.
__device__ inline unsigned row_of(unsigned m) {
  return (threadIdx.x / 32 / warps_j * kept_i + m) * 16;
}
__device__ inline unsigned column_of(unsigned n) {
  return (threadIdx.x / 32 % warps_j * kept_j + n) * 8;
}

// [products]

// [load]
/// Two adjacent elements of a row. A lane has two such pairs in each product.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T of[2];
};

/// Loads the elements of a tile. Positions beyond the last row, or beyond column `end` - 1, receive
/// other valid elements of the matrix.
template <typename T>
__device__ void load(View<const T, 2> l, unsigned i0, unsigned j0, unsigned end, Rest<T>& rest) {
  const unsigned last = l.extent(0) - 1;
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
#pragma unroll
      for (unsigned r = 0; r < 4; r += 2) {
        const auto [row, column] = staircase::position_in_c(threadIdx.x % 32, r);
        const unsigned i = min(i0 + row_of(m) + row, last);
        const unsigned j = min(j0 + column_of(n) + column, end - 2);
        const auto pair = reinterpret_cast<const Pair<T>&>(l(i, j));
        rest[m][n][r] = -pair.of[0];
        rest[m][n][r + 1] = -pair.of[1];
      }
}

/// Stores the elements on or below the diagonal, before column `end`. Column j of `l` is column
/// `others` + j of the whole matrix.
template <typename T>
__device__ void store(const Rest<T>& rest, unsigned i0, unsigned j0, unsigned others, unsigned end,
                      View<T, 2> l) {
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
#pragma unroll
      for (unsigned r = 0; r < 4; r += 2) {
        const auto [row, column] = staircase::position_in_c(threadIdx.x % 32, r);
        const unsigned i = i0 + row_of(m) + row, j = j0 + column_of(n) + column;
        const Pair<T> pair = {-rest[m][n][r], others + j < i ? -rest[m][n][r + 1] : 0};
        if (i < l.extent(0) && j < end && others + j <= i)
          reinterpret_cast<Pair<T>&>(l(i, j)) = pair;
      }
}
// [load]

}  // namespace cholesky
