/// \file
/// Handles faults of kernels.

#pragma once

namespace cuda_on_cpu {

/// Ensures that a fault of a kernel on this operating-system thread ends the launch. An access to
/// unmapped memory gives cudaErrorIllegalAddress, a stack overflow cudaErrorHardwareStackError, and
/// a division by zero cudaErrorLaunchFailure. Faults of host code still end the program.
void catch_illegal_accesses();

}  // namespace cuda_on_cpu
