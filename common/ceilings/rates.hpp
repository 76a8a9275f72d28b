/// \file
/// The peak rates of a device, and the lower bound that they imply for the time of a program.

#pragma once

#include <algorithm>
#include <harness/work.hpp>

namespace staircase {

/// The peak rates of a device, each measured by a loop that performs only one kind of operation.
struct Rates {
  double flops_f64;  ///< f64 operations per second; a fused multiply-add counts as two
  double flops_f32;  ///< f32 operations per second
  double bandwidth;  ///< copies in device memory: bytes read plus written per second
  /// The number of f64 operations per second in matrix products. The value is the rate of the
  /// tensor cores if they are faster than the CUDA cores.
  double flops_f64_matrix;

  /// A lower bound for the time of `work`, in seconds: the time of its operations or of its memory
  /// traffic, whichever is longer.
  double lower_bound(const Work& work, Precision precision) const {
    const double flops = precision == Precision::f32 ? flops_f32
                         : work.matrix               ? flops_f64_matrix
                                                     : flops_f64;
    return std::max(work.flops / flops, work.bytes / bandwidth);
  }
};

}  // namespace staircase
