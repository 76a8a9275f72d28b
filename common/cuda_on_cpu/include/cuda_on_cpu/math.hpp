/// \file
/// The mathematical functions of the device, based on the host's mathematical library.
///
/// The fast variants, such as __expf, are as accurate as the standard functions on the CPU device.

#pragma once

#include <math.h>  // <cmath> alone lacks the float overloads in the global namespace
#include <stdlib.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core.hpp"
#include "standard.hpp"

namespace cuda_on_cpu {

// CUDA's minimum and maximum return the other argument if one argument is NaN.
template <typename Value>
constexpr bool is_none(Value x) {
  if constexpr (std::is_floating_point_v<Value>) return x != x;
  return false;
}
template <typename Value>
constexpr Value lesser(Value a, Value b) {
  return b < a || is_none(a) ? b : a;
}
template <typename Value>
constexpr Value greater(Value a, Value b) {
  return a < b || is_none(a) ? b : a;
}

}  // namespace cuda_on_cpu

// The minima and maxima are functions rather than templates, so that a call with arguments of two
// types finds an overload. CUDA mixes signed and unsigned integers in the same way as C.
#define CUDA_ON_CPU_EXTREMES(First, Second, Value)                             \
  constexpr Value min(First a, Second b) {                                     \
    return cuda_on_cpu::lesser(static_cast<Value>(a), static_cast<Value>(b));  \
  }                                                                            \
  constexpr Value max(First a, Second b) {                                     \
    return cuda_on_cpu::greater(static_cast<Value>(a), static_cast<Value>(b)); \
  }
#define CUDA_ON_CPU_EXTREMES_OF_INTEGERS(Value)                        \
  CUDA_ON_CPU_EXTREMES(Value, Value, Value)                            \
  CUDA_ON_CPU_EXTREMES(unsigned Value, unsigned Value, unsigned Value) \
  CUDA_ON_CPU_EXTREMES(Value, unsigned Value, unsigned Value)          \
  CUDA_ON_CPU_EXTREMES(unsigned Value, Value, unsigned Value)
CUDA_ON_CPU_EXTREMES_OF_INTEGERS(int)
CUDA_ON_CPU_EXTREMES_OF_INTEGERS(long)
CUDA_ON_CPU_EXTREMES_OF_INTEGERS(long long)
CUDA_ON_CPU_EXTREMES(float, float, float)
CUDA_ON_CPU_EXTREMES(double, double, double)
CUDA_ON_CPU_EXTREMES(float, double, double)
CUDA_ON_CPU_EXTREMES(double, float, double)
#undef CUDA_ON_CPU_EXTREMES_OF_INTEGERS
#undef CUDA_ON_CPU_EXTREMES
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

namespace cuda_on_cpu {

/// Converts to a wider type. A result that is computed in this type and then rounded to double is
/// practically as accurate as a correctly rounded result.
inline long double exact(double x) { return x; }

}  // namespace cuda_on_cpu

