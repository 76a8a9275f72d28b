/// \file
/// The work of a problem, and the floating-point precision.

#pragma once

namespace staircase {

/// The floating-point type that a solve computes in.
enum class Precision { f64, f32 };

/// Bytes of one element.
constexpr double bytes_of(Precision precision) { return precision == Precision::f64 ? 8 : 4; }

/// The work of a problem, counted in the same way for all stages.
struct Work {
  double flops;  ///< operations: additions, multiplications, divisions, elementary functions
  double bytes;  ///< compulsory memory traffic: the input is read once, the solution written once
  bool matrix = false;  ///< whether it consists of matrix products, so that tensor cores can do it
};

}  // namespace staircase
