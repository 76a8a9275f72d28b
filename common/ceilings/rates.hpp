/// \file
/// Peak rates, and the lower bound that they imply for the time of a program.

#pragma once

#include <algorithm>
#include <harness/work.hpp>

namespace staircase {

/// The peak rates of a device, measured with programs that do nothing else.
struct Rates {
  double flops_f64;  ///< f64 operations per second, fused multiply-adds counted as two
  double flops_f32;  ///< f32 operations per second
  double bandwidth;  ///< bytes per second read plus written by a copy within its memory
  /// f64 operations per second in matrix products, on tensor cores if these are faster.
  double flops_f64_matrix;

  /// A lower bound of the time for this work, in seconds.
  double lower_bound(const Work& work, Precision precision) const {
    const double flops = precision == Precision::f32 ? flops_f32
                         : work.matrix               ? flops_f64_matrix
                                                     : flops_f64;
    return std::max(work.flops / flops, work.bytes / bandwidth);
  }
};

}  // namespace staircase
