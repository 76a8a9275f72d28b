/// \file
/// The operations of warps on tiles of 128 × 128 elements. A warp keeps 16 rows of a tile in
/// registers, and reads factors from squares of 16 × 16 elements in shared memory.
///
/// A tile is divided into sub-tiles of 16 columns (`subtiles`). Each stage defines the layout of a
/// square as a type with two functions `own`. These functions read and write the two adjacent
/// elements of a row that belong to the calling lane, in a block of eight rows and eight columns.

#pragma once

#include <cstddef>
#include <staircase/factor.hpp>

#include "cholesky.hpp"

namespace cholesky {

using staircase::Factor;
using staircase::factor;
using staircase::multiply_add;

// [sizes]
constexpr unsigned tile = 128;               // rows and columns of a thread block
constexpr unsigned depth = 16;               // columns of a sub-tile, and rows of a warp
constexpr unsigned subtiles = tile / depth;  // sub-tiles of a tile
constexpr unsigned warps = subtiles;         // warps that multiply
constexpr unsigned all_lanes = 0xFFFFFFFF;

/// The partially updated elements of a lane in the 16 rows of its warp, with the opposite sign.
template <typename T>
using Rest = T[tile / 8][4];

/// The position of a tile, counted in tiles.
struct Tile {
  unsigned i, j;
};

/// Returns tile `number`. Tiles are counted column by column, from the diagonal down.
__device__ inline Tile tile_of(unsigned number, unsigned tiles) {
  unsigned j = 0;
  for (; number >= tiles - j; ++j) number -= tiles - j;
  return {j + number, j};
}
// [sizes]

// [pairs]
/// Two adjacent elements of a row. As factors, a lane uses columns 2m and 2m + 1 of eight instead
/// of columns m and m + 4 (mma.hpp). Its updated elements are thus factors without a move.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T of[2];
};

template <typename T>
__device__ Pair<T>& pair(T& first) {
  return reinterpret_cast<Pair<T>&>(first);
}
template <typename T>
__device__ Pair<T> pair(const T& first) {
  return reinterpret_cast<const Pair<T>&>(first);
}

__device__ inline unsigned own_row() { return threadIdx.x % 32 / 4; }
__device__ inline unsigned own_pair() { return threadIdx.x % 4; }

/// Loads 16 × 8 elements as a left factor, from registers or from a square.
template <typename T>
__device__ void load_left(const T (&rest)[4], Factor<T> (&x)[4]) {
  for (unsigned r = 0; r < 4; ++r) x[r] = factor(rest[r % 2 * 2 + r / 2]);
}
template <typename T, typename Square>
__device__ void load_left(const Square& square, unsigned k, Factor<T> (&x)[4]) {
  const Pair<T> upper = square.own(0, k), lower = square.own(1, k);
  load_left({upper.of[0], upper.of[1], lower.of[0], lower.of[1]}, x);
}

/// Loads 8 × 8 elements, transposed, as a right factor.
template <typename T, typename Square>
__device__ void load_right(const Square& square, unsigned n, unsigned k, Factor<T> (&y)[2]) {
  const Pair<T> numbers = square.own(n, k);
  for (unsigned r = 0; r < 2; ++r) y[r] = factor(numbers.of[r]);
}
// [pairs]

// [load]
/// Loads 16 rows of a tile.
template <typename T>
__device__ void load(const T* first, std::size_t stride, Rest<T>& rest) {
#pragma unroll
  for (unsigned n = 0; n < tile / 8; ++n)
#pragma unroll
    for (unsigned r = 0; r < 4; r += 2) {
      const Pair<T> own = pair(first[(own_row() + r * 4) * stride + n * 8 + own_pair() * 2]);
      rest[n][r] = -own.of[0];
      rest[n][r + 1] = -own.of[1];
    }
}

/// Stores the first 16 columns of the warp's `rest` as its 16 rows of a sub-tile.
template <typename T>
__device__ void store(const Rest<T>& rest, T* first, std::size_t stride) {
#pragma unroll
  for (unsigned n = 0; n < 2; ++n)
#pragma unroll
    for (unsigned r = 0; r < 4; r += 2) {
      const Pair<T> own = {rest[n][r], rest[n][r + 1]};
      pair(first[(own_row() + r * 4) * stride + n * 8 + own_pair() * 2]) = own;
    }
}
template <typename T, typename Square>
__device__ void store(const Rest<T>& rest, Square& square) {
#pragma unroll
  for (unsigned n = 0; n < 2; ++n)
#pragma unroll
    for (unsigned r = 0; r < 4; r += 2) {
      const Pair<T> own = {rest[n][r], rest[n][r + 1]};
      square.own(r / 2, n, own);
    }
}

