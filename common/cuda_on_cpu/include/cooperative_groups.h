/// \file
/// Replaces the CUDA header of the same name: cooperative groups, which are sets of threads that
/// synchronise and exchange values.

#pragma once

#include "cuda_on_cpu/copies.hpp"
#include "cuda_on_cpu/tiles.hpp"
#include "cuda_runtime.h"

namespace cuda_on_cpu {

/// Waits until no lane of the warp can continue. Returns the mask of the lanes that have then
/// reached the same call as this lane.
unsigned gathered_lanes();

}  // namespace cuda_on_cpu

namespace cooperative_groups {

/// The threads of a block.
class thread_block {
 public:
  using arrival_token = int;

  static void sync() { cuda_on_cpu::block_barrier(); }
  /// Does not signal an arrival. Instead, barrier_wait() is a complete barrier. This behaviour is
  /// valid, because no thread may pass a split barrier before all threads have arrived.
  static arrival_token barrier_arrive() { return 0; }
  static void barrier_wait(arrival_token&&) { cuda_on_cpu::block_barrier(); }
  static unsigned thread_rank() { return cuda_on_cpu::thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

/// Memory that tiles of more than one warp needed before compute capability 8.0. The CPU device
/// does not use this memory.
template <unsigned most_threads = 1024>
struct block_tile_memory {
  char bytes[most_threads / 32 * 8];
};
template <unsigned most_threads>
thread_block this_thread_block(block_tile_memory<most_threads>&) {
  return {};
}

/// A group of lanes of one warp. The rank of a thread in the group follows the order of the lanes.
class lanes_of_warp {
 public:
  explicit lanes_of_warp(unsigned mask) : mask_(mask) {}

  unsigned size() const { return static_cast<unsigned>(cuda_on_cpu::popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(cuda_on_cpu::popcount(mask_ & ((1u << cuda_on_cpu::lane()) - 1)));
  }
  void sync() const { __syncwarp(mask_); }
  template <typename Value>
  Value shfl(Value value, unsigned rank) const {
    return cuda_on_cpu::shuffle(mask_, value, lane_of(rank % size()));
  }
  template <typename Value>
  Value shfl_up(Value value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return cuda_on_cpu::shuffle(mask_, value, lane_of(rank >= delta ? rank - delta : rank));
  }
  template <typename Value>
  Value shfl_down(Value value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return cuda_on_cpu::shuffle(mask_, value, lane_of(rank + delta < size() ? rank + delta : rank));
  }
  template <typename Value>
  Value shfl_xor(Value value, unsigned rank_mask) const {
    const unsigned rank = thread_rank(), other = rank ^ rank_mask;
    return cuda_on_cpu::shuffle(mask_, value, lane_of(other < size() ? other : rank));
  }
  unsigned ballot(int predicate) const { return ranks_of(__ballot_sync(mask_, predicate)); }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  template <typename Value>
  unsigned match_any(Value value) const {
    return ranks_of(__match_any_sync(mask_, value));
  }
  template <typename Value>
  unsigned match_all(Value value, int& predicate) const {
    return ranks_of(__match_all_sync(mask_, value, &predicate));
  }

 protected:
  /// The lane of the thread with rank `rank` in the group.
  unsigned lane_of(unsigned rank) const {
    unsigned rest = mask_;
    for (unsigned i = 0; i < rank; ++i) rest &= rest - 1;
    return static_cast<unsigned>(cuda_on_cpu::countr_zero(rest));
  }

 private:
  /// Converts a mask of lanes into a mask of ranks.
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned rank = 0; rank < size(); ++rank) ranks |= (lanes >> lane_of(rank) & 1u) << rank;
    return ranks;
  }

  unsigned mask_;
};

/// An aligned group of consecutive lanes of a warp. The number of lanes is a power of two.
class tile_of_warp : public lanes_of_warp {
 public:
  explicit tile_of_warp(unsigned size) : lanes_of_warp(mask_of(size)), size_(size) {}
  unsigned meta_group_rank() const { return cuda_on_cpu::thread_rank() / size_; }
  unsigned meta_group_size() const { return (thread_block::size() + size_ - 1) / size_; }

 private:
  static unsigned mask_of(unsigned size) {
    if (size == 32) return cuda_on_cpu::all_lanes;
    return ((1u << size) - 1) << (cuda_on_cpu::lane() & ~(size - 1));
  }
  unsigned size_;
};

/// An aligned group of consecutive threads of a block that is larger than a warp. The number of
/// threads is a power of two.
class tile_of_warps {
 public:
  explicit tile_of_warps(unsigned size) : size_(size) {}
  void sync() const { cuda_on_cpu::tile_collective(size_, nullptr, nullptr); }
  unsigned thread_rank() const { return cuda_on_cpu::thread_rank() % size_; }
  template <typename Value>
  Value shfl(Value value, unsigned rank) const {
    return cuda_on_cpu::shuffle_in_tile<true>(size_, value, rank % size_);
  }
  /// Like `shfl`, but each thread may read the value of a different rank.
  template <typename Value>
  Value take(Value value, unsigned rank) const {
    return cuda_on_cpu::shuffle_in_tile<false>(size_, value, rank);
  }
  int any(int predicate) const { return cuda_on_cpu::votes_in_tile(size_, predicate != 0) > 0; }
  int all(int predicate) const { return cuda_on_cpu::votes_in_tile(size_, predicate == 0) == 0; }

