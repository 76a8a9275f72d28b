/// \file
/// Faults of kernels.

#pragma once

namespace cuda_on_cpu {

/// From now on, faults of kernels on this thread of the operating system end the launch: an access
/// to unmapped memory with cudaErrorIllegalAddress, a stack overflow with
/// cudaErrorHardwareStackError, and a division by zero with cudaErrorLaunchFailure. Faults of host
/// code still end the program.
void catch_illegal_accesses();

}  // namespace cuda_on_cpu
