/// \file The factorisation of a panel of columns: kernels that factorise the blocks of L on the
/// diagonal and solve the rows below them.

#pragma once

#include "cholesky.hpp"

namespace cholesky {

using staircase::View;

constexpr unsigned panel = 256;  // columns whose products are subtracted at once
constexpr unsigned block = 64;   // columns that are factorised at once
constexpr unsigned all_lanes = 0xFFFFFFFF;

// [factorise_block]
constexpr unsigned side = 16;            // threads along a side of a block
constexpr unsigned held = block / side;  // rows and columns of a thread: every sixteenth

/// Factorises the block of L on the diagonal that begins with column `first`, in the registers of
/// one thread block. In step k, the threads that own column k copy it to shared memory. Every
/// thread computes the root of the pivot itself.
template <typename T>
__global__ void __launch_bounds__(side* side) factorise_block(View<T, 2> l, unsigned first) {
  __shared__ T columns[2][block];
  T own[held][held];
  for (unsigned m = 0; m < held; ++m)
    for (unsigned n = 0; n < held; ++n)
      own[m][n] = l(first + m * side + threadIdx.y, first + n * side + threadIdx.x);
#pragma unroll
  for (unsigned q = 0; q < held; ++q)
    for (unsigned k = q * side; k < (q + 1) * side; ++k) {
      const bool is_own = threadIdx.x == k % side;
      if (is_own)
        for (unsigned m = q; m < held; ++m) columns[k % 2][m * side + threadIdx.y] = own[m][q];
      __syncthreads();
      const T pivot = columns[k % 2][k], guess = rsqrt(pivot);
      const T reciprocal = fma(guess, fma(-sqrt(pivot), guess, T{1}), guess);  // 1 / √pivot
#pragma unroll
      for (unsigned m = q; m < held; ++m) {
        const T x = columns[k % 2][m * side + threadIdx.y] * reciprocal;
        if (is_own && m * side + threadIdx.y > k) own[m][q] = x;
#pragma unroll
        for (unsigned n = q; n <= m; ++n)
          if (n > q || threadIdx.x > k % side)
            own[m][n] -= x * (columns[k % 2][n * side + threadIdx.x] * reciprocal);
      }
    }
  for (unsigned m = 0; m < held; ++m) {
    if (threadIdx.x == threadIdx.y) own[m][m] = sqrt(own[m][m]);
    for (unsigned n = 0; n <= m; ++n)
      if (n < m || threadIdx.x <= threadIdx.y)
        l(first + m * side + threadIdx.y, first + n * side + threadIdx.x) = own[m][n];
  }
}
// [factorise_block]

// [solve_below]
constexpr unsigned rows_at_once = 32;     // per thread block
constexpr unsigned lanes = 8;             // threads of a row
constexpr unsigned part = block / lanes;  // elements of a row that a thread has: every eighth

/// Solves X L₁₁ᵀ = A₂₁ row by row, by substitution. L₁₁ is the block of L on the diagonal that
/// begins with column `first`, and A₂₁ has the rows below it.
template <typename T>
__global__ void __launch_bounds__(rows_at_once* lanes) solve_below(View<T, 2> l, unsigned first) {
  __shared__ T above[block][block + 1], reciprocals[block];
  const unsigned thread = threadIdx.y * lanes + threadIdx.x;
  const unsigned i = first + block + blockIdx.x * rows_at_once + threadIdx.y;
  for (unsigned e = thread; e < block * block; e += rows_at_once * lanes)
    above[e / block][e % block] = l(first + e / block, first + e % block);
  T own[part];
  for (unsigned m = 0; m < part; ++m) own[m] = l(i, first + m * lanes + threadIdx.x);
  __syncthreads();
  if (thread < block) reciprocals[thread] = 1 / above[thread][thread];
  __syncthreads();
#pragma unroll
  for (unsigned q = 0; q < part; ++q)
    for (unsigned k = q * lanes; k < (q + 1) * lanes; ++k) {
      const T x = __shfl_sync(all_lanes, own[q] * reciprocals[k], k % lanes, lanes);
      if (threadIdx.x == k % lanes) own[q] = x;
#pragma unroll
      for (unsigned m = q; m < part; ++m)
        if (m > q || threadIdx.x > k % lanes) own[m] -= x * above[m * lanes + threadIdx.x][k];
    }
  for (unsigned m = 0; m < part; ++m) l(i, first + m * lanes + threadIdx.x) = own[m];
}
// [solve_below]

/// Columns `first` to `end` - 1.
struct Range {
  unsigned first, end;
};

}  // namespace cholesky
