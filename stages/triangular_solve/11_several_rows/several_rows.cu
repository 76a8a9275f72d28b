/// \file
/// From:    08_prefetched
/// Changed: sixteen threads share a row in place of four, and each has numbers of four rows in
///          place of one. The inverse goes through shared memory to the threads that have its rows.
/// Legal:   the same products, in another order.
/// Expect:  a quarter of the reads of unknowns from shared memory, in each turn and in each link.
/// Run:     ./climb triangular_solve --stages 08,11
/// Next:    12_two_ahead has two blocks of L under way.

#include "../pairs.hpp"

#include <cuda/atomic>
#include <limits>

namespace triangular_solve {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

constexpr unsigned across = 16;                // threads that share a row of L
constexpr unsigned share = across / lanes;     // rows of a thread
constexpr unsigned held = block / 2 / across;  // pairs of each that a thread has

// [parts]
/// The place of a thread among those that share rows, and the first of these rows.
__device__ inline unsigned place() { return threadIdx.x % across; }
__device__ inline unsigned first_row() { return threadIdx.x / across * share; }

/// A thread's part of a block of 64 × 64 numbers: every sixteenth pair of its rows.
template <typename T>
struct Part {
  Pair<T> pairs[share][held];

  /// Fetches the part of the block that begins in a row with pair `first`. The warp meets so that
  /// all of it is asked for before any of it is used.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m)
        pairs[s][m] = matrix(row + first_row() + s, first + m * across + place());
    __syncwarp();
  }

  /// Adds its products with the numbers given to the sums of its rows.
  __device__ void add_products(const Pair<T>* given, T (&sums)[share]) const {
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = given[m * across + place()];
      for (unsigned s = 0; s < share; ++s)
        sums[s] += pairs[s][m].of[0] * factor.of[0] + pairs[s][m].of[1] * factor.of[1];
    }
  }
};

/// The sum of the parts of a row's threads, for the four of them that take this row on: each time,
/// half of the threads give half of the rows away for those of the other half.
template <typename T>
__device__ T sum_of_row(T (&sums)[share]) {
  unsigned distance = across / 2;
  for (unsigned rows = share / 2; rows > 0; rows /= 2, distance /= 2)
    for (unsigned s = 0; s < rows; ++s) {
      const bool upper = place() / distance % 2 == 1;
      const T kept = upper ? sums[rows + s] : sums[s], given = upper ? sums[s] : sums[rows + s];
      sums[s] = kept + __shfl_xor_sync(all_lanes, given, distance);
    }
  for (; distance > 0; distance /= 2) sums[0] += __shfl_xor_sync(all_lanes, sums[0], distance);
  return sums[0];
}
// [parts]

// [invert]
/// A block on the diagonal, in whose place its inverse comes.
template <typename T>
union Diagonal {
  T own[block][block + 1];
  Pair<T> inverse[block][block / 2];
};

/// Inverts the block on the diagonal from row `first` on: the equations L Y = 1, row by row. A
/// thread has every fourth pair of a row of Y, and takes out of it what is finished above. Behind
/// the last row of L stand ones on the diagonal.
template <typename T>
__device__ void invert(View<const T, 2> l, unsigned first, unsigned n, Diagonal<T>& diagonal) {
  auto& own = diagonal.own;
  __shared__ Pair<T> finished[2][block / 2];
  const unsigned row = threadIdx.x / lanes;
  for (unsigned e = threadIdx.x; e < block * block; e += threads)
    own[e / block][e % block] = l(first + e / block, first + e % block);
  Pair<T> y[block / 2 / lanes];
  for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
    y[m] = {row == 2 * p ? T{1} : T{0}, row == 2 * p + 1 ? T{1} : T{0}};
  __syncthreads();
  const T reciprocal = first + row < n ? 1 / own[row][row] : 1;
  for (unsigned k = 0; k < block; ++k) {
    if (row == k)
      for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
        finished[k % 2][p] = y[m] = {y[m].of[0] * reciprocal, y[m].of[1] * reciprocal};
    __syncthreads();
    if (row > k) {
      const T factor = own[row][k];
      for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes) {
        y[m].of[0] -= factor * finished[k % 2][p].of[0];
        y[m].of[1] -= factor * finished[k % 2][p].of[1];
      }
    }
  }
  __syncthreads();
  for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
    diagonal.inverse[row][p] = y[m];
  __syncthreads();
}
// [invert]

// [flags]
template <typename T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;

/// Waits for an unknown of another block.
template <typename T>
__device__ T wait_for(T& unknown) {
  T value;
  do value = Shared<T>(unknown).load(cuda::memory_order_relaxed);
  while (isnan(value));
  return value;
}

/// Tells an unknown to all blocks. One that is not a number would never be seen.
template <typename T>
__device__ void tell(T& unknown, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(unknown).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}
// [flags]

// [substitute_rows]
/// Solves 64 equations: those of the block's number, which it draws when it starts.
template <typename T>
__global__ void __launch_bounds__(threads)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x,
                    View<unsigned, 1> started) {
  __shared__ Diagonal<T> diagonal;
  __shared__ unsigned drawn;
  __shared__ Pair<T> known[2][block / 2], left[block / 2];
  if (threadIdx.x == 0) drawn = atomicAdd(&started(0), 1);
  __syncthreads();
  const unsigned number = drawn, own = threadIdx.x / lanes, row = number * block + own;
  const T right = row < x.extent(0) ? b(row) : 0;
  invert(l, number * block, x.extent(0), diagonal);
  const View<const Pair<T>, 2> inverses(diagonal.inverse[0], {block, block / 2});
  Part<T> inverse, ahead;
  inverse.load(inverses, 0, 0);
  if (number > 0) ahead.load(pairs_of(l), number * block, 0);
  T sums[share] = {};
  for (unsigned step = 0; step < number; ++step) {
    if (threadIdx.x < block)
      known[step % 2][threadIdx.x / 2].of[threadIdx.x % 2] =
          wait_for(x(step * block + threadIdx.x));
    __syncthreads();
    ahead.add_products(known[step % 2], sums);
    if (step + 1 < number) ahead.load(pairs_of(l), number * block, (step + 1) * block / 2);
  }
  const T sum = sum_of_row(sums);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = right - sum;
  __syncthreads();
  T products[share] = {};
  inverse.add_products(left, products);
  const T solved = sum_of_row(products);
  if (threadIdx.x % lanes == 0 && row < x.extent(0)) tell(x(row), solved);
}
// [substitute_rows]

// [substitute]
/// Solves all equations. All of x is NaN, and no block has started.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x, View<unsigned, 1> started) {
  substitute_rows<T><<<pieces(x.extent(0), block), threads>>>(l, b, x, started);
  check_launch();
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned padded = pieces(problem.n, block) * block;
  DeviceArray<T, 2> l(padded, padded);
  DeviceArray<T, 1> b(problem.n), device_x(problem.n);
  DeviceArray<unsigned, 1> started(1);
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_padded(problem.l<T>());
  b.copy_from(problem.b<T>().data());
  started.clear(nullptr);

  timeline.begin("kernels");
  substitute<T>(l, b, device_x, started);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Several rows",
                                         .idea = "Use each unknown for several rows",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
