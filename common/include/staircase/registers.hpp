/// \file
/// Moves registers from some warps of a thread block to other warps. Registers can be moved only in
/// code for sm_90a; in other code, the functions have no effect.
///
/// All threads of a block start with the same number of registers. The four warps of a warpgroup
/// change this number together, so all 128 threads must call the function. Source: PTX ISA,
/// "setmaxnreg".

#pragma once

#include <cuda_runtime.h>

namespace staircase {

/// Reduces the number of registers per thread to `registers`, a multiple of 8 from 24 to 256, and
/// releases the remaining registers.
template <int registers>
__device__ void keep_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers));
#endif
}

/// Increases the number of registers per thread to `registers`. Waits until other warps have
/// released enough registers.
template <int registers>
__device__ void take_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers));
#endif
}

}  // namespace staircase
