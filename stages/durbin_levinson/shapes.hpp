/// \file
/// How a cluster of blocks holds rows in registers.

#pragma once

#include <cstddef>
#include <tuple>

#include "pairs.hpp"

namespace durbin_levinson {

// [shapes]
/// How a cluster holds the rows: its blocks, the threads of a block, and the numbers of each row
/// that a thread holds.
template <unsigned blocks_of_cluster, unsigned threads_of_block, unsigned held_by_thread>
struct Shape {
  static constexpr unsigned blocks = blocks_of_cluster;
  static constexpr unsigned threads = threads_of_block;
  static constexpr unsigned held = held_by_thread;
  static constexpr unsigned warps = threads / warp_size;  // of a block
  static constexpr unsigned numbers = threads * held;     // of a row, in a block
};

/// From the shortest step to the longest, by the count on the page; the last holds most.
using Shapes =
    std::tuple<Shape<1, 128, 8>, Shape<1, 128, 16>, Shape<1, 128, 32>, Shape<1, 256, 32>,
               Shape<8, 128, 16>, Shape<8, 128, 32>, Shape<8, 256, 32>, Shape<16, 256, 32>>;
template <std::size_t index>
using ShapeAt = std::tuple_element_t<index, Shapes>;
constexpr std::size_t shapes = std::tuple_size_v<Shapes>;
// [shapes]

/// Calls solve(shape) with the first shape from `index` on that holds rows of n numbers, or the
/// last.
template <std::size_t index = 0, typename Solve>
void with_shape(std::size_t n, Solve solve) {
  using Shape = ShapeAt<index>;
  if constexpr (index + 1 < shapes)
    if (n > std::size_t{Shape::blocks} * Shape::numbers) return with_shape<index + 1>(n, solve);
  solve(Shape());
}

/// A number that is computed here and not later: the compiler moves no shuffle behind a barrier.
template <typename T>
__device__ T here(T value) {
  return __shfl_sync(all_lanes, value, threadIdx.x % warp_size);
}

/// Sets `numbers` to this thread's share of a row from `first` on, and to 0 beyond its end;
/// neighbouring threads read neighbouring numbers, and get successive ones.
template <typename T, unsigned held>
__device__ void deal_out(staircase::View<const T, 1> row, unsigned first, T* shared,
                         T (&numbers)[held]) {
  for (unsigned i = threadIdx.x; i < held * blockDim.x; i += blockDim.x)
    shared[i] = first + i < row.extent(0) ? row(first + i) : 0;
  __syncthreads();
  for (unsigned m = 0; m < held; ++m) numbers[m] = shared[threadIdx.x * held + m];
  __syncthreads();
}

/// Writes the block's numbers to a row from `first` on.
template <typename T>
__device__ void collect(const T* shared, unsigned count, unsigned first,
                        staircase::View<T, 1> row) {
  for (unsigned i = threadIdx.x; i < count && first + i < row.extent(0); i += blockDim.x)
    row(first + i) = shared[i];
}

}  // namespace durbin_levinson