/// Loads 16 rows of a sub-tile from a square.
template <typename T, typename Square>
__device__ void load(const Square& square, Rest<T>& rest) {
#pragma unroll
  for (unsigned n = 0; n < 2; ++n)
#pragma unroll
    for (unsigned r = 0; r < 4; r += 2) {
      const Pair<T> own = square.own(r / 2, n);
      rest[n][r] = own.of[0];
      rest[n][r + 1] = own.of[1];
    }
}

/// A warp copies a square to rows that are `stride` elements apart.
template <typename T, typename Square>
__device__ void copy_square(Square& square, T* first, std::size_t stride) {
  for (unsigned e = threadIdx.x % 32 * 2; e < depth * depth; e += 64)
    pair(first[e / depth * stride + e % depth]) = pair(square(e / depth, e % depth));
}
// [load]

// [multiply]
/// Computes rest += i jᵀ, for 16 rows i.
template <typename T, typename Square, typename Subtile>
__device__ void multiply(const Square& i, const Subtile& j, Rest<T>& rest) {
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    Factor<T> x[4], y[2];
    load_left(i, k, x);
#pragma unroll
    for (unsigned n = 0; n < tile / 8; ++n) {
      load_right(j.of_warp[n / 2], n % 2, k, y);
      multiply_add(rest[n], x, y);
    }
  }
}
// [multiply]

// [divide]
/// Multiplies the first sub-tile of `rest`, which has been fully updated, by a negated inverse.
template <typename T, typename Square>
__device__ void divide(const Square& inverse, Rest<T>& rest) {
  T quotient[2][4] = {};
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    Factor<T> x[4], y[2];
    load_left(rest[k], x);
#pragma unroll
    for (unsigned n = 0; n < 2; ++n) {
      load_right(inverse, n, k, y);
      multiply_add(quotient[n], x, y);
    }
  }
#pragma unroll
  for (unsigned e = 0; e < 8; ++e) rest[e / 4][e % 4] = quotient[e / 4][e % 4];
}

/// Subtracts the products of sub-tile p (the first in `rest`) and squares p + 1 to `end` - 1 of `j`
/// from the later sub-tiles, and moves these forward by one sub-tile.
template <typename T, typename Subtile>
__device__ void subtract_products(const Subtile& j, unsigned p, unsigned end, Rest<T>& rest) {
  Factor<T> x[2][4], y[2];
  load_left(rest[0], x[0]);
  load_left(rest[1], x[1]);
#pragma unroll
  for (unsigned n = 2; n < tile / 8; ++n) {
    if (p + n / 2 < end)
#pragma unroll
      for (unsigned k = 0; k < 2; ++k) {
        load_right(j.of_warp[p + n / 2], n % 2, k, y);
        multiply_add(rest[n], x[k], y);
      }
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) rest[n - 2][e] = rest[n][e];
  }
}
// [divide]

// [factorise_square]
/// Factorises the negated square and computes the negated inverse of its factor. One warp calls
/// this function. Each of 16 lanes has a row of the future L, and each of the other lanes a row of
/// the future L⁻¹. In step k, the lanes of L subtract multiples of column k of L, and the lanes of
/// L⁻¹ subtract multiples of row k of L⁻¹. Column and row pass through shared memory.
template <typename T, typename Square>
__device__ void factorise_square(Square& square, Square& inverse, T (&exchange)[2][depth]) {
  const unsigned row = threadIdx.x % depth;
  const bool of_l = threadIdx.x % 32 < depth;
  T own[depth];
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) own[j] = of_l ? -square(row, j) : T(j == row);
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
    T* const values = exchange[k % 2];
    const T reciprocal = rsqrt(__shfl_sync(all_lanes, own[k], k));
    const T x = __shfl_sync(all_lanes, own[k], row) * reciprocal;
    if (of_l && row > k) own[k] = values[row] = x;
    if (!of_l && row == k)
#pragma unroll
      for (unsigned j = 0; j <= k; ++j) own[j] = values[j] = own[j] * reciprocal;
    __syncwarp();
    if (of_l)
#pragma unroll
      for (unsigned j = k + 1; j < depth; ++j) own[j] -= x * values[j];
    else if (row > k)
#pragma unroll
      for (unsigned j = 0; j <= k; ++j) own[j] -= x * values[j];
  }
  Square& to = of_l ? square : inverse;
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) to(row, j) = j > row ? 0 : of_l ? own[j] : -own[j];
  if (of_l) square(row, row) = sqrt(square(row, row));
  __syncwarp();
}
// [factorise_square]

}  // namespace cholesky
