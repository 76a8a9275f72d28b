/// \file
/// The 16-bit floating-point types. Most operations are computed in float, and each result is
/// rounded once.

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "../cuda_runtime.h"
#include "number_formats.hpp"

namespace cuda_on_cpu {

/// Rounds a double to a float by rounding to odd: an inexact result has an odd last bit, so that it
/// never lies halfway between two 16-bit values. Rounding the float to 16 bits then gives the same
/// result as rounding the double directly.
inline float rounded_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  if (nearest == number || (bit_cast<std::uint32_t>(nearest) & 1) != 0) return nearest;
  return std::nextafter(nearest, static_cast<float>(number > nearest ? INFINITY : -INFINITY));
}

/// Rounds an integer to a double by rounding to odd: one bit replaces all bits that a double cannot
/// represent. Rounding the double to 16 bits then gives the same result as rounding the integer
/// directly.
inline double rounded_to_odd(unsigned long long number) {
  constexpr int below = 11;
  constexpr unsigned long long mask = (1ull << below) - 1;
  if (number >> (64 - below) == 0) return static_cast<double>(number);
  return static_cast<double>(number >> below | ((number & mask) != 0 ? 1u : 0u)) * (mask + 1);
}
inline double rounded_to_odd(long long number) {
  if (number >= 0) return rounded_to_odd(static_cast<unsigned long long>(number));
  return -rounded_to_odd(0ull - static_cast<unsigned long long>(number));
}
template <typename Integer>
using Widened = std::conditional_t<std::is_signed_v<Integer>, long long, unsigned long long>;

/// The bit pattern of a 16-bit value.
template <typename Format>
struct alignas(2) HalfRaw {
  unsigned short x;
};
template <typename Format>
struct alignas(4) Half2Raw {
  unsigned short x, y;
};

/// A 16-bit floating-point value. Operations are computed in float, and the result is rounded to 16
/// bits.
template <typename Format>
struct Half {
  std::uint16_t bits;

  Half() = default;
  constexpr Half(HalfRaw<Format> raw) : bits(raw.x) {}
  operator HalfRaw<Format>() const { return {bits}; }
  template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  Half(Integer number) : Half(rounded_to_odd(static_cast<Widened<Integer>>(number))) {}
  Half(float number) : bits(Format::bits(number)) {}
  Half(double number) : bits(Format::bits(rounded_to_odd(number))) {}
  operator float() const { return Format::number(bits); }

  friend Half operator+(Half a, Half b) { return float(a) + float(b); }
  friend Half operator-(Half a, Half b) { return float(a) - float(b); }
  friend Half operator*(Half a, Half b) { return float(a) * float(b); }
  friend Half operator/(Half a, Half b) { return float(a) / float(b); }
  friend Half operator-(Half a) { return -float(a); }
  friend Half operator+(Half a) { return a; }
  friend Half& operator++(Half& a) { return a = a + Half(1); }
  friend Half& operator--(Half& a) { return a = a - Half(1); }
  friend Half operator++(Half& a, int) {
    const Half before = a;
    ++a;
    return before;
  }
  friend Half operator--(Half& a, int) {
    const Half before = a;
    --a;
    return before;
  }
  friend bool operator==(Half a, Half b) { return float(a) == float(b); }
  friend bool operator!=(Half a, Half b) { return float(a) != float(b); }
  friend bool operator<(Half a, Half b) { return float(a) < float(b); }
  friend bool operator>(Half a, Half b) { return float(a) > float(b); }
  friend bool operator<=(Half a, Half b) { return float(a) <= float(b); }
  friend bool operator>=(Half a, Half b) { return float(a) >= float(b); }
  Half& operator+=(Half b) { return *this = *this + b; }
  Half& operator-=(Half b) { return *this = *this - b; }
  Half& operator*=(Half b) { return *this = *this * b; }
  Half& operator/=(Half b) { return *this = *this / b; }
};

template <typename Format>
struct alignas(4) Half2 {
  Half<Format> x, y;

