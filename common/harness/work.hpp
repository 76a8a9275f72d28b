/// \file
/// The work that a problem needs, and the numbers that it is done in.

#pragma once

namespace staircase {

/// The floating-point type that a solve computes in.
enum class Precision { f64, f32 };

/// Bytes of one number.
constexpr double bytes_of(Precision precision) { return precision == Precision::f64 ? 8 : 4; }

/// The work that the problem needs whatever the stage.
struct Work {
  double flops;  ///< additions, multiplications, divisions and elementary functions, one each
  double bytes;  ///< compulsory traffic: input read once, solution written once
  bool matrix = false;  ///< a product of matrices, which tensor cores may do
};

}  // namespace staircase
