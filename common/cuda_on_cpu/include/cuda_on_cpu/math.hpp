/// \file
/// The device's mathematical functions, by those of the host's library.
///
/// The fast variants (__expf and its siblings) are as exact as the plain ones here.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core.hpp"

using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
using std::signbit;

// CUDA mixes signed and unsigned numbers as C does.
inline unsigned min(unsigned a, int b) { return std::min(a, static_cast<unsigned>(b)); }
inline unsigned min(int a, unsigned b) { return std::min(static_cast<unsigned>(a), b); }
inline unsigned max(unsigned a, int b) { return std::max(a, static_cast<unsigned>(b)); }
inline unsigned max(int a, unsigned b) { return std::max(static_cast<unsigned>(a), b); }
inline double min(float a, double b) { return std::fmin(a, b); }
inline double min(double a, float b) { return std::fmin(a, b); }
inline double max(float a, double b) { return std::fmax(a, b); }
inline double max(double a, float b) { return std::fmax(a, b); }
inline unsigned long long umin(unsigned long long a, unsigned long long b) {
  return std::min(a, b);
}
inline unsigned long long umax(unsigned long long a, unsigned long long b) {
  return std::max(a, b);
}

inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return 1 / std::cbrt(x); }
inline float rcbrtf(float x) { return 1 / std::cbrt(x); }
inline double rhypot(double x, double y) { return 1 / std::hypot(x, y); }
inline float rhypotf(float x, float y) { return 1 / std::hypot(x, y); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline float norm3df(float x, float y, float z) { return std::hypot(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1 / std::hypot(x, y, z); }
inline float rnorm3df(float x, float y, float z) { return 1 / std::hypot(x, y, z); }
inline double norm4d(double x, double y, double z, double w) {
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}
inline float norm4df(float x, float y, float z, float w) {
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}
inline constexpr double cuda_on_cpu_pi = 3.14159265358979323846;
inline double sinpi(double x) { return std::sin(cuda_on_cpu_pi * std::remainder(x, 2)); }
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline double cospi(double x) { return std::cos(cuda_on_cpu_pi * std::remainder(x, 2)); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline float fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return std::isnan(x) ? 0 : std::clamp(x, 0.0f, 1.0f); }

inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __tanhf(float x) { return std::tanh(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float __fdividef(float a, float b) { return a / b; }

// Rounded to nearest, and never fused by the compiler.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

namespace cuda_on_cpu {

enum class Rounding { down, up, to_zero };

/// The number that a directed rounding chooses, given the nearest one and the sign of what the
/// nearest one lacks (exact minus nearest).
template <typename T>
T directed(T nearest, T lacking, Rounding rounding) {
  const T infinity = std::numeric_limits<T>::infinity();
  if (lacking == 0 || !std::isfinite(nearest)) return nearest;
  const bool upwards = rounding == Rounding::up || (rounding == Rounding::to_zero && nearest < 0);
  if (upwards == (lacking > 0)) return std::nextafter(nearest, lacking > 0 ? infinity : -infinity);
  return nearest;
}
template <typename T>
T add(T a, T b, Rounding rounding) {
  const T sum = a + b;
  const T back = sum - a;  // Knuth's two-sum gives the exact error
  return directed(sum, (a - (sum - back)) + (b - back), rounding);
}
template <typename T>
T multiply(T a, T b, Rounding rounding) {
  const T product = a * b;
  return directed(product, std::fma(a, b, -product), rounding);
}
template <typename T>
T divide(T a, T b, Rounding rounding) {
  const T quotient = a / b;
  const T rest = std::fma(-quotient, b, a);
  return directed(quotient, b < 0 ? -rest : rest, rounding);
}
template <typename T>
T square_root(T a, Rounding rounding) {
  const T root = std::sqrt(a);
  return directed(root, std::fma(-root, root, a), rounding);
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ROUNDED(suffix, rounding)                             \
  inline float __fadd_##suffix(float a, float b) {                        \
    return cuda_on_cpu::add(a, b, cuda_on_cpu::Rounding::rounding);       \
  }                                                                       \
  inline float __fsub_##suffix(float a, float b) {                        \
    return cuda_on_cpu::add(a, -b, cuda_on_cpu::Rounding::rounding);      \
  }                                                                       \
  inline float __fmul_##suffix(float a, float b) {                        \
    return cuda_on_cpu::multiply(a, b, cuda_on_cpu::Rounding::rounding);  \
  }                                                                       \
  inline float __fdiv_##suffix(float a, float b) {                        \
    return cuda_on_cpu::divide(a, b, cuda_on_cpu::Rounding::rounding);    \
  }                                                                       \
  inline float __frcp_##suffix(float a) {                                 \
    return cuda_on_cpu::divide(1.0f, a, cuda_on_cpu::Rounding::rounding); \
  }                                                                       \
  inline float __fsqrt_##suffix(float a) {                                \
    return cuda_on_cpu::square_root(a, cuda_on_cpu::Rounding::rounding);  \
  }                                                                       \
  inline double __dadd_##suffix(double a, double b) {                     \
    return cuda_on_cpu::add(a, b, cuda_on_cpu::Rounding::rounding);       \
  }                                                                       \
  inline double __dsub_##suffix(double a, double b) {                     \
    return cuda_on_cpu::add(a, -b, cuda_on_cpu::Rounding::rounding);      \
  }                                                                       \
  inline double __dmul_##suffix(double a, double b) {                     \
    return cuda_on_cpu::multiply(a, b, cuda_on_cpu::Rounding::rounding);  \
  }                                                                       \
  inline double __ddiv_##suffix(double a, double b) {                     \
    return cuda_on_cpu::divide(a, b, cuda_on_cpu::Rounding::rounding);    \
  }                                                                       \
  inline double __drcp_##suffix(double a) {                               \
    return cuda_on_cpu::divide(1.0, a, cuda_on_cpu::Rounding::rounding);  \
  }                                                                       \
  inline double __dsqrt_##suffix(double a) {                              \
    return cuda_on_cpu::square_root(a, cuda_on_cpu::Rounding::rounding);  \
  }
