/// \file
/// Filters as matrices with a band along the diagonal, for tensor cores.

#pragma once

#include <staircase/factor.hpp>

#include "advection.hpp"

namespace advection {

using staircase::Factor;
using staircase::factor;

// [bands]
/// Blocks of 8 columns that 16 come from in so many steps, and blocks of 8 rows that 8 come from.
template <unsigned steps>
constexpr unsigned blocks_along_x = (16 + 2 * steps) / 8;
template <unsigned steps>
constexpr unsigned blocks_along_y = (8 + 2 * steps) / 8;

/// A filter as a matrix: each output is a row or a column, each input one of the other, and the
/// taps are a band along the diagonal. A lane has fragments of both.
template <typename T, unsigned steps>
struct Bands {
  Factor<T> x[blocks_along_x<steps>][4], y[blocks_along_y<steps>][2];
};

template <typename T, unsigned taps>
__device__ T tap(const T (&filter)[taps], int k) {
  return k >= 0 && k < int(taps) ? filter[k] : 0;
}

/// The sums along x come out as the factors of those along y, a lane's two rows being 2 m and
/// 2 m + 1: that is where rows m and m + 4 of these factors are.
template <typename T, unsigned steps>
__device__ Bands<T, steps> bands_of(const Filter<T, steps>& filter, int lane) {
  constexpr unsigned along_x = blocks_along_x<steps>, along_y = blocks_along_y<steps>;
  Bands<T, steps> bands;
  for (int f = 0; f < int(along_x); ++f)
    for (int r = 0; r < 4; ++r) {
      const auto [out, in] = staircase::place_in_a(lane, r);
      bands.x[f][r] = factor(tap(filter.x, 8 * f + in - out));
    }
  for (int f = 0; f < int(along_y); ++f)
    for (int r = 0; r < 2; ++r) {
      const auto [slot, out] = staircase::place_in_b(lane, r);
      const int in = slot < 4 ? 2 * slot : 2 * slot - 7;
      bands.y[along_y - 1 - f][r] = factor(tap(filter.y, 8 * f + in - out));
    }
  return bands;
}
// [bands]

// [sums]
/// So many numbers from row to row, for some that are loaded, that eight rows of four are in
/// different banks.
template <typename T, unsigned loaded>
constexpr unsigned pitch = (loaded + 128 / sizeof(T) - 5) / (128 / sizeof(T)) * (128 / sizeof(T)) +
                           4;

/// Sums along x, as the factors that they are of those along y.
template <typename T>
__device__ void rename(const T (&c)[4], Factor<T> (&sums)[4]) {
  sums[0] = factor(c[0]);
  sums[1] = factor(c[2]);
  sums[2] = factor(c[1]);
  sums[3] = factor(c[3]);
}

/// Writes 16 columns of eight rows, as far as they are a block's.
template <typename T>
__device__ void store(const T (&c)[4], int i0, int j0, int top, int bottom,
                      staircase::View<T, 2> next) {
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
    const auto [column, row] = staircase::place_in_c(threadIdx.x, r);
    const int i = i0 + row, j = j0 + column;
    if (i >= top && i < bottom && j < int(next.extent(1))) next(i, j) = c[r];
  }
}
// [sums]

}  // namespace advection