  Half2() = default;
  Half2(Half<Format> x, Half<Format> y) : x(x), y(y) {}
  Half2(Half2Raw<Format> raw) : x(HalfRaw<Format>{raw.x}), y(HalfRaw<Format>{raw.y}) {}
  operator Half2Raw<Format>() const { return {x.bits, y.bits}; }

  friend Half2 operator+(Half2 a, Half2 b) { return {a.x + b.x, a.y + b.y}; }
  friend Half2 operator-(Half2 a, Half2 b) { return {a.x - b.x, a.y - b.y}; }
  friend Half2 operator*(Half2 a, Half2 b) { return {a.x * b.x, a.y * b.y}; }
  friend Half2 operator/(Half2 a, Half2 b) { return {a.x / b.x, a.y / b.y}; }
  friend Half2 operator-(Half2 a) { return {-a.x, -a.y}; }
  friend Half2 operator+(Half2 a) { return a; }
  friend Half2& operator++(Half2& a) { return ++a.x, ++a.y, a; }
  friend Half2& operator--(Half2& a) { return --a.x, --a.y, a; }
  friend Half2 operator++(Half2& a, int) { return {a.x++, a.y++}; }
  friend Half2 operator--(Half2& a, int) { return {a.x--, a.y--}; }
  // A comparison of pairs is true if it is true for both elements. NaN != x is true.
  friend bool operator==(Half2 a, Half2 b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(Half2 a, Half2 b) { return a.x != b.x && a.y != b.y; }
  friend bool operator<(Half2 a, Half2 b) { return a.x < b.x && a.y < b.y; }
  friend bool operator>(Half2 a, Half2 b) { return a.x > b.x && a.y > b.y; }
  friend bool operator<=(Half2 a, Half2 b) { return a.x <= b.x && a.y <= b.y; }
  friend bool operator>=(Half2 a, Half2 b) { return a.x >= b.x && a.y >= b.y; }
  Half2& operator+=(Half2 b) { return *this = *this + b; }
  Half2& operator-=(Half2 b) { return *this = *this - b; }
  Half2& operator/=(Half2 b) { return *this = *this / b; }
  Half2& operator*=(Half2 b) { return *this = *this * b; }
};

/// Rounds a value to 16 bits in the direction `mode`. The result is the nearest 16-bit value or its
/// neighbour in this direction.
template <typename Rounded>
Rounded directed(double number, int mode) {
  const Rounded nearest = number;
  const double found = float(nearest);
  if (found == number || std::isnan(number)) return nearest;
  const bool upwards = mode == FE_UPWARD || (mode == FE_TOWARDZERO && number < 0);
  if (upwards ? found > number : found < number) return nearest;
  Rounded neighbour = nearest;
  if (found == 0) {
    neighbour.bits = upwards ? 0x0001 : 0x8001;
  } else if (upwards == (found > 0)) {
    ++neighbour.bits;
  } else {
    --neighbour.bits;
  }
  return neighbour;
}

/// Rounds a value to an integer in the direction `mode`. A value out of range becomes the largest
/// or smallest integer. NaN becomes 0, or for 64-bit integers the value in which only the highest
/// bit is set.
template <typename Integer>
Integer integer_of(float number, int mode) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(number)) return Integer(sizeof(Integer) == 8 ? 1ull << 63 : 0);
  const float rounded = mode == FE_TONEAREST  ? std::nearbyint(number)
                        : mode == FE_UPWARD   ? std::ceil(number)
                        : mode == FE_DOWNWARD ? std::floor(number)
                                              : std::trunc(number);
  constexpr int bits = Limits::digits;
  if (rounded >= std::ldexp(1.0f, bits)) return (Limits::max)();
  if (rounded < (Limits::is_signed ? -std::ldexp(1.0f, bits) : 0.0f)) return (Limits::min)();
  return static_cast<Integer>(rounded);
}