 private:
  unsigned size_;
};

/// A thread block, or a group of lanes of one warp.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const lanes_of_warp& lanes) : is_block_(false), lanes_(lanes) {}
  void sync() const { is_block_ ? thread_block::sync() : lanes_.sync(); }
  unsigned thread_rank() const {
    return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank();
  }
  unsigned size() const { return is_block_ ? thread_block::size() : lanes_.size(); }
  unsigned num_threads() const { return size(); }

 private:
  bool is_block_ = true;
  lanes_of_warp lanes_{0};
};

template <unsigned tile_size>
using tile_of_size = std::conditional_t<(tile_size > 32), tile_of_warps, tile_of_warp>;

template <unsigned tile_size, typename Parent = void>
class thread_block_tile : public tile_of_size<tile_size> {
 public:
  static_assert(tile_size <= 512 && cuda_on_cpu::has_single_bit(tile_size),
                "the number of threads of a tile is a power of two, 512 at most");
  thread_block_tile() : tile_of_size<tile_size>(tile_size) {}
  /// Converts from a tile with the same size whose parent group has another type.
  template <typename Other>
  thread_block_tile(const thread_block_tile<tile_size, Other>&) : thread_block_tile() {}
  static unsigned meta_group_rank() {
    if constexpr (within_block)
      return cuda_on_cpu::thread_rank() / tile_size;
    else
      return cuda_on_cpu::thread_rank() % Parent::size() / tile_size;
  }
  static unsigned meta_group_size() {
    if constexpr (within_block)
      return (thread_block::size() + tile_size - 1) / tile_size;
    else
      return Parent::size() / tile_size;
  }
  static constexpr unsigned size() { return tile_size; }
  static constexpr unsigned num_threads() { return tile_size; }

 private:
  static constexpr bool within_block =
      std::is_void_v<Parent> || std::is_same_v<Parent, thread_block>;
};

/// A group of lanes that execute together.
class coalesced_group : public lanes_of_warp {
 public:
  explicit coalesced_group(unsigned mask) : lanes_of_warp(mask) {}
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
/// Waits until no lane of the warp can continue, and returns the group of the lanes that have
/// reached this call, as if the warp ran in lockstep.
__forceinline__ coalesced_group coalesced_threads() {
  return coalesced_group(cuda_on_cpu::gathered_lanes());
}

template <unsigned tile_size, typename Parent>
thread_block_tile<tile_size, Parent> tiled_partition(const Parent&) {
  return {};
}
template <typename Parent>
tile_of_warp tiled_partition(const Parent&, unsigned tile_size) {
  return tile_of_warp(tile_size);
}

/// The group of the lanes of a tile whose predicate or label equals that of the calling lane.
template <typename Tile>
coalesced_group binary_partition(const Tile& tile, bool predicate) {
  return labeled_partition(tile, static_cast<int>(predicate));
}
template <typename Tile, typename Label>
coalesced_group labeled_partition(const Tile& tile, Label label) {
  const unsigned first = cuda_on_cpu::lane() - tile.thread_rank();
  const unsigned lanes =
      tile.size() == 32 ? cuda_on_cpu::all_lanes : ((1u << tile.size()) - 1) << first;
  return coalesced_group(__match_any_sync(lanes, label));
}

/// All threads of a grid that was launched cooperatively.
class grid_group {
 public:
  using arrival_token = int;

  static bool is_valid() { return true; }
  static void sync() { cuda_on_cpu::grid_barrier(); }
  static arrival_token barrier_arrive() {
    cuda_on_cpu::grid_arrive();
    return 0;
  }
  static void barrier_wait(arrival_token&&) { cuda_on_cpu::grid_wait(); }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
};
inline grid_group this_grid() { return {}; }

/// The thread blocks of a cluster.
class cluster_group {
 public:
  using arrival_token = int;

  static void sync() { cuda_on_cpu::cluster_barrier(); }
  static arrival_token barrier_arrive() {
    cuda_on_cpu::cluster_arrive();
    return 0;
  }
  static void barrier_wait() { cuda_on_cpu::cluster_wait(); }
  static void barrier_wait(arrival_token&&) { cuda_on_cpu::cluster_wait(); }
  static unsigned block_rank() { return cuda_on_cpu::cluster_rank(); }
  static dim3 block_index() { return cuda_on_cpu::cluster_position(); }
  static dim3 dim_blocks() { return cuda_on_cpu::cluster_extent(); }
  static unsigned num_blocks() {
    const dim3 extent = dim_blocks();
    return extent.x * extent.y * extent.z;
  }
  static unsigned thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned size() { return num_blocks() * thread_block::size(); }
  static unsigned num_threads() { return size(); }
  static dim3 dim_threads() {
    const dim3 extent = dim_blocks();
    return {extent.x * blockDim.x, extent.y * blockDim.y, extent.z * blockDim.z};
  }
  static dim3 thread_index() {
    const dim3 position = block_index();
    return {position.x * blockDim.x + threadIdx.x, position.y * blockDim.y + threadIdx.y,
            position.z * blockDim.z + threadIdx.z};
  }
  template <typename Value>
  static Value* map_shared_rank(Value* address, unsigned rank) {
    return static_cast<Value*>(cuda_on_cpu::in_block_of_cluster(
        const_cast<const std::remove_const_t<Value>*>(address), rank));
  }
  static unsigned query_shared_rank(const void* address) {
    for (unsigned rank = 0; rank < num_blocks(); ++rank)
      if (cuda_on_cpu::is_shared_of(address, rank)) return rank;
    return block_rank();
  }
};
inline cluster_group this_cluster() { return {}; }

template <typename Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