CUDA_ON_CPU_ROUNDED(rd, down)
CUDA_ON_CPU_ROUNDED(ru, up)
CUDA_ON_CPU_ROUNDED(rz, to_zero)
#undef CUDA_ON_CPU_ROUNDED

// --- Bits and integers

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1u) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
/// Four bytes chosen by the digits of `selector` from the eight bytes of b and a; bit 3 of a digit
/// asks for the byte's sign instead.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned digit = selector >> 4 * i & 0xf;
    auto byte = static_cast<unsigned>(bytes >> 8 * (digit & 7) & 0xff);
    if ((digit & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >>
                               32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(
      (static_cast<std::uint64_t>(high) << 32 | low) << std::min(shift, 32u) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >>
                               std::min(shift, 32u));
}
inline int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(std::abs(static_cast<std::int64_t>(a) - b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
inline int __hadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b) >> 1);
}
inline int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1);
}
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) >> 1);
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<std::int8_t>(a >> 8 * i) * static_cast<std::int8_t>(b >> 8 * i);
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
  return c;
}

// --- Conversions

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32);
}
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}
namespace cuda_on_cpu {

/// To an integer as a GPU converts: NaN is 0, what does not fit is the nearest that does.
template <typename To, typename From>
To to_integer(From x) {
  if (std::isnan(x)) return 0;
  constexpr From limit = static_cast<From>(std::numeric_limits<To>::max());
  if (x >= limit) return std::numeric_limits<To>::max();
  if (x <= static_cast<From>(std::numeric_limits<To>::lowest()))
    return std::numeric_limits<To>::lowest();
  return static_cast<To>(x);
}

}  // namespace cuda_on_cpu
#define CUDA_ON_CPU_TO_INTEGER(from, From, to, To)                                              \
  inline To __##from##2##to##_rn(From x) {                                                      \
    return cuda_on_cpu::to_integer<To>(std::nearbyint(x));                                      \
  }                                                                                             \
  inline To __##from##2##to##_rz(From x) { return cuda_on_cpu::to_integer<To>(std::trunc(x)); } \
  inline To __##from##2##to##_rd(From x) { return cuda_on_cpu::to_integer<To>(std::floor(x)); } \
  inline To __##from##2##to##_ru(From x) { return cuda_on_cpu::to_integer<To>(std::ceil(x)); }
CUDA_ON_CPU_TO_INTEGER(float, float, int, int)
CUDA_ON_CPU_TO_INTEGER(float, float, uint, unsigned)
CUDA_ON_CPU_TO_INTEGER(float, float, ll, long long)
CUDA_ON_CPU_TO_INTEGER(float, float, ull, unsigned long long)
CUDA_ON_CPU_TO_INTEGER(double, double, int, int)
CUDA_ON_CPU_TO_INTEGER(double, double, uint, unsigned)
CUDA_ON_CPU_TO_INTEGER(double, double, ll, long long)
CUDA_ON_CPU_TO_INTEGER(double, double, ull, unsigned long long)
#undef CUDA_ON_CPU_TO_INTEGER
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

// --- Loads and stores with a hint for the caches, which mean no more than plain ones here

#define CUDA_ON_CPU_LOAD(name)         \
  template <typename T>                \
  __forceinline__ T name(const T* p) { \
    return *p;                         \
  }
CUDA_ON_CPU_LOAD(__ldg)
CUDA_ON_CPU_LOAD(__ldca)
CUDA_ON_CPU_LOAD(__ldcg)
CUDA_ON_CPU_LOAD(__ldcs)
CUDA_ON_CPU_LOAD(__ldlu)
CUDA_ON_CPU_LOAD(__ldcv)
#undef CUDA_ON_CPU_LOAD
#define CUDA_ON_CPU_STORE(name)                                    \
  template <typename T>                                            \
  __forceinline__ void name(T* p, std::type_identity_t<T> value) { \
    *p = value;                                                    \
  }
CUDA_ON_CPU_STORE(__stwb)
CUDA_ON_CPU_STORE(__stcg)
CUDA_ON_CPU_STORE(__stcs)
CUDA_ON_CPU_STORE(__stwt)
#undef CUDA_ON_CPU_STORE
