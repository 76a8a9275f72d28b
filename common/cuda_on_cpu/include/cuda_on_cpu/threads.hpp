/// \file
/// What the threads of a grid do together: barriers, and operations of a warp.

#pragma once

#include <cstring>
#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {

unsigned lane();         ///< of this thread in its warp
unsigned thread_rank();  ///< of this thread in its block

/// Waits for the living threads of the block.
void block_barrier();

/// Waits for all threads of the grid, which must have been launched cooperatively.
void grid_barrier();

/// The two halves of the barrier of a cluster; a launch without clusters has clusters of one block.
void cluster_arrive();
void cluster_wait();
dim3 cluster_extent();
dim3 cluster_position();  ///< of this block in its cluster
unsigned cluster_rank();  ///< of this block in its cluster
/// The address that a variable in shared memory has in another block of the cluster. Where there is
/// no such block, it is one that nobody may use.
void* in_block_of_cluster(const void* address, unsigned rank);
/// Whether an address lies in the shared memory of a block of the cluster.
bool is_shared_of(const void* address, unsigned rank);

/// Lets the other threads run; in a loop that waits for them.
void yield();

/// Computes the results of all lanes at once: `records[lane]` is what the lane handed over, or null
/// if it takes no part.
using Combine = void (*)(void* const* records);

/// Meets the other lanes of `mask`; the last to come calls `combine`, the results stand in the
/// records when the call returns. `orders_memory` if it orders accesses as __syncwarp does.
void warp_collective(unsigned mask, void* record, Combine combine, bool orders_memory = false);

/// C += A B, row by row: A of `rows` times `depth`, B of `depth` times 8, sums as chains of fma.
void add_product(double* c, const double* a, const double* b, int rows, int depth);

/// How a lane says whose value it wants: by number, or so many lanes up or down.
enum class Asks : unsigned char { by_number, by_shift };

/// Notes that a lane asked for the value of one that takes no part, which is undefined. In a shift
/// that does no harm where the value is not used, which is not known here; it is a mistake to ask
/// for a lane by its number, for one of the mask that has ended, or for any other lane under the
/// mask that __activemask gave.
void note_absent_lane(unsigned asking, unsigned absent, Asks asks);

inline constexpr unsigned all_lanes = ~0u;

/// A lane's part of a shuffle.
template <typename Value>
struct Shuffle {
  Value value;
  unsigned source;
  Asks asks;
  Value result;
};

template <typename Value>
void combine_shuffle(void* const* records) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto* mine = static_cast<Shuffle<Value>*>(records[lane]);
    if (mine == nullptr) continue;
    const auto* theirs = static_cast<const Shuffle<Value>*>(records[mine->source]);
    if (theirs == nullptr) {
      note_absent_lane(lane, mine->source, mine->asks);
      std::memset(&mine->result, 0xFF, sizeof mine->result);
    } else {
      mine->result = theirs->value;
    }
  }
}

/// The value that another lane handed over.
template <typename Value>
__forceinline__ Value shuffle(unsigned mask, Value value, unsigned source,
                              Asks asks = Asks::by_number) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= 32,
                "shuffles take values of at most 32 bytes, and tiles no others");
  Shuffle<Value> record{value, source, asks, value};
  warp_collective(mask, &record, combine_shuffle<Value>);
  return record.result;
}

/// A lane's part of a reduction: the value goes in, the result comes out.
template <typename Value, Value (*operation)(Value, Value)>
void combine_reduction(void* const* records) {
  Value result{};
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (records[lane] == nullptr) continue;
    const Value value = *static_cast<const Value*>(records[lane]);
    result = first ? value : operation(result, value);
    first = false;
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (records[lane] != nullptr) *static_cast<Value*>(records[lane]) = result;
}

template <typename Value, Value (*operation)(Value, Value)>
__forceinline__ Value reduction(unsigned mask, Value value) {
  warp_collective(mask, &value, combine_reduction<Value, operation>);
  return value;
}

