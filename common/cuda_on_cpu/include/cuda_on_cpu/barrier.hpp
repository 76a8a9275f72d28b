/// \file
/// The state of a cuda::barrier, and the operations on this state.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// The state of a barrier, in shared or global memory.
struct BarrierState {
  unsigned expected;  ///< number of arrivals that each later phase requires
  unsigned missing;   ///< number of arrivals still missing in the current phase
  unsigned phase;
};

void init_barrier(BarrierState* state, unsigned expected);
/// Arrives `count` times. If `drop` is set, all later phases require `count` fewer arrivals.
/// \returns the index of the current phase, for wait()
unsigned arrive(BarrierState* state, unsigned count, bool drop);
void arrive_and_wait(BarrierState* state);
/// Adds `count` to the number of arrivals that the current phase requires.
void expect(BarrierState* state, unsigned count);
void wait(BarrierState* state, unsigned phase);
/// Waits until the phase with the given parity has ended.
void wait_for_parity(BarrierState* state, bool odd);
bool has_passed(const BarrierState* state, unsigned phase);

/// Stores bytes in the shared memory of block `rank` of the cluster, and then arrives once per byte
/// at a barrier of that block. `shared` and `state` are the addresses of the corresponding
/// variables in the calling block.
void store_in_block(void* shared, const void* value, std::size_t bytes, BarrierState* state,
                    unsigned rank);

}  // namespace cuda_on_cpu