inline void sincos(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline double normcdf(double x) {
  return static_cast<double>(std::erfc(-cuda_on_cpu::exact(x) / std::sqrt(2.0L)) / 2);
}
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline float normcdf(float x) { return normcdff(x); }

inline float rsqrtf(float x) { return static_cast<float>(1 / std::sqrt(cuda_on_cpu::exact(x))); }
inline double rsqrt(double x) { return static_cast<double>(1 / std::sqrt(cuda_on_cpu::exact(x))); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return static_cast<double>(1 / std::cbrt(cuda_on_cpu::exact(x))); }
inline float rcbrtf(float x) { return static_cast<float>(1 / std::cbrt(cuda_on_cpu::exact(x))); }
inline double rhypot(double x, double y) {
  return static_cast<double>(1 / std::hypot(cuda_on_cpu::exact(x), cuda_on_cpu::exact(y)));
}
inline float rhypotf(float x, float y) {
  return static_cast<float>(1 / std::hypot(cuda_on_cpu::exact(x), cuda_on_cpu::exact(y)));
}
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
inline double norm(int n, const double* x) {
  double length = 0;
  for (int i = 0; i < n; ++i) length = std::hypot(length, x[i]);
  return length;
}
inline float normf(int n, const float* x) {
  float length = 0;
  for (int i = 0; i < n; ++i) length = std::hypot(length, x[i]);
  return length;
}
inline double rnorm(int n, const double* x) { return 1 / norm(n, x); }
inline float rnormf(int n, const float* x) { return 1 / normf(n, x); }
inline double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }
inline float rnorm4df(float x, float y, float z, float w) { return 1 / norm4df(x, y, z, w); }
// The names without the suffix f also accept float arguments.
inline float rcbrt(float x) { return rcbrtf(x); }
inline float rhypot(float x, float y) { return rhypotf(x, y); }
inline float norm3d(float x, float y, float z) { return norm3df(x, y, z); }
inline float rnorm3d(float x, float y, float z) { return rnorm3df(x, y, z); }
inline float norm4d(float x, float y, float z, float w) { return norm4df(x, y, z, w); }
inline float rnorm4d(float x, float y, float z, float w) { return rnorm4df(x, y, z, w); }
inline float norm(int n, const float* x) { return normf(n, x); }
inline float rnorm(int n, const float* x) { return rnormf(n, x); }
inline double sinpi(double x) {
  return static_cast<double>(std::sin(cuda_on_cpu::pi<long double> * std::remainder(x, 2)));
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline double cospi(double x) {
  return static_cast<double>(std::cos(cuda_on_cpu::pi<long double> * std::remainder(x, 2)));
}
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline float sinpi(float x) { return sinpif(x); }
inline float cospi(float x) { return cospif(x); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline float exp10(float x) { return static_cast<float>(::exp10(static_cast<double>(x))); }
inline float fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

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

// Operations that round to nearest. The compiler never fuses these operations.
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

/// Sets the rounding mode of the processor during the lifetime of the object.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

// Volatile operands prevent the compiler from moving the operation out of the region with the
// selected rounding mode. The functions are not inlined, so that no other operation of a kernel
// moves into this region.

template <int mode, typename Value>
__attribute__((noinline)) Value add(volatile Value a, volatile Value b) {
  const RoundingMode rounding(mode);
  const volatile Value sum = a + b;
  return sum;
}
template <int mode, typename Value>
__attribute__((noinline)) Value multiply(volatile Value a, volatile Value b) {
  const RoundingMode rounding(mode);
  const volatile Value product = a * b;
  return product;
}
template <int mode, typename Value>
__attribute__((noinline)) Value divide(volatile Value a, volatile Value b) {
  const RoundingMode rounding(mode);
  const volatile Value quotient = a / b;
  return quotient;
}
template <int mode, typename Value>
__attribute__((noinline)) Value square_root(volatile Value a) {
  const RoundingMode rounding(mode);
  const volatile Value root = std::sqrt(a);
  return root;
}
template <int mode, typename Value>
__attribute__((noinline)) Value fused(volatile Value a, volatile Value b, volatile Value c) {
  const RoundingMode rounding(mode);
  const volatile Value result = std::fma(a, b, c);
  return result;
}
template <int mode, typename To, typename From>
__attribute__((noinline)) To convert(volatile From number) {
  const RoundingMode rounding(mode);
  const volatile To result = static_cast<To>(number);
  return result;
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ROUNDED_TYPE(Value, letter, fma_name, suffix, mode) \
  inline Value __##letter##add_##suffix(Value a, Value b) {             \
    return cuda_on_cpu::add<mode, Value>(a, b);                         \
  }                                                                     \
  inline Value __##letter##sub_##suffix(Value a, Value b) {             \
    return cuda_on_cpu::add<mode, Value>(a, -b);                        \
  }                                                                     \
  inline Value __##letter##mul_##suffix(Value a, Value b) {             \
    return cuda_on_cpu::multiply<mode, Value>(a, b);                    \
  }                                                                     \
  inline Value __##letter##div_##suffix(Value a, Value b) {             \
    return cuda_on_cpu::divide<mode, Value>(a, b);                      \
  }                                                                     \
  inline Value __##letter##rcp_##suffix(Value a) {                      \
    return cuda_on_cpu::divide<mode, Value>(1, a);                      \
  }                                                                     \
  inline Value __##letter##sqrt_##suffix(Value a) {                     \
    return cuda_on_cpu::square_root<mode, Value>(a);                    \
  }                                                                     \
  inline Value fma_name##_##suffix(Value a, Value b, Value c) {         \
    return cuda_on_cpu::fused<mode, Value>(a, b, c);                    \
  }
