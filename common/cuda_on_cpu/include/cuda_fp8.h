/// \file
/// Replaces the CUDA header of the same name: 8-bit floating-point values (E4M3, E5M2 and E8M0).

#pragma once

#include "cuda_on_cpu/small_floats.hpp"

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

CUDA_ON_CPU_SMALL_FLOAT(__nv_fp8, e4m3, E4M3, 8, __nv_fp8_storage_t, __nv_fp8x2_storage_t,
                        __nv_fp8x4_storage_t)
CUDA_ON_CPU_SMALL_FLOAT(__nv_fp8, e5m2, E5M2, 8, __nv_fp8_storage_t, __nv_fp8x2_storage_t,
                        __nv_fp8x4_storage_t)
CUDA_ON_CPU_SMALL_FLOAT(__nv_fp8, e8m0, E8M0, 8, __nv_fp8_storage_t, __nv_fp8x2_storage_t,
                        __nv_fp8x4_storage_t)

#define CUDA_ON_CPU_SMALL_PARAMETERS __nv_saturation_t saturate, __nv_fp8_interpretation_t kind
#define CUDA_ON_CPU_SMALL_BITS(number)                                         \
  (kind == __NV_E4M3 ? cuda_on_cpu::E4M3::bits(number, saturate != __NV_NOSAT) \
                     : cuda_on_cpu::E5M2::bits(number, saturate != __NV_NOSAT))
CUDA_ON_CPU_SMALL_FROM_ALL(fp8, __nv_fp8_storage_t, __nv_fp8x2_storage_t)
#undef CUDA_ON_CPU_SMALL_PARAMETERS
#undef CUDA_ON_CPU_SMALL_BITS

// For E8M0, the rounding mode is an argument: cudaRoundZero or cudaRoundPosInf.
#define CUDA_ON_CPU_SMALL_PARAMETERS __nv_saturation_t saturate, cudaRoundMode rounding
#define CUDA_ON_CPU_SMALL_BITS(number) \
  cuda_on_cpu::E8M0::bits(number, saturate != __NV_NOSAT, rounding == cudaRoundPosInf)
CUDA_ON_CPU_SMALL_FROM_FLOATS(e8m0, __nv_fp8_storage_t, __nv_fp8x2_storage_t)
CUDA_ON_CPU_SMALL_FROM(e8m0, __nv_fp8_storage_t, __nv_fp8x2_storage_t, bfloat16raw,
                       __nv_bfloat16_raw, bfloat162raw, __nv_bfloat162_raw,
                       cuda_on_cpu::float_of(x), cuda_on_cpu::float_of(__nv_bfloat16_raw{x.x}),
                       cuda_on_cpu::float_of(__nv_bfloat16_raw{x.y}))
#undef CUDA_ON_CPU_SMALL_PARAMETERS
#undef CUDA_ON_CPU_SMALL_BITS

inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  using namespace cuda_on_cpu;
  return raw_of<Binary16>(kind == __NV_E4M3 ? E4M3::number(x) : E5M2::number(x));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                              __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), kind).x};
}
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return cuda_on_cpu::raw_of<cuda_on_cpu::BFloat16>(cuda_on_cpu::E8M0::number(x));
}
inline __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x)).x,
          __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x >> 8)).x};
}
