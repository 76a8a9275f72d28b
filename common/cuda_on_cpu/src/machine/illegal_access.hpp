/// \file
/// Faults of kernels.

#pragma once

namespace cuda_on_cpu {

/// From now on, a kernel on this thread of the operating system that touches memory which is not
/// there fails with cudaErrorIllegalAddress, and one that uses up a stack with
/// cudaErrorHardwareStackError; the host's own faults end the program as ever.
void catch_illegal_accesses();

}  // namespace cuda_on_cpu
