/// \file
/// The 16-bit floating-point types. Operations compute in float and round the result once.

#pragma once

#include <cmath>
#include <cstdint>

#include "../cuda_runtime.h"

namespace cuda_on_cpu {

/// IEEE binary16, rounded to nearest, ties to even. Not all compilers have a type for it.
struct Binary16 {
  static std::uint16_t bits(float number) {
    const auto whole = bit_cast<std::uint32_t>(number);
    const float size = std::abs(number);
    std::uint32_t rounded = 0x7c00;  // infinity
    if (std::isnan(number))
      rounded = 0x7e00 | (whole >> 13 & 0x1ff);
    else if (size < 0x1p-14f)  // the sum is rounded like a subnormal value
      rounded = bit_cast<std::uint32_t>(size + 0.5f) - bit_cast<std::uint32_t>(0.5f);
    else if (size < 65520)  // smaller values are rounded to finite ones
      rounded = ((whole & 0x7fff'ffff) + 0xfff + (whole >> 13 & 1) - (112u << 23)) >> 13;
    return static_cast<std::uint16_t>((whole >> 16 & 0x8000) | rounded);
  }
  static float number(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16, size = (bits & 0x7fffu) << 13;
    if (size >= 0x7c00u << 13) return bit_cast<float>(sign | 0xffu << 23 | size);
    return bit_cast<float>(sign | size) * 0x1p112f;
  }
};

/// bfloat16: the upper half of a float, rounded to nearest, ties to even.
struct BFloat16 {
  static std::uint16_t bits(float number) {
    const auto whole = bit_cast<std::uint32_t>(number);
    if (std::isnan(number)) return static_cast<std::uint16_t>(whole >> 16 | 0x40);
    return static_cast<std::uint16_t>((whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  static float number(std::uint16_t bits) {
    return bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// Rounds a double to odd: a float that is not exact has an odd last bit, so it never lies halfway
/// between two 16-bit values. Rounding this float to 16 bits gives the same value as rounding the
/// double directly.
inline float rounded_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  if (nearest == number || (bit_cast<std::uint32_t>(nearest) & 1) != 0) return nearest;
  return std::nextafter(nearest, static_cast<float>(number > nearest ? INFINITY : -INFINITY));
}

/// A 16-bit floating-point value. Operations compute in float and round the result to the format.
template <typename Format>
struct Half {
  std::uint16_t bits;

  Half() = default;
  Half(float number) : bits(Format::bits(number)) {}
  Half(double number) : bits(Format::bits(rounded_to_odd(number))) {}
  Half(int number) : bits(Format::bits(static_cast<float>(number))) {}
  Half(unsigned number) : bits(Format::bits(static_cast<float>(number))) {}
  operator float() const { return Format::number(bits); }

  friend Half operator+(Half a, Half b) { return float(a) + float(b); }
  friend Half operator-(Half a, Half b) { return float(a) - float(b); }
  friend Half operator*(Half a, Half b) { return float(a) * float(b); }
  friend Half operator/(Half a, Half b) { return float(a) / float(b); }
  friend Half operator-(Half a) { return -float(a); }
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

  friend Half2 operator+(Half2 a, Half2 b) { return {a.x + b.x, a.y + b.y}; }
  friend Half2 operator-(Half2 a, Half2 b) { return {a.x - b.x, a.y - b.y}; }
  friend Half2 operator*(Half2 a, Half2 b) { return {a.x * b.x, a.y * b.y}; }
  friend Half2 operator/(Half2 a, Half2 b) { return {a.x / b.x, a.y / b.y}; }
  friend Half2 operator-(Half2 a) { return {-a.x, -a.y}; }
  friend bool operator==(Half2 a, Half2 b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(Half2 a, Half2 b) { return !(a == b); }
  Half2& operator+=(Half2 b) { return *this = *this + b; }
  Half2& operator-=(Half2 b) { return *this = *this - b; }
  Half2& operator/=(Half2 b) { return *this = *this / b; }
  Half2& operator*=(Half2 b) { return *this = *this * b; }
};

/// Rounds a float to 16 bits in the direction `mode`: to the nearest value or its neighbour.
template <typename Rounded>
Rounded directed(float number, int mode) {
  const Rounded nearest = number;
  const float found = nearest;
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

template <typename Format>
Half<Format> fused(Half<Format> a, Half<Format> b, Half<Format> c) {
  return std::fma(static_cast<double>(float(a)), float(b), float(c));
}

}  // namespace cuda_on_cpu

// Functions whose names do not contain the format.
template <typename Format>
cuda_on_cpu::Half<Format> __hadd(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a + b;
}
template <typename Format>
cuda_on_cpu::Half<Format> __hsub(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a - b;
}
template <typename Format>
cuda_on_cpu::Half<Format> __hmul(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a * b;
}
template <typename Format>
cuda_on_cpu::Half<Format> __hdiv(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a / b;
}
template <typename Format>
cuda_on_cpu::Half<Format> __hneg(cuda_on_cpu::Half<Format> a) {
  return -a;
}
template <typename Format>
cuda_on_cpu::Half<Format> __habs(cuda_on_cpu::Half<Format> a) {
  return std::fabs(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> __hfma(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b,
                                 cuda_on_cpu::Half<Format> c) {
  return cuda_on_cpu::fused(a, b, c);
}
template <typename Format>
cuda_on_cpu::Half<Format> __hmax(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return std::fmax(float(a), float(b));
}
template <typename Format>
cuda_on_cpu::Half<Format> __hmin(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return std::fmin(float(a), float(b));
}
template <typename Format>
bool __heq(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a == b;
}
template <typename Format>
bool __hlt(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a < b;
}
template <typename Format>
bool __hgt(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return a > b;
}
template <typename Format>
bool __hne(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return float(a) != float(b);
}
template <typename Format>
bool __hle(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return float(a) <= float(b);
}
template <typename Format>
bool __hge(cuda_on_cpu::Half<Format> a, cuda_on_cpu::Half<Format> b) {
  return float(a) >= float(b);
}
template <typename Format>
bool __hisnan(cuda_on_cpu::Half<Format> a) {
  return std::isnan(float(a));
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hadd2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return a + b;
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hsub2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return a - b;
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hmul2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return a * b;
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hfma2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b,
                                   cuda_on_cpu::Half2<Format> c) {
  return {cuda_on_cpu::fused(a.x, b.x, c.x), cuda_on_cpu::fused(a.y, b.y, c.y)};
}
template <typename Format>
cuda_on_cpu::Half<Format> hsqrt(cuda_on_cpu::Half<Format> a) {
  return std::sqrt(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hexp(cuda_on_cpu::Half<Format> a) {
  return std::exp(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hlog(cuda_on_cpu::Half<Format> a) {
  return std::log(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hrsqrt(cuda_on_cpu::Half<Format> a) {
  return 1 / std::sqrt(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hsin(cuda_on_cpu::Half<Format> a) {
  return std::sin(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hcos(cuda_on_cpu::Half<Format> a) {
  return std::cos(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hrcp(cuda_on_cpu::Half<Format> a) {
  return 1 / float(a);
}
template <typename Format>
cuda_on_cpu::Half<Format> hfloor(cuda_on_cpu::Half<Format> a) {
  return std::floor(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hceil(cuda_on_cpu::Half<Format> a) {
  return std::ceil(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> htrunc(cuda_on_cpu::Half<Format> a) {
  return std::trunc(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hrint(cuda_on_cpu::Half<Format> a) {
  return std::nearbyint(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hexp2(cuda_on_cpu::Half<Format> a) {
  return std::exp2(float(a));
}
template <typename Format>
cuda_on_cpu::Half<Format> hlog2(cuda_on_cpu::Half<Format> a) {
  return std::log2(float(a));
}
template <typename Format>
cuda_on_cpu::Half2<Format> __lowhigh2highlow(cuda_on_cpu::Half2<Format> a) {
  return {a.y, a.x};
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hmax2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hmin2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hlt2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return {a.x < b.x ? 1 : 0, a.y < b.y ? 1 : 0};
}
template <typename Format>
cuda_on_cpu::Half2<Format> __hgt2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return {a.x > b.x ? 1 : 0, a.y > b.y ? 1 : 0};
}
template <typename Format>
cuda_on_cpu::Half2<Format> __heq2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return {a.x == b.x ? 1 : 0, a.y == b.y ? 1 : 0};
}
template <typename Format>
bool __hbeq2(cuda_on_cpu::Half2<Format> a, cuda_on_cpu::Half2<Format> b) {
  return a == b;
}
template <typename Format>
float __low2float(cuda_on_cpu::Half2<Format> a) {
  return a.x;
}
template <typename Format>
float __high2float(cuda_on_cpu::Half2<Format> a) {
  return a.y;
}

namespace cuda_on_cpu {

/// Adds atomically to a 16-bit value or to a pair, with a compare-and-swap loop on the bits.
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