/// The lanes whose predicate is not zero.
unsigned ballot(unsigned mask, bool predicate);

/// The lanes whose bytes are equal to this lane's.
unsigned match(unsigned mask, std::uint64_t value);

/// The rewriter puts these before and behind the condition of a loop that only waits for a volatile
/// variable, so that the others of the block come to their turn.
void wait_begins();
bool wait_ends(bool goes_on);

/// A thread of the host looks at something that a kernel may write: reads a volatile variable or an
/// atomic. If it does so often, and calls nothing of the runtime, it waits for a kernel. The
/// rewriter puts this before conditions of the host's loops.
void host_looks();

/// Adds up, over the block, the predicates of its threads, behind a barrier.
int block_count(bool predicate);

}  // namespace cuda_on_cpu

void __syncthreads();
int __syncthreads_count(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);
void __syncwarp(unsigned mask = ~0u);

template <typename Value>
__forceinline__ Value __shfl_sync(unsigned mask, Value value, int source, int width = 32) {
  const unsigned base = cuda_on_cpu::lane() & ~(width - 1u);
  return cuda_on_cpu::shuffle(mask, value, base | (source & (width - 1u)));
}
template <typename Value>
__forceinline__ Value __shfl_up_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cuda_on_cpu::lane(), place = lane & (width - 1u);
  return cuda_on_cpu::shuffle(mask, value, place >= delta ? lane - delta : lane,
                              cuda_on_cpu::Asks::by_shift);
}
template <typename Value>
__forceinline__ Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cuda_on_cpu::lane(), place = lane & (width - 1u);
  return cuda_on_cpu::shuffle(mask, value, place + delta < unsigned(width) ? lane + delta : lane,
                              cuda_on_cpu::Asks::by_shift);
}
template <typename Value>
__forceinline__ Value __shfl_xor_sync(unsigned mask, Value value, int lane_mask, int width = 32) {
  const unsigned lane = cuda_on_cpu::lane(), source = lane ^ unsigned(lane_mask);
  return cuda_on_cpu::shuffle(mask, value, source <= (lane | (width - 1u)) ? source : lane);
}

unsigned __ballot_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __all_sync(unsigned mask, int predicate);
/// Lanes are never promised to run together: this lane alone is a legal answer.
unsigned __activemask();

template <typename Value>
__forceinline__ unsigned __match_any_sync(unsigned mask, Value value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return cuda_on_cpu::match(mask, bits);
}
template <typename Value>
__forceinline__ unsigned __match_all_sync(unsigned mask, Value value, int* predicate) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const unsigned same = cuda_on_cpu::match(mask, bits);
  const bool all = __all_sync(mask, same == (__ballot_sync(mask, 1)));
  *predicate = all;
  return all ? same : 0;
}

int __reduce_add_sync(unsigned mask, int value);
int __reduce_min_sync(unsigned mask, int value);
int __reduce_max_sync(unsigned mask, int value);
unsigned __reduce_add_sync(unsigned mask, unsigned value);
unsigned __reduce_min_sync(unsigned mask, unsigned value);
unsigned __reduce_max_sync(unsigned mask, unsigned value);
unsigned __reduce_and_sync(unsigned mask, unsigned value);
unsigned __reduce_or_sync(unsigned mask, unsigned value);
unsigned __reduce_xor_sync(unsigned mask, unsigned value);

void __threadfence_block();
void __threadfence();
void __threadfence_system();
void __nanosleep(unsigned nanoseconds);
long long clock64();
namespace cuda_on_cpu {
long long global_timer();  ///< nanoseconds, by which devices and hosts tell the same time
}
[[noreturn]] void __trap();
namespace cuda_on_cpu {
/// Ends the program: a header of the toolkit asks for instructions of PTX that are not here.
[[noreturn]] void no_instructions(const char* text);
}  // namespace cuda_on_cpu
