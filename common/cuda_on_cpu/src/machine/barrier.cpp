/// \file
/// cuda::barrier, at which a given number of threads of a block synchronise in phases. Each tile of
/// more than one warp has such a barrier.

#include "cuda_on_cpu/barrier.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "block.hpp"
#include "combining.hpp"
#include "cuda_on_cpu/tiles.hpp"
#include "gang.hpp"
#include "launch.hpp"

namespace cuda_on_cpu {
namespace {

constexpr unsigned most_tiles = most_threads / warp_size;

/// The barrier of a tile, and the operation that its threads execute there.
struct Tile {
  BarrierState barrier;
  CombineTile combine;  ///< operation of the first thread that arrived in this phase; `place` is
                        ///< the address of its call
  const void* place;
};

// Tiles of the block that this operating-system thread executes. Tiles of different sizes use
// different elements of the array.
__thread Tile tiles[most_tiles];

bool waits_for(const Thread& thread, const BarrierState* state) {
  return (thread.state == State::at_barrier_object || thread.state == State::at_tile) &&
         wait_of(thread).barrier_object == state;
}

/// Whether all threads of the block except the running one wait for a barrier.
bool all_others_wait(const BarrierState* state) {
  const Block& b = *block;
  if (state->expected < b.launch->threads || b.started < b.launch->threads) return false;
  return std::all_of(b.threads.begin(), b.threads.begin() + b.started, [&](const Thread& thread) {
    return &thread == b.current || waits_for(thread, state);
  });
}

/// Begins the next phase and wakes the threads that wait for the current one.
/// \param waits whether the running thread waits for this phase as well
void complete(BarrierState* state, bool waits) {
  Block& b = *block;
  analysis::phase_ends(state);
  // No thread has accessed memory since its arrival, so the phase orders the same accesses as
  // __syncthreads.
  if (waits && all_others_wait(state)) b.barrier_clock = b.clock++;
  state->missing = state->expected;
  ++state->phase;
  for (unsigned n = 0; n < b.started; ++n) {
    Thread& thread = b.threads[b.order.empty() ? n : b.order[n]];
    if (waits_for(thread, state)) wake(&thread);
  }
}

void wait_at(BarrierState* state, unsigned phase, const void* place,
             State how = State::at_barrier_object) {
  catch_up();
  Thread* thread = block->current;
  thread->place = place;
  while (state->phase == phase) {
    wait_of(*thread).barrier_object = state;
    wait_in(thread, how);
  }
  analysis::has_waited_at(state);
}

/// Stores the bytes of a parcel and counts them as arrivals.
void receive(const Parcel& parcel) {
  const DeviceAtWork at_work;
  std::memcpy(parcel.to, parcel.bytes.data(), parcel.bytes.size());
  analysis::received(parcel.to, parcel.bytes.size());
  parcel.barrier->missing -= static_cast<unsigned>(parcel.bytes.size());
  if (parcel.barrier->missing == 0) complete(parcel.barrier, false);
}

/// Fails the launch if the cluster has no block `rank`, or if an address is not in shared memory.
void check_target(const void* shared, const void* state, unsigned rank, const void* place) {
  const unsigned blocks = cluster_size();
  const bool is_shared =
      is_shared_of(shared, cluster_rank()) && is_shared_of(state, cluster_rank());
  if (rank < blocks && is_shared) return;
  {
    const Thread* thread = block->current;
    const DeviceAtWork at_work;
    report_diagnostic(
        {.kind = "out of bounds",
         .place = place,
         .thread = thread,
         .sentence =
             is_shared
                 ? "a thread stores to block " + std::to_string(rank) +
                       ", but the number of blocks in the cluster is " + std::to_string(blocks)
                 : "a store to another block needs an address and a barrier in shared memory, "
                   "but at least one of them is elsewhere"});
  }
  fail_launch(cudaErrorIllegalAddress);
}

/// Reports an error in the use of a tile and ends the launch.
[[noreturn]] void give_up_tile(const void* place, const void* other_place,
                               const std::string& sentence) {
  {
    const Thread* thread = block->current;
    const DeviceAtWork at_work;
    report_diagnostic({.kind = "divergent barrier",
                       .place = place,
                       .other_place = other_place,
                       .thread = thread,
                       .sentence = sentence});
  }
  fail_launch(cudaErrorLaunchFailure);
}

/// The tile with `size` threads that contains the current thread.
Tile& tile_of(unsigned size, const void* place) {
  const unsigned number = block->current->rank / size, threads = block->launch->threads;
  Tile& tile = tiles[most_threads / size + number];
  if (tile.barrier.expected == 0) {
    block->uses_tiles = true;
    init_barrier(&tile.barrier, size);
  }
  if ((number + 1) * size > threads)
    give_up_tile(place, nullptr,
                 "a block of " + std::to_string(threads) +
                     " threads does not consist of whole tiles of " + std::to_string(size));
  return tile;
}

/// Arrives at a barrier, as `cuda_on_cpu::arrive` does.
/// \param waits whether the thread immediately waits for the end of the phase
unsigned arrive_at(BarrierState* state, unsigned count, bool drop, bool waits) {
  catch_up();
  const unsigned phase = state->phase;
  analysis::arrives_at(state);
  if (drop) --state->expected;
  state->missing -= count;
  if (state->missing == 0) complete(state, waits);
  return phase;
}

/// Lets a thread arrive at the barrier of its tile. The last thread computes the results for all
/// threads of the tile.
unsigned arrive_at(Tile& tile, unsigned size, CombineTile combine, const void* place) {
  if (tile.barrier.missing == tile.barrier.expected) {
    tile.combine = combine;
    tile.place = place;
  } else if (tile.combine != combine) {
    give_up_tile(place, tile.place,
                 "threads of a tile of " + std::to_string(size) + " execute different operations");
  }
  if (tile.barrier.missing == 1 && combine != nullptr) {
    void* records[most_threads];
    const unsigned first = block->current->rank / size * size;
    for (unsigned rank = 0; rank < size; ++rank) records[rank] = block->waits[first + rank].record;
    const Combining combining;
    combine(records, size);
  }
  return arrive_at(&tile.barrier, 1, false, true);
}

}  // namespace

void ranks_in_tile_differ(unsigned size) {
  give_up_tile(__builtin_return_address(0), nullptr,
               "threads of a tile of " + std::to_string(size) +
                   " read values of different ranks; a GPU would wait for ever");
}

void init_barrier(BarrierState* state, unsigned expected) { *state = {expected, expected, 0}; }

unsigned arrive(BarrierState* state, unsigned count, bool drop) {
  return arrive_at(state, count, drop, false);
}

void arrive_and_wait(BarrierState* state) {
  wait_at(state, arrive_at(state, 1, false, true), __builtin_return_address(0));
}

void store_in_block(void* shared, const void* value, std::size_t bytes, BarrierState* state,
                    unsigned rank) {
  catch_up();
  check_target(shared, state, rank, __builtin_return_address(0));
  const auto* first = static_cast<const std::byte*>(value);
  Parcel parcel{.barrier = static_cast<BarrierState*>(in_block_of_cluster(state, rank)),
                .to = in_block_of_cluster(shared, rank),
                .bytes = {first, first + bytes}};
  analysis::sends(parcel.to, bytes, __builtin_return_address(0));
  if (rank != cluster_rank())
    block->gang->send(rank, std::move(parcel));
  else
    receive(parcel);
}

void receive_parcels() {
  for (const Parcel& parcel : block->gang->parcels_for(block->gang_rank)) receive(parcel);
}

void expect(BarrierState* state, unsigned count) { state->missing += count; }

void wait(BarrierState* state, unsigned phase) {
  wait_at(state, phase, __builtin_return_address(0));
}

void wait_for_parity(BarrierState* state, bool odd) {
  const unsigned ended = state->phase - 1;
  wait_at(state, (state->phase & 1) == odd ? state->phase : ended, __builtin_return_address(0));
}

void forget_tiles() {
  for (Tile& tile : tiles) tile = {};
  block->uses_tiles = false;
}

void tile_collective(unsigned size, void* record, CombineTile combine) {
  end_trial();
  catch_up();
  const void* place = __builtin_return_address(0);
  Tile& tile = tile_of(size, place);
  wait_of(*block->current).record = record;
  const unsigned phase = arrive_at(tile, size, combine, place);
  wait_at(&tile.barrier, phase, place, State::at_tile);
}

bool has_passed(const BarrierState* state, unsigned phase) {
  catch_up();
  const bool passed = state->phase != phase;
  note_spin(!passed);
  if (passed) analysis::has_waited_at(state);
  return passed;
}

}  // namespace cuda_on_cpu
