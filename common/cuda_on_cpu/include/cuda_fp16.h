/// \file
/// Replaces the CUDA header of the same name: IEEE 754 binary16 floating-point values.

#pragma once

#include "cuda_on_cpu/half.hpp"

using __half = cuda_on_cpu::Half<cuda_on_cpu::Binary16>;
using __half2 = cuda_on_cpu::Half2<cuda_on_cpu::Binary16>;
using half = __half;
using half2 = __half2;
using __half_raw = cuda_on_cpu::HalfRaw<cuda_on_cpu::Binary16>;
using __half2_raw = cuda_on_cpu::Half2Raw<cuda_on_cpu::Binary16>;
using __nv_half = __half;
using __nv_half2 = __half2;
using __nv_half_raw = __half_raw;
using __nv_half2_raw = __half2_raw;

inline float __half2float(__half a) { return a; }
inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __float2half_rd(float a) { return cuda_on_cpu::directed<__half>(a, FE_DOWNWARD); }
inline __half __float2half_ru(float a) { return cuda_on_cpu::directed<__half>(a, FE_UPWARD); }
inline __half __float2half_rz(float a) { return cuda_on_cpu::directed<__half>(a, FE_TOWARDZERO); }
inline __half __double2half(double a) { return a; }
inline __half __ushort_as_half(unsigned short bits) { return cuda_on_cpu::bit_cast<__half>(bits); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
inline __half __short_as_half(short bits) {
  return __ushort_as_half(static_cast<unsigned short>(bits));
}
inline short __half_as_short(__half a) { return static_cast<short>(a.bits); }
CUDA_ON_CPU_HALF_AND_INTEGERS(half, __half)

#define CUDART_INF_FP16 __ushort_as_half(static_cast<unsigned short>(0x7c00u))
#define CUDART_NAN_FP16 __ushort_as_half(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(static_cast<unsigned short>(0x7bffu))
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_FP16 __ushort_as_half(static_cast<unsigned short>(0x3c00u))
