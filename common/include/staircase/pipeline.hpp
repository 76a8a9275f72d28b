/// \file
/// A circular buffer of operands in shared memory. One thread fills the slots of the buffer by bulk
/// copies (TMA), and warps read the slots.

#pragma once

#include "bulk_copy.hpp"

namespace staircase {

// [pipeline]
/// `slots` slots in shared memory for the operands of steps 0, 1, … Step k uses slot k mod
/// `slots`.
template <typename Operands, unsigned slots>
struct Pipeline {
  Operands operands[slots];
  TransferBarrier full[slots], empty[slots];

  /// Initialises the barriers for `warps` reading warps. Exactly one thread calls the function. A
  /// __syncthreads() must follow before other threads use the barriers.
  __device__ void start(unsigned warps) { init(full, empty, warps); }

  /// Waits until the slot of step k is empty and returns the slot. The caller then starts copies of
  /// `bytes` bytes in total, which signal `full[k % slots]` when they complete.
  __device__ Operands& fill(unsigned k, unsigned bytes) {
    empty[k % slots].wait((k / slots + 1) % 2);
    full[k % slots].arrive_and_expect(bytes);
    return operands[k % slots];
  }

  /// Waits until the operands of step k have arrived and returns them.
  __device__ const Operands& wait(unsigned k) {
    full[k % slots].wait(k / slots % 2);
    return operands[k % slots];
  }

  /// Signals that the calling warp has finished reading the operands of step k.
  __device__ void release(unsigned k) {
    if (threadIdx.x % 32 == 0) empty[k % slots].arrive();
  }
};
// [pipeline]

}  // namespace staircase