template <typename Format>
Half<Format> fused(Half<Format> a, Half<Format> b, Half<Format> c) {
  return std::fma(static_cast<double>(float(a)), float(b), float(c));
}

}  // namespace cuda_on_cpu

namespace cuda_on_cpu {

template <typename Format>
Half<Format> of_bits(unsigned bits) {
  return HalfRaw<Format>{static_cast<unsigned short>(bits)};
}
/// The NaN that 16-bit operations return.
template <typename Format>
Half<Format> canonical_nan() {
  return of_bits<Format>(0x7fff);
}
template <typename Format>
bool is_nan(Half<Format> a) {
  return std::isnan(float(a));
}
/// Clamps a value to the interval from 0 to 1. NaN becomes 0.
template <typename Format>
Half<Format> saturated(Half<Format> a) {
  return float(a) > 0 ? (float(a) < 1 ? a : Half<Format>(1)) : Half<Format>(0);
}
/// Returns the larger value. If one argument is NaN, returns the other argument. +0 is larger than
/// -0.
template <typename Format>
Half<Format> maximum(Half<Format> a, Half<Format> b) {
  if (is_nan(a) && is_nan(b)) return canonical_nan<Format>();
  if (float(a) == float(b)) return std::signbit(float(a)) ? b : a;
  return is_nan(b) || float(a) > float(b) ? a : b;
}
template <typename Format>
Half<Format> minimum(Half<Format> a, Half<Format> b) {
  if (is_nan(a) && is_nan(b)) return canonical_nan<Format>();
  if (float(a) == float(b)) return std::signbit(float(a)) ? a : b;
  return is_nan(b) || float(a) < float(b) ? a : b;
}
/// Replaces a negative value by zero, and returns NaN for NaN.
template <typename Format>
Half<Format> rectified(Half<Format> a) {
  return is_nan(a) ? canonical_nan<Format>() : maximum(a, Half<Format>(0));
}

}  // namespace cuda_on_cpu

// Functions whose names do not contain the format. The first argument determines the format, and
// the remaining arguments are converted to this format.
#define CUDA_ON_CPU_HALF_1(name, pair_name, value)                     \
  template <typename Format>                                           \
  cuda_on_cpu::Half<Format> name(cuda_on_cpu::Half<Format> a) {        \
    return value;                                                      \
  }                                                                    \
  template <typename Format>                                           \
  cuda_on_cpu::Half2<Format> pair_name(cuda_on_cpu::Half2<Format> a) { \
    return {name(a.x), name(a.y)};                                     \
  }
#define CUDA_ON_CPU_HALF_2(name, pair_name, value)                                         \
  template <typename Format>                                                               \
  cuda_on_cpu::Half<Format> name(cuda_on_cpu::Half<Format> a,                              \
                                 cuda_on_cpu::given<cuda_on_cpu::Half<Format>> b) {        \
    return value;                                                                          \
  }                                                                                        \
  template <typename Format>                                                               \
  cuda_on_cpu::Half2<Format> pair_name(cuda_on_cpu::Half2<Format> a,                       \
                                       cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> b) { \
    return {name(a.x, b.x), name(a.y, b.y)};                                               \
  }
#define CUDA_ON_CPU_HALF_3(name, pair_name, value)                                         \
  template <typename Format>                                                               \
  cuda_on_cpu::Half<Format> name(cuda_on_cpu::Half<Format> a,                              \
                                 cuda_on_cpu::given<cuda_on_cpu::Half<Format>> b,          \
                                 cuda_on_cpu::given<cuda_on_cpu::Half<Format>> c) {        \
    return value;                                                                          \
  }                                                                                        \
  template <typename Format>                                                               \
  cuda_on_cpu::Half2<Format> pair_name(cuda_on_cpu::Half2<Format> a,                       \
                                       cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> b,   \
                                       cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> c) { \
    return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                                     \
  }
