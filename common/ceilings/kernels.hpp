/// \file
/// The loops that measure the peak rates of the processor.

#pragma once

#include <span>

namespace staircase {

/// Kernels of independent multiply-adds. Each kernel returns the number of operations that it
/// executed.
struct MultiplyAddKernels {
  double (*f64)(long steps);
  double (*f32)(long steps);
};

/// Returns the kernels for the widest vectors of this processor.
MultiplyAddKernels multiply_add_kernels();

/// Copies `from` to `to` with all threads. Both spans must have the same size.
void copy_in_parallel(std::span<const double> from, std::span<double> to);

}  // namespace staircase
