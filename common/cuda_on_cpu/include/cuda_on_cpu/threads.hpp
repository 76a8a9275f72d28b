/// \file
/// Collective operations of threads: barriers, and operations of a warp.

#pragma once

#include <cstring>
#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {

unsigned lane();         ///< index of this thread in its warp
unsigned thread_rank();  ///< index of this thread in its block

/// Waits for all threads of the block that have not exited.
void block_barrier();

/// Waits for all threads of the grid. Requires a cooperative launch.
void grid_barrier();

/// The two halves of the same barrier.
void grid_arrive();
void grid_wait();

/// Waits for all threads of the cluster. In a launch without clusters, each block is a cluster of
/// its own.
void cluster_barrier();

/// The two halves of the same barrier.
void cluster_arrive();
void cluster_wait();
dim3 cluster_extent();
dim3 cluster_position();  ///< of this block in its cluster
unsigned cluster_rank();  ///< of this block in its cluster
/// The address that a variable in shared memory has in another block of the cluster. If there is no
/// such block, every access to the address is an error.
void* in_block_of_cluster(const void* address, unsigned rank);
/// Whether an address is in the shared memory of a block of the cluster.
bool is_shared_of(const void* address, unsigned rank);

/// Lets other threads run. A loop that waits for them calls this function.
void yield();

/// Computes the results of all lanes. `records[lane]` is the record of a lane, or null if the lane
/// does not take part.
using Combine = void (*)(void* const* records);

/// Waits for the other lanes of `mask`. The last lane calls `combine`, and the records contain the
/// results when the call returns. If `orders_memory`, the call orders accesses as __syncwarp does.
void warp_collective(unsigned mask, void* record, Combine combine, bool orders_memory = false);

/// C += A B, where A has `rows` rows and `depth` columns, and B has `depth` rows and 8 columns. All
/// matrices are row-major, and each sum is a sequence of fused multiply-adds.
void add_product(double* c, const double* a, const double* b, int rows, int depth);

/// How a shuffle selects its source lane: by index, or by a distance up or down.
enum class Asks : unsigned char { by_number, by_shift };

/// Handles a lane that reads the undefined value of a lane that does not take part. The read is an
/// error in a shuffle by index. In a shuffle by a distance, it is an error if the source lane is in
/// the mask but has exited, or if the mask comes from __activemask. Otherwise, the read is harmless
/// if the program does not use the value, which is not known here.
void note_absent_lane(unsigned asking, unsigned absent, Asks asks);

inline constexpr unsigned all_lanes = ~0u;

/// The record of a lane in a shuffle.
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

/// The value of another lane.
template <typename Value>
__forceinline__ Value shuffle(unsigned mask, Value value, unsigned source,
                              Asks asks = Asks::by_number) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= 32,
                "shuffles take values of at most 32 bytes, and tiles no others");
  Shuffle<Value> record{value, source, asks, value};
  warp_collective(mask, &record, combine_shuffle<Value>);
  return record.result;
}

/// A reduction. The record of a lane contains its value, and later the result.
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

/// The mask of the lanes whose predicate is true.
unsigned ballot(unsigned mask, bool predicate);

/// The mask of the lanes whose value has the same bytes as the value of this lane.
unsigned match(unsigned mask, std::uint64_t value);

/// The rewriter inserts these calls before and after the condition of a loop that only waits for a
/// volatile variable. The other threads of the block can then run.
void wait_begins();
bool wait_ends(bool goes_on);

/// Registers that a host thread reads a volatile variable or an atomic, which a kernel may write.
/// If a thread reads often and calls no function of the runtime, it is assumed to wait for a
/// kernel. The rewriter inserts this call before the conditions of loops on the host.
void host_looks();

/// The value that printf returns in a kernel: the number of arguments after the format. The
/// rewriter wraps calls whose value is used in this function.
template <typename Format, typename... Arguments>
std::integral_constant<int, int(sizeof...(Arguments))> count_printed(const Format&,
                                                                     const Arguments&...);
inline int printed(int characters, int arguments) {
  return is_on_device() && characters >= 0 ? arguments : characters;
}

/// Waits for all threads of the block and returns the number of threads whose predicate is true.
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
/// Returns the mask of the calling lane only. This result is legal, because CUDA does not guarantee
/// that lanes run together.
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
long long global_timer();  ///< in nanoseconds, of a clock that devices and hosts share
}
[[noreturn]] void __trap();
namespace cuda_on_cpu {
/// Ends the program, because a header of the toolkit uses PTX instructions that the CPU device
/// lacks.
[[noreturn]] void no_instructions(const char* text);
}  // namespace cuda_on_cpu
