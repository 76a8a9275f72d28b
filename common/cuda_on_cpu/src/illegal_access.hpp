/// \file
/// Faults of kernels.

#pragma once

namespace cuda_on_cpu {

/// From now on, a kernel that touches memory which is not there fails with
/// cudaErrorIllegalAddress; the host's own faults end the program as ever.
void catch_illegal_accesses();

}  // namespace cuda_on_cpu
