/// \file
/// Replaces the CUDA header of the same name: complex values as pairs, and functions for their
/// arithmetic.

#pragma once

#include <math.h>

#include "cuda_on_cpu/vectors.hpp"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CUDA_ON_CPU_COMPLEX(Complex, Real, suffix, make, hypotenuse, fused)                       \
  __forceinline__ Real cuCreal##suffix(Complex x) { return x.x; }                                 \
  __forceinline__ Real cuCimag##suffix(Complex x) { return x.y; }                                 \
  __forceinline__ Complex make(Real real, Real imaginary) { return {real, imaginary}; }           \
  __forceinline__ Complex cuConj##suffix(Complex x) { return {x.x, -x.y}; }                       \
  __forceinline__ Complex cuCadd##suffix(Complex x, Complex y) { return {x.x + y.x, x.y + y.y}; } \
  __forceinline__ Complex cuCsub##suffix(Complex x, Complex y) { return {x.x - y.x, x.y - y.y}; } \
  __forceinline__ Complex cuCmul##suffix(Complex x, Complex y) {                                  \
    return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                                        \
  }                                                                                               \
  /* The divisor is scaled, so that no intermediate result overflows. */                          \
  __forceinline__ Complex cuCdiv##suffix(Complex x, Complex y) {                                  \
    const Real size = (y.x < 0 ? -y.x : y.x) + (y.y < 0 ? -y.y : y.y), scale = 1 / size;          \
    const Real a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;                \
    const Real factor = 1 / (c * c + d * d);                                                      \
    return {(a * c + b * d) * factor, (b * c - a * d) * factor};                                  \
  }                                                                                               \
  __forceinline__ Real cuCabs##suffix(Complex x) { return hypotenuse(x.x, x.y); }                 \
  __forceinline__ Complex cuCfma##suffix(Complex x, Complex y, Complex d) {                       \
    return {fused(-x.y, y.y, fused(x.x, y.x, d.x)), fused(x.y, y.x, fused(x.x, y.y, d.y))};       \
  }
CUDA_ON_CPU_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, hypotf, fmaf)
CUDA_ON_CPU_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, hypot, fma)
#undef CUDA_ON_CPU_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return {static_cast<float>(x.x), static_cast<float>(x.y)};
}
