/// \file
/// The reciprocal of a square root as the GPU's special function unit gives it.

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

/// 1 / √x of a normal number, but for an error of 2^-22.9 of it at most.
__device__ inline float rough_inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 1 / √x of a normal number, of whose 64 bits only the upper 32 are used, and set.
__device__ inline double rough_inverse_root(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

#endif

}  // namespace staircase