#define CUDA_ON_CPU_ROUNDED(suffix, mode)                                                        \
  CUDA_ON_CPU_ROUNDED_TYPE(float, f, __fmaf, suffix, mode)                                       \
  CUDA_ON_CPU_ROUNDED_TYPE(double, d, __fma, suffix, mode)                                       \
  inline float __double2float_##suffix(double x) {                                               \
    return cuda_on_cpu::convert<mode, float, double>(x);                                         \
  }                                                                                              \
  inline float __int2float_##suffix(int x) { return cuda_on_cpu::convert<mode, float, int>(x); } \
  inline float __uint2float_##suffix(unsigned x) {                                               \
    return cuda_on_cpu::convert<mode, float, long long>(x);                                      \
  }                                                                                              \
  inline float __ll2float_##suffix(long long x) {                                                \
    return cuda_on_cpu::convert<mode, float, long double>(x);                                    \
  }                                                                                              \
  inline float __ull2float_##suffix(unsigned long long x) {                                      \
    return cuda_on_cpu::convert<mode, float, long double>(x);                                    \
  }                                                                                              \
  inline double __ll2double_##suffix(long long x) {                                              \
    return cuda_on_cpu::convert<mode, double, long double>(x);                                   \
  }                                                                                              \
  inline double __ull2double_##suffix(unsigned long long x) {                                    \
    return cuda_on_cpu::convert<mode, double, long double>(x);                                   \
  }
CUDA_ON_CPU_ROUNDED(rd, FE_DOWNWARD)
CUDA_ON_CPU_ROUNDED(ru, FE_UPWARD)
CUDA_ON_CPU_ROUNDED(rz, FE_TOWARDZERO)
#undef CUDA_ON_CPU_ROUNDED
#undef CUDA_ON_CPU_ROUNDED_TYPE

// --- Bits and integers

inline int __popc(unsigned x) { return cuda_on_cpu::popcount(x); }
inline int __popcll(unsigned long long x) { return cuda_on_cpu::popcount(x); }
inline int __clz(int x) { return cuda_on_cpu::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return cuda_on_cpu::countl_zero(static_cast<unsigned long long>(x));
}
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
/// Selects four of the eight bytes of b and a by the hexadecimal digits of `selector`. If bit 3 of
/// a digit is set, the sign bit of the selected byte is replicated instead.
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
      (static_cast<std::uint64_t>(high) << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >>
                               (shift < 32 ? shift : 32));
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
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
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

inline int __float_as_int(float x) { return cuda_on_cpu::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return cuda_on_cpu::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return cuda_on_cpu::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return cuda_on_cpu::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return cuda_on_cpu::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return cuda_on_cpu::bit_cast<double>(x); }
inline int __double2hiint(double x) {
  return static_cast<int>(cuda_on_cpu::bit_cast<std::uint64_t>(x) >> 32);
}
inline int __double2loint(double x) {
  return static_cast<int>(cuda_on_cpu::bit_cast<std::uint64_t>(x));
}
inline double __hiloint2double(int high, int low) {
  return cuda_on_cpu::bit_cast<double>(
      static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
namespace cuda_on_cpu {

/// Converts to an integer with the rules of a GPU. A value out of range becomes the nearest
/// representable integer. NaN becomes 0 if neither type has 64 bits. Otherwise, it becomes the
/// integer in which only the highest bit is set (PTX ISA, `cvt`).
template <typename To, typename From>
To to_integer(From x) {
  if (std::isnan(x)) {
    if constexpr (sizeof(From) == 8 || sizeof(To) == 8)
      return static_cast<To>(std::make_unsigned_t<To>{1} << (8 * sizeof(To) - 1));
    else
      return 0;
  }
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

// --- Loads and stores with cache hints, which have no effect

#define CUDA_ON_CPU_LOAD(name)                 \
  template <typename Value>                    \
  __forceinline__ Value name(const Value* p) { \
    return *p;                                 \
  }
CUDA_ON_CPU_LOAD(__ldg)
CUDA_ON_CPU_LOAD(__ldca)
CUDA_ON_CPU_LOAD(__ldcg)
CUDA_ON_CPU_LOAD(__ldcs)
CUDA_ON_CPU_LOAD(__ldlu)
CUDA_ON_CPU_LOAD(__ldcv)
#undef CUDA_ON_CPU_LOAD
#define CUDA_ON_CPU_STORE(name)                                          \
  template <typename Value>                                              \
  __forceinline__ void name(Value* p, cuda_on_cpu::given<Value> value) { \
    *p = value;                                                          \
  }
CUDA_ON_CPU_STORE(__stwb)
CUDA_ON_CPU_STORE(__stcg)
CUDA_ON_CPU_STORE(__stcs)
CUDA_ON_CPU_STORE(__stwt)
#undef CUDA_ON_CPU_STORE
