/// \file
/// Found in place of CUDA's own header: numbers of 16 bits in IEEE format.

#pragma once

#include "cuda_on_cpu/half.hpp"

using __half = cuda_on_cpu::Half<cuda_on_cpu::Binary16>;
using __half2 = cuda_on_cpu::Half2<cuda_on_cpu::Binary16>;
using half = __half;
using half2 = __half2;

inline float __half2float(__half a) { return a; }
inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __float2half_rd(float a) { return cuda_on_cpu::directed<__half>(a, FE_DOWNWARD); }
inline __half __float2half_ru(float a) { return cuda_on_cpu::directed<__half>(a, FE_UPWARD); }
inline __half __float2half_rz(float a) { return cuda_on_cpu::directed<__half>(a, FE_TOWARDZERO); }
inline __half __double2half(double a) { return a; }
inline __half __int2half_rn(int a) { return a; }
inline int __half2int_rn(__half a) { return __float2int_rn(a); }
inline int __half2int_rz(__half a) { return __float2int_rz(a); }
inline int __half2int_rd(__half a) { return __float2int_rd(a); }
inline int __half2int_ru(__half a) { return __float2int_ru(a); }
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
