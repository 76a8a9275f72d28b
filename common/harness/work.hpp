/// \file
/// The work of a problem, and the floating-point precision of a solve.

#pragma once

namespace staircase {

/// The floating-point type in which a solve computes.
enum class Precision { f64, f32 };

/// The size of an element in bytes.
constexpr double bytes_of(Precision precision) { return precision == Precision::f64 ? 8 : 4; }

/// The work of a problem. The work is the same for all stages of a workload.
struct Work {
  double flops;  ///< number of additions, multiplications, divisions and elementary functions
  double bytes;  ///< compulsory memory traffic: reading the input and writing the solution once
  bool matrix = false;  ///< whether the work is a matrix product, which tensor cores can compute
};

}  // namespace staircase
