/// \file
/// The loops that measure the ceilings of the processor.

#pragma once

#include <span>

namespace staircase {

/// Kernels of independent multiply-adds; each returns the number of operations that it executed.
struct MultiplyAddKernels {
  double (*f64)(long steps);
  double (*f32)(long steps);
};

/// The kernels for the widest vectors of this processor.
MultiplyAddKernels multiply_add_kernels();

/// Copies `from` to `to`, which have equal sizes, with all threads.
void copy_in_parallel(std::span<const double> from, std::span<double> to);

}  // namespace staircase
