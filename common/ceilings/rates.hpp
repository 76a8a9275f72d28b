/// \file
/// The peak rates of a device, and the lower bound that they imply for the time of a program.

#pragma once

#include <algorithm>
#include <harness/work.hpp>

namespace staircase {

/// The peak rates of a device, measured with programs that perform no other work.
struct Rates {
  double flops_f64;  ///< f64 operations per second; a fused multiply-add counts as two
  double flops_f32;  ///< f32 operations per second
  double bandwidth;  ///< copies in device memory: bytes read plus written per second
  /// The number of f64 operations per second in matrix products. Matrix products use tensor cores
  /// if tensor cores are faster.
  double flops_f64_matrix;

  /// A lower bound for the time of this work, in seconds.
  double lower_bound(const Work& work, Precision precision) const {
    const double flops = precision == Precision::f32 ? flops_f32
                         : work.matrix               ? flops_f64_matrix
                                                     : flops_f64;
    return std::max(work.flops / flops, work.bytes / bandwidth);
  }
};

}  // namespace staircase