/// Compares two values or two pairs. The result for two pairs is a pair with elements 1 or 0, a
/// mask, or whether the comparison is true for both elements.
#define CUDA_ON_CPU_HALF_COMPARISON(name, both_name, value)                                        \
  template <typename Format>                                                                       \
  bool name(cuda_on_cpu::Half<Format> a, cuda_on_cpu::given<cuda_on_cpu::Half<Format>> b) {        \
    return value;                                                                                  \
  }                                                                                                \
  template <typename Format>                                                                       \
  cuda_on_cpu::Half2<Format> name##2(cuda_on_cpu::Half2<Format> a,                                 \
                                     cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> b) {           \
    return {name(a.x, b.x) ? 1 : 0, name(a.y, b.y) ? 1 : 0};                                       \
  }                                                                                                \
  template <typename Format>                                                                       \
  unsigned name##2_mask(cuda_on_cpu::Half2<Format> a,                                              \
                        cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> b) {                        \
    return (name(a.x, b.x) ? 0xffffu : 0) | (name(a.y, b.y) ? 0xffff0000u : 0);                    \
  }                                                                                                \
  template <typename Format>                                                                       \
  bool both_name(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> b) { \
    return name(a.x, b.x) && name(a.y, b.y);                                                       \
  }
CUDA_ON_CPU_HALF_2(__hadd, __hadd2, a + b)
CUDA_ON_CPU_HALF_2(__hsub, __hsub2, a - b)
CUDA_ON_CPU_HALF_2(__hmul, __hmul2, a* b)
CUDA_ON_CPU_HALF_2(__hdiv, __h2div, a / b)
CUDA_ON_CPU_HALF_2(__hadd_rn, __hadd2_rn, a + b)
CUDA_ON_CPU_HALF_2(__hsub_rn, __hsub2_rn, a - b)
CUDA_ON_CPU_HALF_2(__hmul_rn, __hmul2_rn, a* b)
CUDA_ON_CPU_HALF_2(__hadd_sat, __hadd2_sat, cuda_on_cpu::saturated(a + b))
CUDA_ON_CPU_HALF_2(__hsub_sat, __hsub2_sat, cuda_on_cpu::saturated(a - b))
CUDA_ON_CPU_HALF_2(__hmul_sat, __hmul2_sat, cuda_on_cpu::saturated(a* b))
CUDA_ON_CPU_HALF_2(__hmax, __hmax2, cuda_on_cpu::maximum(a, b))
CUDA_ON_CPU_HALF_2(__hmin, __hmin2, cuda_on_cpu::minimum(a, b))
CUDA_ON_CPU_HALF_2(__hmax_nan, __hmax2_nan,
                   cuda_on_cpu::is_nan(a) || cuda_on_cpu::is_nan(b)
                       ? cuda_on_cpu::canonical_nan<Format>()
                       : cuda_on_cpu::maximum(a, b))
CUDA_ON_CPU_HALF_2(__hmin_nan, __hmin2_nan,
                   cuda_on_cpu::is_nan(a) || cuda_on_cpu::is_nan(b)
                       ? cuda_on_cpu::canonical_nan<Format>()
                       : cuda_on_cpu::minimum(a, b))
