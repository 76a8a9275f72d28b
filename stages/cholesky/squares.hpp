/// \file
/// What warps do with tiles of 128 × 128 elements: each keeps 16 rows in registers, and takes
/// factors from squares of 16 × 16 numbers in shared memory.
///
/// How numbers lie in a square is for stages to say. Theirs has two functions `own`, which read and
/// write the two neighbours of a row that are a lane's in eight rows and eight columns.

#pragma once

#include <cstddef>
#include <staircase/factor.hpp>

#include "cholesky.hpp"

namespace cholesky {

using staircase::Factor;
using staircase::factor;
using staircase::multiply_add;

// [sizes]
constexpr unsigned tile = 128;             // rows and columns of a block of threads
constexpr unsigned depth = 16;             // columns of a slice of a tile, and rows of a warp
constexpr unsigned slices = tile / depth;  // of a tile
constexpr unsigned warps = slices;         // that multiply
constexpr unsigned all_lanes = 0xFFFFFFFF;

/// What a lane has of its warp's 16 rows: what is left of their elements, but for the sign.
template <typename T>
using Rest = T[tile / 8][4];

/// Where a tile lies, in tiles.
struct Tile {
  unsigned i, j;
};

/// Column by column of tiles, from the diagonal down.
__device__ inline Tile tile_of(unsigned number, unsigned tiles) {
  unsigned j = 0;
  for (; number >= tiles - j; ++j) number -= tiles - j;
  return {j + number, j};
}
// [sizes]

// [pairs]
/// Two neighbours of a row. A lane takes columns 2m and 2m + 1 of eight for what mma.hpp calls m
/// and m + 4: so pairs of an element's rest can be factors where they are.
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

/// 16 × 8 numbers as a factor on the left: of a lane's rest, or of a square.
template <typename T>
__device__ void load_left(const T (&rest)[4], Factor<T> (&x)[4]) {
  for (unsigned r = 0; r < 4; ++r) x[r] = factor(rest[r % 2 * 2 + r / 2]);
}
template <typename T, typename Square>
__device__ void load_left(const Square& square, unsigned k, Factor<T> (&x)[4]) {
  const Pair<T> upper = square.own(0, k), lower = square.own(1, k);
  load_left({upper.of[0], upper.of[1], lower.of[0], lower.of[1]}, x);
}

/// 8 × 8 numbers, transposed, as a factor on the right.
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

/// Stores 16 rows of a slice: the first columns of what a lane has.
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

/// Loads them.
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

/// Copies a square, by a warp.
template <typename T, typename Square>
__device__ void copy_square(Square& square, T* first, std::size_t stride) {
  for (unsigned e = threadIdx.x % 32 * 2; e < depth * depth; e += 64)
    pair(first[e / depth * stride + e % depth]) = pair(square(e / depth, e % depth));
}
// [load]

// [multiply]
/// rest += i jᵀ, for 16 rows i.
template <typename T, typename Square, typename Slice>
__device__ void multiply(const Square& i, const Slice& j, Rest<T>& rest) {
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
/// Multiplies the first slice, of which nothing is to be taken off any more, by minus an inverse.
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

/// Takes its products with the squares before `end` off those behind it, which move up to its
/// place: p more have been before.
template <typename T, typename Slice>
__device__ void take_off(const Slice& j, unsigned p, unsigned end, Rest<T>& rest) {
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
/// Factorises minus a square, and inverts minus its factor, by a warp. Half of the lanes have a row
/// each of what becomes L, half of them a row of what becomes L⁻¹: both take off multiples of what
/// row k has for those behind it, which all find in shared memory.
template <typename T, typename Square>
__device__ void factorise_square(Square& square, Square& inverse, T (&turns)[2][depth]) {
  const unsigned row = threadIdx.x % depth;
  const bool of_l = threadIdx.x % 32 < depth;
  T own[depth];
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) own[j] = of_l ? -square(row, j) : T(j == row);
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
    T* const turn = turns[k % 2];
    const T reciprocal = rsqrt(__shfl_sync(all_lanes, own[k], k));
    const T x = __shfl_sync(all_lanes, own[k], row) * reciprocal;
    if (of_l && row > k) own[k] = turn[row] = x;
    if (!of_l && row == k)
#pragma unroll
      for (unsigned j = 0; j <= k; ++j) own[j] = turn[j] = own[j] * reciprocal;
    __syncwarp();
    if (of_l)
#pragma unroll
      for (unsigned j = k + 1; j < depth; ++j) own[j] -= x * turn[j];
    else if (row > k)
#pragma unroll
      for (unsigned j = 0; j <= k; ++j) own[j] -= x * turn[j];
  }
  Square& to = of_l ? square : inverse;
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) to(row, j) = j > row ? 0 : of_l ? own[j] : -own[j];
  if (of_l) square(row, row) = sqrt(square(row, row));
  __syncwarp();
}
// [factorise_square]

}  // namespace cholesky
