/// \file
/// Moves registers from some warps of a block to others. Needs code for sm_90a; elsewhere the
/// functions have no effect.
///
/// All threads of a block start with the same number of registers. The four warps of a warpgroup
/// change this number together: all 128 threads call the function. Source: PTX ISA, "setmaxnreg".

#pragma once

#include <cuda_runtime.h>

namespace staircase {

/// Reduces the registers per thread to `registers`, a multiple of 8 from 24 to 256, and releases
/// the others.
template <int registers>
__device__ void keep_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers));
#endif
}

/// Increases the registers per thread to `registers`; waits until enough of them have been
/// released.
template <int registers>
__device__ void take_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers));
#endif
}

}  // namespace staircase
