/// \file
/// The distribution of rows over the registers of a cluster, and the exchanges between its warps.

#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <staircase/cluster.hpp>
#include <tuple>

#include "pairs.hpp"

namespace durbin_levinson {

// [shapes]
/// A distribution of rows over a cluster: the number of blocks, the threads of a block, and the
/// elements of each row that a thread stores.
template <unsigned blocks_of_cluster, unsigned threads_of_block, unsigned held_by_thread>
struct Shape {
  static constexpr unsigned blocks = blocks_of_cluster;
  static constexpr unsigned threads = threads_of_block;
  static constexpr unsigned held = held_by_thread;
  static constexpr unsigned warps = threads / warp_size;  // per thread block
  static constexpr unsigned numbers = threads * held;     // elements of a row per block
};

/// The shapes in ascending order of the time per step (see stage 11); the last one is the largest.
using Shapes =
    std::tuple<Shape<1, 128, 8>, Shape<1, 128, 16>, Shape<1, 128, 32>, Shape<1, 256, 32>,
               Shape<8, 128, 16>, Shape<8, 128, 32>, Shape<8, 256, 32>, Shape<16, 256, 32>>;
template <std::size_t index>
using ShapeAt = std::tuple_element_t<index, Shapes>;
constexpr std::size_t shapes = std::tuple_size_v<Shapes>;
// [shapes]

/// Calls solve(shape) with the first shape, at `index` or later, that can store rows of n elements.
/// If there is none, uses the last shape.
template <std::size_t index = 0, typename Solve>
void with_shape(std::size_t n, Solve solve) {
  using Shape = ShapeAt<index>;
  if constexpr (index + 1 < shapes)
    if (n > std::size_t{Shape::blocks} * Shape::numbers) return with_shape<index + 1>(n, solve);
  solve(Shape());
}

// [sums]
/// Returns the sum over the calling lane's group of `lanes` neighbouring lanes (a power of two).
template <unsigned lanes = warp_size, typename T>
__device__ T sum_of_lanes(T value) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}

/// Returns the sum of an array in shared memory. Each warp adds all elements, so every thread
/// receives the result.
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
/// Waits at a barrier for all threads of the cluster; all data sent before are then visible.
template <typename Shape>
__device__ void wait_for_all() {
  if constexpr (Shape::blocks > 1)
    staircase::Cluster::sync();
  else
    __syncthreads();
}

/// The index of the calling thread's warp within the cluster.
template <typename Shape>
__device__ unsigned own_warp() {
  return staircase::Cluster::rank() * Shape::warps + threadIdx.x / warp_size;
}

/// The last pair of the left neighbour of each warp of the block. Even and odd steps use separate
/// buffers, so a thread can write one buffer while another thread still reads the other.
template <typename T, typename Shape>
struct Left {
  Pair<T> of_warp[2][Shape::warps];

  /// Stores the pair to the left of the whole row, with the 1 that precedes y.
  __device__ void prepare() {
    if (staircase::Cluster::rank() == 0 && threadIdx.x < 2) of_warp[threadIdx.x][0] = {1, 0};
  }

  /// Sends the last pair of this warp, whose index is `own`, to the warp on its right.
  __device__ void send(unsigned step, unsigned own, Pair<T> last) {
    const unsigned right = own + 1;
    if (threadIdx.x % warp_size == warp_size - 1 && right < Shape::blocks * Shape::warps)
      *staircase::Cluster::of_block(&of_warp[step % 2][right % Shape::warps],
                                    right / Shape::warps) = last;
  }
};
// [left]

/// The shared memory of a block: the exchange between warps, and the block's elements of a row.
template <typename Exchange, typename T, typename Shape>
struct Shared {
  Exchange exchange;
  T numbers[Shape::numbers];
};

/// Describes the launch of `kernel` on one cluster that has the shape `Shape`.
template <typename Shared, typename Shape, typename... Parameter>
staircase::ClusterLaunch<Parameter...> launch_of(void (*kernel)(Parameter...)) {
  return {kernel, Shape::blocks, Shape::threads, sizeof(Shared)};
}

/// Forces the compiler to compute `value` here, because no shuffle is moved across a barrier.
template <typename T>
__device__ T here(T value) {
  return __shfl_sync(all_lanes, value, threadIdx.x % warp_size);
}

/// Loads this thread's elements of a row into `numbers`. The block's elements start at `first`;
/// elements beyond the end of the row are 0. Neighbouring threads read neighbouring elements from
/// memory, and each thread gets consecutive elements.
template <typename T, unsigned held>
__device__ void distribute(staircase::View<const T, 1> row, unsigned first, T* shared,
                           T (&numbers)[held]) {
  for (unsigned i = threadIdx.x; i < held * blockDim.x; i += blockDim.x)
    shared[i] = first + i < row.extent(0) ? row(first + i) : 0;
  __syncthreads();
  for (unsigned m = 0; m < held; ++m) numbers[m] = shared[threadIdx.x * held + m];
  __syncthreads();
}

/// Replaces infinite values by the largest finite values. Steps that do not use an element yet
/// multiply it by zero; the product with infinity would be NaN.
template <typename T, unsigned held>
__device__ void make_finite(T (&numbers)[held]) {
  constexpr T most = std::numeric_limits<T>::max();
  for (T& number : numbers) number = max(-most, min(number, most));
}

/// Writes `count` elements of the block from shared memory to a row, beginning at index `first`.
template <typename T>
__device__ void collect(const T* shared, unsigned count, unsigned first,
                        staircase::View<T, 1> row) {
  for (unsigned i = threadIdx.x; i < count && first + i < row.extent(0); i += blockDim.x)
    row(first + i) = shared[i];
}

/// Writes the reflection coefficients of the block from shared memory, and the elements of y from
/// the registers of its threads.
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
