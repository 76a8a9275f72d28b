/// \file
/// Filters as band matrices for tensor cores.

#pragma once

#include <staircase/factor.hpp>

#include "advection.hpp"

namespace advection {

using staircase::Factor;
using staircase::factor;

// [split]
/// Splits an element like factor(), but in f32 with four instructions instead of eight: infinities
/// and NaN have no special case. Sums with infinities or NaN still become NaN.
__device__ inline Factor<double> split(double value) { return {value}; }
__device__ inline Factor<float> split(float value) {
  constexpr std::uint32_t dropped = 0x1FFF;  // bits of f32 that tf32 does not have
  const std::uint32_t high = (__float_as_uint(value) + (dropped + 1) / 2) & ~dropped;
  return {high, __float_as_uint(value - __uint_as_float(high)) & ~dropped};
}
// [split]

// [bands]
/// Numbers of blocks of 8 inputs for 16 outputs along x, and for 8 outputs along y.
template <unsigned steps>
constexpr unsigned blocks_along_x = (16 + 2 * steps) / 8;
template <unsigned steps>
constexpr unsigned blocks_along_y = (8 + 2 * steps) / 8;

/// A lane's fragments of both band matrices. Each row of the matrix along x computes one output,
/// and so does each column of the matrix along y. The taps form a band along the diagonal.
template <typename T, unsigned steps>
struct Bands {
  Factor<T> x[blocks_along_x<steps>][4], y[blocks_along_y<steps>][2];
};

template <typename T, unsigned taps>
__device__ T tap(const T (&filter)[taps], int k) {
  return k >= 0 && k < int(taps) ? filter[k] : 0;
}

/// Returns the fragments of a lane. Rows 2m and 2m + 1 of the matrix along y take slots m and
/// m + 4, so that results of a product along x are operands along y in the same lanes.
template <typename T, unsigned steps>
__device__ Bands<T, steps> bands_of(const Filter<T, steps>& filter, int lane) {
  constexpr unsigned along_x = blocks_along_x<steps>, along_y = blocks_along_y<steps>;
  Bands<T, steps> bands;
  for (int f = 0; f < int(along_x); ++f)
    for (int r = 0; r < 4; ++r) {
      const auto [out, in] = staircase::position_in_a(lane, r);
      bands.x[f][r] = factor(tap(filter.x, 8 * f + in - out));
    }
  for (int f = 0; f < int(along_y); ++f)
    for (int r = 0; r < 2; ++r) {
      const auto [slot, out] = staircase::position_in_b(lane, r);
      const int in = slot < 4 ? 2 * slot : 2 * slot - 7;
      bands.y[along_y - 1 - f][r] = factor(tap(filter.y, 8 * f + in - out));
    }
  return bands;
}
// [bands]

// [sums]
/// Pitch, in elements, of rows of `loaded` elements in shared memory. With this pitch, four
/// elements of each of eight rows lie in different banks.
template <typename T, unsigned loaded>
constexpr unsigned pitch = (loaded + 128 / sizeof(T) - 5) / (128 / sizeof(T)) * (128 / sizeof(T)) +
                           4;

/// Reorders the results of a product along x as operands of the product along y.
template <typename T>
__device__ void rename(const T (&c)[4], Factor<T> (&sums)[4]) {
  sums[0] = split(c[0]);
  sums[1] = split(c[2]);
  sums[2] = split(c[1]);
  sums[3] = split(c[3]);
}

/// Stores 16 columns of eight rows, except rows >= `bottom` and columns outside the field.
template <typename T>
__device__ void store(const T (&c)[4], int i0, int j0, int bottom, staircase::View<T, 2> next) {
  const auto [column, row] = staircase::position_in_c(threadIdx.x, 0);
  const int i = i0 + row, j = j0 + column, cols = next.extent(1);
  T* const to = &next(i, j);
  if (i0 + 8 <= bottom && j0 + 16 <= cols) {
    to[0] = c[0];
    to[cols] = c[1];
    to[8] = c[2];
    to[cols + 8] = c[3];
  } else {
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (i + r % 2 < bottom && j + r / 2 * 8 < cols) to[r % 2 * cols + r / 2 * 8] = c[r];
  }
}
// [sums]

}  // namespace advection
