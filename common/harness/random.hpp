/// \file
/// Random values that depend only on a seed and an index. Any part of an input can therefore be
/// generated independently of the rest.

#pragma once

#include <cmath>
#include <cstdint>

namespace staircase {

/// A value from -1 to 1, computed from element `index` of the SplitMix64 sequence of a seed.
/// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
inline double random_number(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed << 40) + (index + 1) * 0x9E37'79B9'7F4A'7C15;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  z ^= z >> 31;
  return static_cast<double>(static_cast<std::int64_t>(z) >> 11) * 0x1p-52;
}

/// A random multiple of 2⁻²³ that is at least -1 and less than 1. Such values are exact in f32.
inline double random_multiple(std::uint64_t seed, std::uint64_t index) {
  return std::floor(random_number(seed, index) * 0x1p23) * 0x1p-23;
}

}  // namespace staircase
