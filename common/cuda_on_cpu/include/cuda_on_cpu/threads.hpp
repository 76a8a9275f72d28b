/// \file
/// Collective operations of threads: barriers, and operations of warps.

#pragma once

#include <cstring>
#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {

unsigned lane();         ///< index of this thread in its warp
unsigned thread_rank();  ///< index of this thread in its block

/// Waits until all threads of the block have arrived or exited.
void block_barrier();

/// Waits for all threads of the grid. Requires a cooperative launch.
void grid_barrier();

/// The two halves of a split grid barrier.
void grid_arrive();
void grid_wait();

/// Waits for all threads of the cluster. In a launch without clusters, each thread block is a
/// cluster of its own.
void cluster_barrier();

/// The two halves of a split cluster barrier.
void cluster_arrive();
void cluster_wait();
dim3 cluster_extent();
dim3 cluster_position();  ///< position of this block in its cluster
unsigned cluster_rank();  ///< rank of this block in its cluster
/// The address of a shared-memory variable in block `rank` of the cluster. If there is no such
/// block, every access to the address is an error.
void* in_block_of_cluster(const void* address, unsigned rank);
/// Whether an address is in the shared memory of block `rank` of the cluster.
bool is_shared_of(const void* address, unsigned rank);

/// Lets other threads run. Every loop that waits for other threads calls this function.
void yield();

/// A function that computes the results of all lanes. `records[lane]` is the record of a lane, or
/// null if the lane does not participate.
using Combine = void (*)(void* const* records);

/// Waits for all lanes of `mask`. The last lane to arrive calls `combine`; when the call returns,
/// the records contain the results. If `orders_memory`, the call also orders memory accesses, as
/// __syncwarp does.
void warp_collective(unsigned mask, void* record, Combine combine, bool orders_memory = false);

/// Computes C += A B, with A of `rows` x `depth` elements and B of `depth` x 8. All matrices are
/// row-major, and each sum is a sequence of fused multiply-adds.
void add_product(double* c, const double* a, const double* b, int rows, int depth);

/// How a shuffle selects its source lane: by index, or by a distance up or down.
enum class Asks : unsigned char { by_number, by_shift };

/// Handles a lane that reads the undefined value of a lane that does not participate. The read is
/// an error in a shuffle by index. In a shuffle by distance, the read is an error if the source
/// lane is in the mask but has exited, or if the mask comes from __activemask. Otherwise, the read
/// is harmless if the program does not use the value, which is unknown here.
void note_absent_lane(unsigned asking, unsigned absent, Asks asks);

/// The arguments of a shuffle, for the analysis. `kind` is `xor`, `up`, `down` or `index`; it is
/// null if no shuffle function of CUDA was called. `distance` is the distance, the lane mask or the
/// source lane.
struct ShuffleForm {
  const char* kind = nullptr;
  int distance = 0;
  int width = 32;
};

/// Reports to the analysis that the lanes of a warp perform a shuffle, with the arguments of lane
/// `lane`.
void note_shuffle(unsigned lane, const ShuffleForm& form);

inline constexpr unsigned all_lanes = ~0u;

/// The record of a lane in a shuffle.
template <typename Value>
struct Shuffle {
  Value value;
  unsigned source;
  Asks asks;
  Value result;
  ShuffleForm form;
};

template <typename Value>
void combine_shuffle(void* const* records) {
  bool is_noted = false;
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto* mine = static_cast<Shuffle<Value>*>(records[lane]);
    if (mine == nullptr) continue;
    if (!is_noted) note_shuffle(lane, mine->form);
    is_noted = true;
    const auto* theirs = static_cast<const Shuffle<Value>*>(records[mine->source]);
    if (theirs == nullptr) {
      note_absent_lane(lane, mine->source, mine->asks);
      std::memset(&mine->result, 0xFF, sizeof mine->result);
    } else {
      mine->result = theirs->value;
    }
  }
}

/// Returns the value of lane `source`.
template <typename Value>
__forceinline__ Value shuffle(unsigned mask, Value value, unsigned source,
                              Asks asks = Asks::by_number, ShuffleForm form = {}) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= 32,
                "shuffles take values of at most 32 bytes, and tiles no others");
  Shuffle<Value> record{value, source, asks, value, form};
  warp_collective(mask, &record, combine_shuffle<Value>);
  return record.result;
}

/// Reduces the values of all lanes. The record of a lane contains its value, and after the call the
/// result.
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
/// volatile variable. The calls let the other threads of the block run.
void wait_begins();
bool wait_ends(bool goes_on);

/// Registers that a host thread reads a volatile variable or an atomic, which a kernel may write.
/// If the thread reads repeatedly without calling the runtime, the CPU device assumes that the
/// thread waits for a kernel. The rewriter inserts this call before the conditions of loops on the
/// host.
void host_looks();

/// The value that printf returns in a kernel: the number of arguments after the format. The
/// rewriter wraps a call of printf in printed() if the program uses the value of the call.
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
  return cuda_on_cpu::shuffle(mask, value, base | (source & (width - 1u)),
                              cuda_on_cpu::Asks::by_number, {"index", source, width});
}
template <typename Value>
__forceinline__ Value __shfl_up_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cuda_on_cpu::lane(), place = lane & (width - 1u);
  return cuda_on_cpu::shuffle(mask, value, place >= delta ? lane - delta : lane,
                              cuda_on_cpu::Asks::by_shift, {"up", int(delta), width});
}
template <typename Value>
__forceinline__ Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cuda_on_cpu::lane(), place = lane & (width - 1u);
  return cuda_on_cpu::shuffle(mask, value, place + delta < unsigned(width) ? lane + delta : lane,
                              cuda_on_cpu::Asks::by_shift, {"down", int(delta), width});
}
template <typename Value>
__forceinline__ Value __shfl_xor_sync(unsigned mask, Value value, int lane_mask, int width = 32) {
  const unsigned lane = cuda_on_cpu::lane(), source = lane ^ unsigned(lane_mask);
  return cuda_on_cpu::shuffle(mask, value, source <= (lane | (width - 1u)) ? source : lane,
                              cuda_on_cpu::Asks::by_number, {"xor", lane_mask, width});
}

unsigned __ballot_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __all_sync(unsigned mask, int predicate);
/// Returns a mask of only the calling lane. This result is valid, because CUDA does not guarantee
/// that lanes execute together.
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
long long global_timer();  ///< nanoseconds of a clock that all devices and the host share
}
[[noreturn]] void __trap();
namespace cuda_on_cpu {
/// Ends the program with an error, because a header of the toolkit uses PTX instructions that the
/// CPU device does not support.
[[noreturn]] void no_instructions(const char* text);
}  // namespace cuda_on_cpu
