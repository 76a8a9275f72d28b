/// \file
/// Rows of pairs in memory: their initial and final states, and their distribution over warps.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pairs.hpp"

namespace durbin_levinson {

using staircase::View;

// [ends]
/// Returns the pair at position i. Position -1 has the pair (1, 0), for the 1 that precedes y; all
/// other positions outside the row have zero pairs.
template <typename T>
__device__ Pair<T> pair_at(View<const Pair<T>, 1> row, std::int64_t i) {
  const std::int64_t n = row.extent(0);
  if (i < 0) return i == -1 ? Pair<T>{1, 0} : Pair<T>{0, 0};
  return i < n ? row(i) : Pair<T>{0, 0};
}

/// Sets the initial pairs: y from the autocorrelations r_1, r_2, ..., and z from r_0, r_1, ...
template <typename T>
__global__ void begin(View<const T, 1> r, View<Pair<T>, 1> row) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < row.extent(0)) row(i) = {r(i + 1), r(i)};
}

/// Copies the solution y from the final pairs.
template <typename T>
__global__ void end(View<const Pair<T>, 1> row, View<T, 1> y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < row.extent(0)) y(i) = row(i).y;
}

/// These functions launch the kernels `begin` and `end`.
template <typename T>
void begin_with(View<const T, 1> r, View<Pair<T>, 1> row) {
  constexpr unsigned threads = 256;
  begin<<<(row.extent(0) + threads - 1) / threads, threads>>>(r, row);
  staircase::check_launch();
}

template <typename T>
void end_with(View<Pair<T>, 1> row, View<T, 1> y) {
  constexpr unsigned threads = 256;
  end<T><<<(row.extent(0) + threads - 1) / threads, threads>>>(row, y);
  staircase::check_launch();
}
// [ends]

// [sizes]
constexpr unsigned steps_of_launch = 64;
constexpr unsigned held = 4;                 // pairs per thread in registers
constexpr unsigned span = warp_size * held;  // pairs of a warp, including its ghost zone
constexpr unsigned kept = span - steps_of_launch;
constexpr unsigned led = steps_of_launch / warp_size;  // leading pairs per thread
constexpr unsigned most_warps = 16;                    // per thread block
static_assert(steps_of_launch % held == 0);
// [sizes]

// [pairs]
/// Loads the `count` pairs of a thread, beginning at position `first`.
template <typename T, typename Position, unsigned count>
__device__ void load(View<const Pair<T>, 1> row, Position first, T (&y)[count], T (&z)[count]) {
  for (unsigned m = 0; m < count; ++m) {
    const Pair<T> pair = pair_at(row, first + m);
    y[m] = pair.y;
    z[m] = pair.z;
  }
}

/// Executes a step for the pairs of a thread, given the left neighbour of the first pair.
template <typename T, unsigned count>
__device__ void step(T alpha, T left_y, T left_z, T (&y)[count], T (&z)[count]) {
  for (unsigned m = count; m-- > 0;) {
    y[m] += alpha * z[m];
    z[m] = (m > 0 ? z[m - 1] : left_z) + alpha * (m > 0 ? y[m - 1] : left_y);
  }
}

/// Executes a step for a thread's pairs; a shuffle fetches the left neighbour of the first pair.
template <typename T, unsigned count>
__device__ void step(T alpha, T (&y)[count], T (&z)[count]) {
  const T left_y = __shfl_up_sync(all_lanes, y[count - 1], 1);
  const T left_z = __shfl_up_sync(all_lanes, z[count - 1], 1);
  step(alpha, left_y, left_z, y, z);
}
// [pairs]

// [blocks]
/// The number of blocks of a grid, and the number of threads per block.
struct Blocks {
  unsigned blocks, threads;
};

/// Returns a grid of at most one block per SM, or of more blocks if these would exceed most_warps.
inline Blocks blocks_for(unsigned n) {
  const unsigned warps = (n + kept - 1) / kept, processors = staircase::processors();
  const unsigned of_block = std::min((warps + processors - 1) / processors, most_warps);
  return {(warps + of_block - 1) / of_block, of_block * warp_size};
}
// [blocks]

}  // namespace durbin_levinson
