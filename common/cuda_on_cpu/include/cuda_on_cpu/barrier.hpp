/// \file
/// The state of a cuda::barrier and its operations.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// The state of a barrier, in shared or global memory.
struct BarrierState {
  unsigned expected;  ///< arrivals per phase, from the next phase on
  unsigned missing;   ///< arrivals that the current phase still requires
  unsigned phase;
};

void init_barrier(BarrierState* state, unsigned expected);
/// Arrives `count` times.
/// \returns the phase to wait for
unsigned arrive(BarrierState* state, unsigned count, bool drop);
void arrive_and_wait(BarrierState* state);
/// Adds `count` arrivals that the current phase requires.
void expect(BarrierState* state, unsigned count);
void wait(BarrierState* state, unsigned phase);
/// Waits for the end of the phase with the given parity.
void wait_for_parity(BarrierState* state, bool odd);
bool has_passed(const BarrierState* state, unsigned phase);

/// Stores bytes into the shared memory of another block of the cluster, at the offset of `shared`.
/// Arrives once per byte at the barrier of that block at the offset of `state`.
void store_in_block(void* shared, const void* value, std::size_t bytes, BarrierState* state,
                    unsigned rank);

}  // namespace cuda_on_cpu
