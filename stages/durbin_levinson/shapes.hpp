/// \file
/// How a cluster of blocks holds rows in registers, and what its warps tell each other.

#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <staircase/cluster.hpp>
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

// [sums]
/// The sum of a number of each of so many neighbouring lanes, a power of two, for all of them.
template <unsigned lanes = warp_size, typename T>
__device__ T sum_of_lanes(T value) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}

/// The sum of numbers in shared memory, for all threads: each warp adds all of them up.
template <typename T, unsigned parts>
__device__ T sum_of(const T (&part)[parts]) {
  constexpr unsigned lanes = std::min(parts, warp_size);
  const T* const own = part + threadIdx.x % lanes;
  T sum = own[0];
  for (unsigned i = lanes; i < parts; i += lanes) sum += own[i];
  return sum_of_lanes<lanes>(sum);
}
// [sums]

// [left]
/// Waits until all warps of the cluster have sent.
template <typename Shape>
__device__ void wait_for_all() {
  if constexpr (Shape::blocks > 1)
    staircase::Cluster::sync();
  else
    __syncthreads();
}

/// The number in the cluster of the calling thread's warp.
template <typename Shape>
__device__ unsigned own_warp() {
  return staircase::Cluster::rank() * Shape::warps + threadIdx.x / warp_size;
}

/// What the warp on the left of each warp of the block has sent: its last numbers. There is a
/// buffer for even steps and one for odd ones: one is written while the other may still be read.
template <typename T, typename Shape>
struct Left {
  Pair<T> of_warp[2][Shape::warps];

  /// Left of all numbers lies the 1 in front of y.
  __device__ void prepare() {
    if (staircase::Cluster::rank() == 0 && threadIdx.x < 2) of_warp[threadIdx.x][0] = {1, 0};
  }

  /// Sends the last numbers of this warp, whose number is `own`, to the warp on its right.
  __device__ void send(unsigned step, unsigned own, Pair<T> last) {
    const unsigned right = own + 1;
    if (threadIdx.x % warp_size == warp_size - 1 && right < Shape::blocks * Shape::warps)
      *staircase::Cluster::of_block(&of_warp[step % 2][right % Shape::warps],
                                    right / Shape::warps) = last;
  }
};
// [left]

/// A block's shared memory: what warps exchange, and the block's numbers of a row.
template <typename Exchange, typename T, typename Shape>
struct Shared {
  Exchange exchange;
  T numbers[Shape::numbers];
};

/// How a kernel is launched on one cluster of a shape.
template <typename Shared, typename Shape, typename... Parameter>
staircase::ClusterLaunch<Parameter...> launch_of(void (*kernel)(Parameter...)) {
  return {kernel, Shape::blocks, Shape::threads, sizeof(Shared)};
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

/// Puts the greatest number in place of an infinite one, which must fail in its own step: zeros
/// before that would make NaN of it.
template <typename T, unsigned held>
__device__ void make_finite(T (&numbers)[held]) {
  constexpr T most = std::numeric_limits<T>::max();
  for (T& number : numbers) number = max(-most, min(number, most));
}

/// Writes the block's numbers to a row from `first` on.
template <typename T>
__device__ void collect(const T* shared, unsigned count, unsigned first,
                        staircase::View<T, 1> row) {
  for (unsigned i = threadIdx.x; i < count && first + i < row.extent(0); i += blockDim.x)
    row(first + i) = shared[i];
}

/// Writes the block's reflection coefficients, which are in shared memory, and the threads' shares
/// of y.
template <typename T, unsigned held>
__device__ void collect_all(T* shared, unsigned count, unsigned first, const T (&y)[held],
                            staircase::View<T, 2> solution) {
  __syncthreads();
  collect(shared, count, first, solution.row(1));
  __syncthreads();
  for (unsigned m = 0; m < held; ++m) shared[threadIdx.x * held + m] = y[m];
  __syncthreads();
  collect(shared, count, first, solution.row(0));
}

}  // namespace durbin_levinson
