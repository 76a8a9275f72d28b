/// \file
/// Operands on their way into shared memory: places that one thread has filled by the copy engine,
/// and warps empty, in turns.

#pragma once

#include "bulk_copy.hpp"

namespace staircase {

// [pipeline]
/// So many places in shared memory for the operands of steps, which are numbered from 0.
template <typename Operands, unsigned places>
struct Pipeline {
  Operands operands[places];
  TransferBarrier full[places], empty[places];

  /// Called by one thread, before a __syncthreads(): so many warps read each step.
  __device__ void start(unsigned warps) { init(full, empty, warps); }

  /// The place for step k, when it is empty. So many bytes are to come, by copies that tell
  /// `full[k % places]`.
  __device__ Operands& fill(unsigned k, unsigned bytes) {
    empty[k % places].wait((k / places + 1) % 2);
    full[k % places].arrive_and_expect(bytes);
    return operands[k % places];
  }

  /// The operands of step k, when they are there.
  __device__ const Operands& wait(unsigned k) {
    full[k % places].wait(k / places % 2);
    return operands[k % places];
  }

  /// A warp will not read step k any more.
  __device__ void release(unsigned k) {
    if (threadIdx.x % 32 == 0) empty[k % places].arrive();
  }
};
// [pipeline]

}  // namespace staircase
