/// \file
/// Replaces the CUDA header of the same name: 6-bit floating-point values (E2M3 and E3M2), one per
/// byte.

#pragma once

#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

CUDA_ON_CPU_SMALL_FLOAT(__nv_fp6, e2m3, E2M3, 8, __nv_fp6_storage_t, __nv_fp6x2_storage_t,
                        __nv_fp6x4_storage_t)
CUDA_ON_CPU_SMALL_FLOAT(__nv_fp6, e3m2, E3M2, 8, __nv_fp6_storage_t, __nv_fp6x2_storage_t,
                        __nv_fp6x4_storage_t)

// The rounding mode is an argument: cudaRoundNearest or cudaRoundZero.
#define CUDA_ON_CPU_SMALL_PARAMETERS __nv_fp6_interpretation_t kind, cudaRoundMode rounding
#define CUDA_ON_CPU_SMALL_BITS(number)                                                  \
  (kind == __NV_E2M3 ? cuda_on_cpu::E2M3::bits(number, true, rounding == cudaRoundZero) \
                     : cuda_on_cpu::E3M2::bits(number, true, rounding == cudaRoundZero))
CUDA_ON_CPU_SMALL_FROM_ALL(fp6, __nv_fp6_storage_t, __nv_fp6x2_storage_t)
#undef CUDA_ON_CPU_SMALL_PARAMETERS
#undef CUDA_ON_CPU_SMALL_BITS

inline __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t kind) {
  using namespace cuda_on_cpu;
  return raw_of<Binary16>(kind == __NV_E2M3 ? E2M3::number(x) : E3M2::number(x));
}
inline __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x,
                                              __nv_fp6_interpretation_t kind) {
  return {__nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(x), kind).x,
          __nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(x >> 8), kind).x};
}
