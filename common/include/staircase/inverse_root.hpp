/// \file
/// The approximate reciprocal square root of the GPU's special function unit (PTX:
/// rsqrt.approx.ftz).

#pragma once

#include <cuda_runtime.h>

#ifdef STAIRCASE_CUDA_ON_CPU
#include <bit>
#include <cmath>
#include <cstdint>
#endif

namespace staircase {

#ifdef STAIRCASE_CUDA_ON_CPU

__device__ inline float rough_inverse_root(float x) {
  return static_cast<float>(1 / std::sqrt(double{x}));
}
__device__ inline double rough_inverse_root(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1 / std::sqrt(x)) >> 32 << 32);
}

#else

/// Computes 1 / √x for a normal (not subnormal) x, with a relative error of at most 2^-22.9.
__device__ inline float rough_inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Computes 1 / √x for a normal (not subnormal) x. The instruction reads only the upper 32 bits of
/// x and sets only the upper 32 bits of the result; the lower 32 bits are zero.
__device__ inline double rough_inverse_root(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

#endif

}  // namespace staircase
