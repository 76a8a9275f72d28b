/// \file
/// The loops that the ceilings are measured with.

#pragma once

#include <span>

namespace staircase {

/// Chains of independent multiply-adds; each kernel returns the operations that it did.
struct MultiplyAddKernels {
  double (*f64)(long steps);
  double (*f32)(long steps);
};

/// The kernels for the widest vectors that this processor has.
MultiplyAddKernels multiply_add_kernels();

/// Copies `from` to `to`, of one size, on all threads.
void copy_in_parallel(std::span<const double> from, std::span<double> to);

}  // namespace staircase
