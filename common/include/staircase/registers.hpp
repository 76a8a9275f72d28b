/// \file
/// Registers that some warps of a block hand to others of it. Needs compute capability 9.0.
///
/// A block starts with as many for each thread. Four warps in a row, from a multiple of four on,
/// change their number together; all 128 threads call a function, once. Source: PTX ISA,
/// "setmaxnreg".

#pragma once

#include <cuda_runtime.h>

namespace staircase {

/// Keeps so many registers for each thread, a multiple of 8 from 24 to 256, and gives back the
/// rest.
template <int registers>
__device__ void keep_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers));
#endif
}

/// Waits until there are so many for each thread, and takes them.
template <int registers>
__device__ void take_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers));
#endif
}

}  // namespace staircase
