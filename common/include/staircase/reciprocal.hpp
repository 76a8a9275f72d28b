/// \file
/// The approximate reciprocal of the GPU's special function unit (PTX: rcp.approx.ftz).

#pragma once

#include <cuda_runtime.h>

#ifdef STAIRCASE_CUDA_ON_CPU
#include <bit>
#include <cstdint>
#endif

namespace staircase {

#ifdef STAIRCASE_CUDA_ON_CPU

__device__ inline float rough_reciprocal(float x) { return 1 / x; }
__device__ inline double rough_reciprocal(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1 / x) >> 32 << 32);
}

#else

/// Returns 1 / x for a normal x, with a relative error of at most 2^-23.
__device__ inline float rough_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Returns 1 / x for a normal x. The instruction reads only the upper 32 bits of x and sets only
/// the upper 32 bits of the result; the lower 32 bits are zero.
__device__ inline double rough_reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

#endif

/// Returns 1 / x, up to rounding, if x and 1 / x are normal. For zeros, infinities and NaN, the
/// result is NaN without a branch, so the compiler can overlap the reciprocal with other operations.
template <typename T>
__device__ T reciprocal(T x) {
  const T rough = rough_reciprocal(x), error = fma(-x, rough, T{1});
  return fma(rough, fma(error, error, error), rough);
}

}  // namespace staircase