CUDA_ON_CPU_HALF_3(__hfma, __hfma2, cuda_on_cpu::fused(a, b, c))
CUDA_ON_CPU_HALF_3(__hfma_sat, __hfma2_sat, cuda_on_cpu::saturated(cuda_on_cpu::fused(a, b, c)))
CUDA_ON_CPU_HALF_3(__hfma_relu, __hfma2_relu, cuda_on_cpu::rectified(cuda_on_cpu::fused(a, b, c)))
CUDA_ON_CPU_HALF_1(__hneg, __hneg2, -a)
CUDA_ON_CPU_HALF_1(__habs, __habs2, std::fabs(float(a)))
CUDA_ON_CPU_HALF_1(hrcp, h2rcp, 1 / float(a))
CUDA_ON_CPU_HALF_1(hsqrt, h2sqrt, std::sqrt(float(a)))
CUDA_ON_CPU_HALF_1(hrsqrt, h2rsqrt, 1 / std::sqrt(float(a)))
CUDA_ON_CPU_HALF_1(hexp, h2exp, std::exp(float(a)))
CUDA_ON_CPU_HALF_1(hexp2, h2exp2, std::exp2(float(a)))
CUDA_ON_CPU_HALF_1(hexp10, h2exp10, std::pow(10.0, static_cast<double>(float(a))))
CUDA_ON_CPU_HALF_1(hlog, h2log, std::log(float(a)))
CUDA_ON_CPU_HALF_1(hlog2, h2log2, std::log2(float(a)))
CUDA_ON_CPU_HALF_1(hlog10, h2log10, std::log10(float(a)))
CUDA_ON_CPU_HALF_1(hsin, h2sin, std::sin(float(a)))
CUDA_ON_CPU_HALF_1(hcos, h2cos, std::cos(float(a)))
CUDA_ON_CPU_HALF_1(htanh, h2tanh, std::tanh(float(a)))
CUDA_ON_CPU_HALF_1(htanh_approx, h2tanh_approx, std::tanh(float(a)))
CUDA_ON_CPU_HALF_1(hfloor, h2floor, std::floor(float(a)))
CUDA_ON_CPU_HALF_1(hceil, h2ceil, std::ceil(float(a)))
CUDA_ON_CPU_HALF_1(htrunc, h2trunc, std::trunc(float(a)))
CUDA_ON_CPU_HALF_1(hrint, h2rint, std::nearbyint(float(a)))
CUDA_ON_CPU_HALF_COMPARISON(__heq, __hbeq2, float(a) == float(b))
CUDA_ON_CPU_HALF_COMPARISON(__hne, __hbne2, float(a) < float(b) || float(a) > float(b))
CUDA_ON_CPU_HALF_COMPARISON(__hlt, __hblt2, float(a) < float(b))
CUDA_ON_CPU_HALF_COMPARISON(__hle, __hble2, float(a) <= float(b))
CUDA_ON_CPU_HALF_COMPARISON(__hgt, __hbgt2, float(a) > float(b))
CUDA_ON_CPU_HALF_COMPARISON(__hge, __hbge2, float(a) >= float(b))
// The following comparisons are also true if an operand is NaN.
CUDA_ON_CPU_HALF_COMPARISON(__hequ, __hbequ2, !(float(a) < float(b) || float(a) > float(b)))
CUDA_ON_CPU_HALF_COMPARISON(__hneu, __hbneu2, !(float(a) == float(b)))
CUDA_ON_CPU_HALF_COMPARISON(__hltu, __hbltu2, !(float(a) >= float(b)))
CUDA_ON_CPU_HALF_COMPARISON(__hleu, __hbleu2, !(float(a) > float(b)))
CUDA_ON_CPU_HALF_COMPARISON(__hgtu, __hbgtu2, !(float(a) <= float(b)))
CUDA_ON_CPU_HALF_COMPARISON(__hgeu, __hbgeu2, !(float(a) < float(b)))
#undef CUDA_ON_CPU_HALF_1
#undef CUDA_ON_CPU_HALF_2
#undef CUDA_ON_CPU_HALF_3
#undef CUDA_ON_CPU_HALF_COMPARISON
template <typename Format>
bool __hisnan(cuda_on_cpu::Half<Format> a) {
  return cuda_on_cpu::is_nan(a);
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hisnan2(cuda_on_cpu::Half2<Format> a) {
  return {cuda_on_cpu::is_nan(a.x) ? 1 : 0, cuda_on_cpu::is_nan(a.y) ? 1 : 0};
}
/// Returns 1 for infinity, -1 for minus infinity, and 0 for any other value.
template <typename Format>
int __hisinf(cuda_on_cpu::Half<Format> a) {
  return std::isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0;
}
/// Computes a b + c for complex values.
template <typename Format>
cuda_on_cpu::Half2<Format> __hcmadd(cuda_on_cpu::Half2<Format> a,
                                    cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> b,
                                    cuda_on_cpu::given<cuda_on_cpu::Half2<Format>> c) {
  using cuda_on_cpu::fused;
  return {fused(-a.y, b.y, fused(a.x, b.x, c.x)), fused(a.y, b.x, fused(a.x, b.y, c.y))};
}
template <typename Format>
cuda_on_cpu::Half2<Format> __lowhigh2highlow(cuda_on_cpu::Half2<Format> a) {
  return {a.y, a.x};
}
template <typename Format>
float __low2float(cuda_on_cpu::Half2<Format> a) {
  return a.x;
}
template <typename Format>
float __high2float(cuda_on_cpu::Half2<Format> a) {
  return a.y;
}

// Conversions from and to integers. `half` is the name of the format in the function names.
#define CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, name, Integer, suffix, mode) \
  inline Integer __##half##2##name##_##suffix(Half a) {                      \
    return cuda_on_cpu::integer_of<Integer>(a, mode);                        \
  }
