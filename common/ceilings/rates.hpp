/// \file
/// The rates that bound a program's time from below.

#pragma once

#include <algorithm>
#include <harness/work.hpp>

namespace staircase {

/// What a device reaches on programs that do nothing else.
struct Rates {
  double flops_f64;  ///< f64 operations per second, fused multiply-adds counted as two
  double flops_f32;  ///< the same in f32
  double bandwidth;  ///< bytes per second read plus written by a copy within its memory
  /// f64 operations per second of products of matrices: on tensor cores where these are faster.
  double flops_f64_matrix;

  /// The least time that any program needs for this work, in seconds.
  double floor(const Work& work, Precision precision) const {
    const double flops = precision == Precision::f32 ? flops_f32
                         : work.matrix               ? flops_f64_matrix
                                                     : flops_f64;
    return std::max(work.flops / flops, work.bytes / bandwidth);
  }
};

}  // namespace staircase
