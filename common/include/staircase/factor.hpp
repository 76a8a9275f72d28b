/// \file
/// Products of small matrices by a warp on tensor cores: in f64 directly, and in f32 by products in
/// tf32.

#pragma once

#include <cstdint>

#include "mma.hpp"

namespace staircase {

// [factor]
/// An element as an operand of tensor cores. An f64 element is one operand. A tf32 operand stores
/// only the 11 leading bits of the f32 significand, so an f32 element is split into a high and a
/// low part.
template <typename T>
struct Factor;
template <>
struct Factor<double> {
  double value;
};
template <>
struct Factor<float> {
  std::uint32_t high, low;
};

__device__ inline Factor<double> factor(double value) { return {value}; }
__device__ inline Factor<float> factor(float value) {
  const std::uint32_t high = to_tf32(value);
  return {high, to_tf32(value - __uint_as_float(high))};
}

/// Computes C += A·B, with 16 × 8 elements of A and 8 × 8 of B. Each lane passes its fragments of
/// A, B and C; mma.hpp describes the layout of fragments.
__device__ inline void multiply_add(double (&c)[4], const Factor<double> (&a)[4],
                                    const Factor<double> (&b)[2]) {
  const double of_a[4] = {a[0].value, a[1].value, a[2].value, a[3].value};
  const double of_b[2] = {b[0].value, b[1].value};
  mma_f64_m16n8k8(c, of_a, of_b);
}

/// Computes C += A·B in f32, for the same shapes, by three products in tf32. The product of the two
/// low parts is omitted, because its relative size is only 2⁻²².
__device__ inline void multiply_add(float (&c)[4], const Factor<float> (&a)[4],
                                    const Factor<float> (&b)[2]) {
  const std::uint32_t high_a[4] = {a[0].high, a[1].high, a[2].high, a[3].high};
  const std::uint32_t low_a[4] = {a[0].low, a[1].low, a[2].low, a[3].low};
  const std::uint32_t high_b[2] = {b[0].high, b[1].high}, low_b[2] = {b[0].low, b[1].low};
  mma_tf32_m16n8k8(c, high_a, low_b);
  mma_tf32_m16n8k8(c, low_a, high_b);
  mma_tf32_m16n8k8(c, high_a, high_b);
}
// [factor]

/// Computes C += A·B, with 16 × 16 elements of A and 16 × 8 of B. The f64 overload executes one
/// instruction; the f32 overload computes two products of half the depth.
__device__ inline void multiply_add(double (&c)[4], const Factor<double> (&a)[2][4],
                                    const Factor<double> (&b)[2][2]) {
  double of_a[8], of_b[4];
  for (unsigned e = 0; e < 8; ++e) of_a[e] = a[e / 4][e % 4].value;
  for (unsigned e = 0; e < 4; ++e) of_b[e] = b[e / 2][e % 2].value;
  mma_f64_m16n8k16(c, of_a, of_b);
}
__device__ inline void multiply_add(float (&c)[4], const Factor<float> (&a)[2][4],
                                    const Factor<float> (&b)[2][2]) {
  for (unsigned k = 0; k < 2; ++k) multiply_add(c, a[k], b[k]);
}

}  // namespace staircase
