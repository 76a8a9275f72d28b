/// \file
/// Shared code of the stages that keep two rows, y and z, in registers.

#pragma once

#include "durbin_levinson.hpp"

namespace durbin_levinson {

constexpr unsigned warp_size = 32, all_lanes = 0xFFFFFFFF;

/// Returns t / q; `reciprocal` is 1 / q up to rounding.
template <typename T>
__device__ T quotient(T t, T q, T reciprocal) {
  const T x = t * reciprocal;
  return fma(fma(-x, q, t), reciprocal, x);
}

/// A pair: one element of row y and one element of row z.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T y, z;
};

}  // namespace durbin_levinson
