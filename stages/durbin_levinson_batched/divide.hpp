/// \file
/// A fast division for a limited range of divisors.

#pragma once

#include <cuda_runtime.h>

namespace durbin_levinson_batched {

// [divide]
/// Returns a / b for b from 2⁻¹²⁶ to 1, with fewer instructions than a general division. Two Newton
/// steps refine a reciprocal of 22 bits, and a third step corrects the quotient.
__device__ inline double divide(double a, double b) {
  double inverse = __fdividef(1, float(b));
  inverse = fma(inverse, fma(-b, inverse, 1.0), inverse);
  inverse = fma(inverse, fma(-b, inverse, 1.0), inverse);
  const double quotient = a * inverse;
  return fma(inverse, fma(-b, quotient, a), quotient);
}
__device__ inline float divide(float a, float b) { return __fdividef(a, b); }
// [divide]

}  // namespace durbin_levinson_batched
