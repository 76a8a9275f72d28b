/// \file
/// The formats of small floating-point values: 16, 8, 6 and 4 bits.

#pragma once

#include <cmath>
#include <cstdint>

#include "standard.hpp"

namespace cuda_on_cpu {

/// The IEEE binary16 format, with rounding to nearest, ties to even. Not all compilers provide a
/// type for this format.
struct Binary16 {
  static std::uint16_t bits(float number) {
    const auto whole = bit_cast<std::uint32_t>(number);
    const float size = std::abs(number);
    std::uint32_t rounded = 0x7c00;  // infinity
    if (std::isnan(number))
      rounded = 0x7e00 | (whole >> 13 & 0x1ff);
    else if (size < 0x1p-14f)  // the sum is rounded to a multiple of the smallest positive value
      rounded = bit_cast<std::uint32_t>(size + 0.5f) - bit_cast<std::uint32_t>(0.5f);
    else if (size < 65520)  // smaller magnitudes round to a finite value
      rounded = ((whole & 0x7fff'ffff) + 0xfff + (whole >> 13 & 1) - (112u << 23)) >> 13;
    return static_cast<std::uint16_t>((whole >> 16 & 0x8000) | rounded);
  }
  static float number(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16, size = (bits & 0x7fffu) << 13;
    if (size >= 0x7c00u << 13) return bit_cast<float>(sign | 0xffu << 23 | size);
    return bit_cast<float>(sign | size) * 0x1p112f;
  }
};

/// The bfloat16 format, the upper half of a float, with rounding to nearest, ties to even.
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

/// The meaning of the largest exponent: infinities and NaN as in IEEE 754, finite values and one
/// NaN, or finite values only.
enum class Specials { infinities, one_nan, none };

/// A format of at most 8 bits: a sign, an exponent with the bias of IEEE 754, and a fraction.
/// Sources: OCP Microscaling Formats Specification, version 1.0; OCP 8-bit Floating Point
/// Specification.
template <int exponent_bits, int fraction_bits, Specials specials>
struct SmallFormat {
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr unsigned sign = 1u << (exponent_bits + fraction_bits);
  static constexpr unsigned hidden = 1u << fraction_bits;  ///< implicit leading significand bit
  static constexpr unsigned largest = specials == Specials::infinities ? sign - hidden - 1
                                      : specials == Specials::one_nan  ? sign - 2
                                                                       : sign - 1;
  static constexpr unsigned infinity = sign - hidden, nan = sign - 1;

  /// The value of a bit pattern. Bits above the sign bit are ignored.
  static float number(unsigned bits) {
    const unsigned size = bits & (sign - 1), exponent = size >> fraction_bits;
    float value = 0;
    if (specials != Specials::none && size > largest)
      value = specials == Specials::infinities && size == infinity ? HUGE_VALF : NAN;
    else if (exponent == 0)
      value = std::ldexp(static_cast<float>(size), 1 - bias - fraction_bits);
    else
      value = std::ldexp(static_cast<float>((size & (hidden - 1)) | hidden),
                         static_cast<int>(exponent) - bias - fraction_bits);
    return (bits & sign) != 0 ? -value : value;
  }

  /// The bit pattern of a value, rounded to nearest (ties to even) or `towards_zero`. A value that
  /// is too large becomes the largest finite value if `saturates`. Without `saturates`, such a
  /// value becomes infinity, or NaN in a format without infinities. NaN becomes the largest value
  /// in a format without NaN.
  static unsigned bits(double number, bool saturates, bool towards_zero = false) {
    if (std::isnan(number)) return specials == Specials::none ? largest : nan;
    const unsigned of_sign = std::signbit(number) ? sign : 0;
    const unsigned beyond = saturates || specials == Specials::none ? largest
                            : specials == Specials::infinities      ? infinity
                                                                    : nan;
    const double size = std::fabs(number);
    if (size >= std::ldexp(1.0, 2 * bias + 4)) return of_sign | beyond;
    const int lowest = 1 - bias;
    int exponent = size == 0 ? lowest : std::ilogb(size);
    if (exponent < lowest) exponent = lowest;
    const double scaled = std::ldexp(size, fraction_bits - exponent);
    const double fraction = towards_zero ? std::floor(scaled) : std::nearbyint(scaled);
    const unsigned rounded = (static_cast<unsigned>(exponent + bias - 1) << fraction_bits) +
                             static_cast<unsigned>(fraction);
    return of_sign | (rounded > largest ? beyond : rounded);
  }
};

/// The E8M0 format: an unsigned 8-bit exponent without a fraction. The value is 2^(bits - 127), or
/// NaN.
struct E8M0 {
  static constexpr unsigned nan = 0xff;

  static float number(unsigned bits) {
    return (bits & nan) == nan ? NAN : std::ldexp(1.0f, static_cast<int>(bits & nan) - 127);
  }
  /// The bit pattern of the largest power of two that does not exceed |number|. If `upwards`, it is
  /// the smallest power of two that is not less than |number|.
  static unsigned bits(double number, bool saturates, bool upwards) {
    if (std::isnan(number)) return nan;
    const double size = std::fabs(number);
    if (!(size > std::ldexp(1.0, -127))) return 0;
    const unsigned beyond = saturates ? nan - 1 : nan;
    if (std::isinf(size)) return beyond;
    int exponent = std::ilogb(size);
    if (upwards && size > std::ldexp(1.0, exponent)) ++exponent;
    return exponent > 127 ? beyond : static_cast<unsigned>(exponent + 127);
  }
};

using E4M3 = SmallFormat<4, 3, Specials::one_nan>;
using E5M2 = SmallFormat<5, 2, Specials::infinities>;
using E2M3 = SmallFormat<2, 3, Specials::none>;
using E3M2 = SmallFormat<3, 2, Specials::none>;
using E2M1 = SmallFormat<2, 1, Specials::none>;

}  // namespace cuda_on_cpu