#define CUDA_ON_CPU_INTEGER_TO_HALF(half, Half, name, Integer, suffix, mode)               \
  inline Half __##name##2##half##_##suffix(Integer a) {                                    \
    return cuda_on_cpu::directed<Half>(                                                    \
        cuda_on_cpu::rounded_to_odd(static_cast<cuda_on_cpu::Widened<Integer>>(a)), mode); \
  }
#define CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, name, Integer)             \
  CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, name, Integer, rn, FE_TONEAREST)  \
  CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, name, Integer, rz, FE_TOWARDZERO) \
  CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, name, Integer, rd, FE_DOWNWARD)   \
  CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, name, Integer, ru, FE_UPWARD)     \
  inline Half __##name##2##half##_rn(Integer a) { return a; }               \
  CUDA_ON_CPU_INTEGER_TO_HALF(half, Half, name, Integer, rz, FE_TOWARDZERO) \
  CUDA_ON_CPU_INTEGER_TO_HALF(half, Half, name, Integer, rd, FE_DOWNWARD)   \
  CUDA_ON_CPU_INTEGER_TO_HALF(half, Half, name, Integer, ru, FE_UPWARD)
#define CUDA_ON_CPU_HALF_AND_INTEGERS(half, Half)                                  \
  CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, char, signed char, rz, FE_TOWARDZERO)    \
  CUDA_ON_CPU_HALF_TO_INTEGER(half, Half, uchar, unsigned char, rz, FE_TOWARDZERO) \
  CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, short, short)                           \
  CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, ushort, unsigned short)                 \
  CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, int, int)                               \
  CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, uint, unsigned)                         \
  CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, ll, long long)                          \
  CUDA_ON_CPU_HALF_AND_INTEGER(half, Half, ull, unsigned long long)

namespace cuda_on_cpu {

/// Atomically adds to a 16-bit value or to a pair, with a compare-and-swap loop on the bits.
/// Returns the old value.
template <typename Value, typename Bits>
Value add_by_bits(Value* address, Value operand) {
  auto* bits = reinterpret_cast<Bits*>(address);
  Bits old = atomic_load(bits, Order::relaxed);
  for (;;) {
    const Value number = bit_cast<Value>(old);
    const Bits seen = atomic_compare(bits, old, bit_cast<Bits>(number + operand));
    if (seen == old) return number;
    old = seen;
  }
}

}  // namespace cuda_on_cpu

template <typename Format>
cuda_on_cpu::Half<Format> atomicAdd(cuda_on_cpu::Half<Format>* address,
                                    cuda_on_cpu::Half<Format> operand) {
  return cuda_on_cpu::add_by_bits<cuda_on_cpu::Half<Format>, unsigned short>(address, operand);
}
template <typename Format>
cuda_on_cpu::Half2<Format> atomicAdd(cuda_on_cpu::Half2<Format>* address,
                                     cuda_on_cpu::Half2<Format> operand) {
  return cuda_on_cpu::add_by_bits<cuda_on_cpu::Half2<Format>, unsigned>(address, operand);
}
