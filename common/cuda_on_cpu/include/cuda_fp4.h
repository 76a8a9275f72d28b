/// \file
/// Replaces the CUDA header of the same name: 4-bit floating-point values (E2M1). A single value
/// occupies one byte; the two values of a pair share one byte.

#pragma once

#include "cuda_fp6.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

CUDA_ON_CPU_SMALL_FLOAT(__nv_fp4, e2m1, E2M1, 4, __nv_fp4_storage_t, __nv_fp4x2_storage_t,
                        __nv_fp4x4_storage_t)

// The rounding mode is an argument: cudaRoundNearest or cudaRoundZero.
#define CUDA_ON_CPU_SMALL_PARAMETERS __nv_fp4_interpretation_t, cudaRoundMode rounding
#define CUDA_ON_CPU_SMALL_BITS(number) \
  cuda_on_cpu::E2M1::bits(number, true, rounding == cudaRoundZero)
CUDA_ON_CPU_SMALL_FROM_ALL(fp4, __nv_fp4_storage_t, __nv_fp4x2_storage_t)
#undef CUDA_ON_CPU_SMALL_PARAMETERS
#undef CUDA_ON_CPU_SMALL_BITS

inline __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  return cuda_on_cpu::raw_of<cuda_on_cpu::Binary16>(cuda_on_cpu::E2M1::number(x));
}
inline __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x,
                                              __nv_fp4_interpretation_t kind) {
  return {__nv_cvt_fp4_to_halfraw(x, kind).x,
          __nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(x >> 4), kind).x};
}
