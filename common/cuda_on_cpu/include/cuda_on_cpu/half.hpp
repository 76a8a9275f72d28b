/// \file
/// The 16-bit floating-point types: stored in 16 bits, each operation rounded once from float.

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
    else if (size < 0x1p-14f)  // the sum has the places of the smallest numbers
      rounded = bit_cast<std::uint32_t>(size + 0.5f) - bit_cast<std::uint32_t>(0.5f);
    else if (size < 65520)  // what is less is rounded to a finite number
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

/// A float that is rounded to 16 bits as the double itself would be: one that is not exact has an
/// odd last bit, and so never lies halfway between two numbers of 16 bits.
inline float rounded_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  if (nearest == number || (bit_cast<std::uint32_t>(nearest) & 1) != 0) return nearest;
  return std::nextafter(nearest, static_cast<float>(number > nearest ? INFINITY : -INFINITY));
}

/// A number of 16 bits; arithmetic is that of float, rounded to the format.
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

/// A float in 16 bits by a directed rounding: the nearest number or its neighbour.
template <typename H>
H directed(float number, int mode) {
  const H nearest = number;
  const float found = nearest;
  if (found == number || std::isnan(number)) return nearest;
  const bool upwards = mode == FE_UPWARD || (mode == FE_TOWARDZERO && number < 0);
  if (upwards ? found > number : found < number) return nearest;
  H neighbour = nearest;
  if (found == 0) {
    neighbour.bits = upwards ? 0x0001 : 0x8001;
  } else if (upwards == (found > 0)) {
    ++neighbour.bits;
  } else {
    --neighbour.bits;
  }
  return neighbour;
}

template <typename F>
Half<F> fused(Half<F> a, Half<F> b, Half<F> c) {
  return std::fma(static_cast<double>(float(a)), float(b), float(c));
}

}  // namespace cuda_on_cpu

// Functions whose names do not tell the format.
template <typename F>
cuda_on_cpu::Half<F> __hadd(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a + b;
}
template <typename F>
cuda_on_cpu::Half<F> __hsub(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a - b;
}
template <typename F>
cuda_on_cpu::Half<F> __hmul(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a * b;
}
template <typename F>
cuda_on_cpu::Half<F> __hdiv(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a / b;
}
template <typename F>
cuda_on_cpu::Half<F> __hneg(cuda_on_cpu::Half<F> a) {
  return -a;
}
template <typename F>
cuda_on_cpu::Half<F> __habs(cuda_on_cpu::Half<F> a) {
  return std::fabs(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> __hfma(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b,
                            cuda_on_cpu::Half<F> c) {
  return cuda_on_cpu::fused(a, b, c);
}
template <typename F>
cuda_on_cpu::Half<F> __hmax(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return std::fmax(float(a), float(b));
}
template <typename F>
cuda_on_cpu::Half<F> __hmin(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return std::fmin(float(a), float(b));
}
template <typename F>
bool __heq(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a == b;
}
template <typename F>
bool __hlt(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a < b;
}
template <typename F>
bool __hgt(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return a > b;
}
template <typename F>
bool __hne(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return float(a) != float(b);
}
template <typename F>
bool __hle(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return float(a) <= float(b);
}
template <typename F>
bool __hge(cuda_on_cpu::Half<F> a, cuda_on_cpu::Half<F> b) {
  return float(a) >= float(b);
}
template <typename F>
bool __hisnan(cuda_on_cpu::Half<F> a) {
  return std::isnan(float(a));
}
template <typename F>
cuda_on_cpu::Half2<F> __hadd2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return a + b;
}
template <typename F>
cuda_on_cpu::Half2<F> __hsub2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return a - b;
}
template <typename F>
cuda_on_cpu::Half2<F> __hmul2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return a * b;
}
template <typename F>
cuda_on_cpu::Half2<F> __hfma2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b,
                              cuda_on_cpu::Half2<F> c) {
  return {cuda_on_cpu::fused(a.x, b.x, c.x), cuda_on_cpu::fused(a.y, b.y, c.y)};
}
template <typename F>
cuda_on_cpu::Half<F> hsqrt(cuda_on_cpu::Half<F> a) {
  return std::sqrt(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hexp(cuda_on_cpu::Half<F> a) {
  return std::exp(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hlog(cuda_on_cpu::Half<F> a) {
  return std::log(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hrsqrt(cuda_on_cpu::Half<F> a) {
  return 1 / std::sqrt(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hsin(cuda_on_cpu::Half<F> a) {
  return std::sin(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hcos(cuda_on_cpu::Half<F> a) {
  return std::cos(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hrcp(cuda_on_cpu::Half<F> a) {
  return 1 / float(a);
}
template <typename F>
cuda_on_cpu::Half<F> hfloor(cuda_on_cpu::Half<F> a) {
  return std::floor(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hceil(cuda_on_cpu::Half<F> a) {
  return std::ceil(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> htrunc(cuda_on_cpu::Half<F> a) {
  return std::trunc(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hrint(cuda_on_cpu::Half<F> a) {
  return std::nearbyint(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hexp2(cuda_on_cpu::Half<F> a) {
  return std::exp2(float(a));
}
template <typename F>
cuda_on_cpu::Half<F> hlog2(cuda_on_cpu::Half<F> a) {
  return std::log2(float(a));
}
template <typename F>
cuda_on_cpu::Half2<F> __lowhigh2highlow(cuda_on_cpu::Half2<F> a) {
  return {a.y, a.x};
}
template <typename F>
cuda_on_cpu::Half2<F> __hmax2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <typename F>
cuda_on_cpu::Half2<F> __hmin2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <typename F>
cuda_on_cpu::Half2<F> __hlt2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return {a.x < b.x ? 1 : 0, a.y < b.y ? 1 : 0};
}
template <typename F>
cuda_on_cpu::Half2<F> __hgt2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return {a.x > b.x ? 1 : 0, a.y > b.y ? 1 : 0};
}
template <typename F>
cuda_on_cpu::Half2<F> __heq2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return {a.x == b.x ? 1 : 0, a.y == b.y ? 1 : 0};
}
template <typename F>
bool __hbeq2(cuda_on_cpu::Half2<F> a, cuda_on_cpu::Half2<F> b) {
  return a == b;
}
template <typename F>
float __low2float(cuda_on_cpu::Half2<F> a) {
  return a.x;
}
template <typename F>
float __high2float(cuda_on_cpu::Half2<F> a) {
  return a.y;
}

namespace cuda_on_cpu {

/// Adds to a number of 16 bits, or to a pair, by comparing and exchanging its bits.
template <typename T, typename Bits>
T add_by_bits(T* address, T operand) {
  auto* bits = reinterpret_cast<Bits*>(address);
  Bits old = atomic_load(bits, Order::relaxed);
  for (;;) {
    const T number = bit_cast<T>(old);
    const Bits seen = atomic_compare(bits, old, bit_cast<Bits>(number + operand));
    if (seen == old) return number;
    old = seen;
  }
}

}  // namespace cuda_on_cpu

template <typename F>
cuda_on_cpu::Half<F> atomicAdd(cuda_on_cpu::Half<F>* address, cuda_on_cpu::Half<F> operand) {
  return cuda_on_cpu::add_by_bits<cuda_on_cpu::Half<F>, unsigned short>(address, operand);
}
template <typename F>
cuda_on_cpu::Half2<F> atomicAdd(cuda_on_cpu::Half2<F>* address, cuda_on_cpu::Half2<F> operand) {
  return cuda_on_cpu::add_by_bits<cuda_on_cpu::Half2<F>, unsigned>(address, operand);
}
