/// \file
/// The state of a cuda::barrier.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// The state of a barrier, in shared or global memory.
struct BarrierState {
  unsigned expected;  ///< threads, of the phases to come
  unsigned missing;   ///< threads, in this phase
  unsigned phase;
};

void init_barrier(BarrierState* state, unsigned expected);
/// Arrives `count` times; returns the phase to wait for.
unsigned arrive(BarrierState* state, unsigned count, bool drop);
/// Lets the current phase end only after so many more arrivals.
void expect(BarrierState* state, unsigned count);
void wait(BarrierState* state, unsigned phase);
/// Waits for the end of the phase whose number is even, or odd.
void wait_for_parity(BarrierState* state, bool odd);
bool has_passed(const BarrierState* state, unsigned phase);

/// Stores bytes in the shared memory of another block of the cluster, where `shared` lies in it,
/// and arrives there once for each at the barrier that lies where `state` does.
void store_in_block(void* shared, const void* value, std::size_t bytes, BarrierState* state,
                    unsigned rank);

}  // namespace cuda_on_cpu
