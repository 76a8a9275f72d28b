/// \file
/// Handles faults of kernels.

#pragma once

namespace cuda_on_cpu {

/// Ensures that a fault of a kernel on this operating-system thread ends the launch. The error is
/// cudaErrorIllegalAddress for an access to unmapped memory, cudaErrorHardwareStackError for a
/// stack overflow, and cudaErrorLaunchFailure for a division by zero. Faults of host code still end
/// the program.
void catch_illegal_accesses();

}  // namespace cuda_on_cpu
