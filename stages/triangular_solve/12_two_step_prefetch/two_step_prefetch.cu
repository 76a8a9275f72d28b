/// \file
/// Changed: a thread prefetches two blocks of L instead of one, into `even` and `odd`. The inverse
///          stays in shared memory. It is loaded into one of the two after the last block of L.
/// Legal:   L and the inverse do not change, and only the products need the unknowns.
/// Expect:  a block is requested two steps before it is used, so a step that does not wait for
///          unknowns takes half as long.
/// Run:     ./climb triangular_solve --stages 11,12
/// Next:    13_recursive_inversion shortens the inversion before the critical path.

#include "../pairs.hpp"

#include <cuda/atomic>
#include <limits>

namespace triangular_solve {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned across = 16;                // threads that share a row of L
constexpr unsigned share = across / lanes;     // rows per thread
constexpr unsigned held = block / 2 / across;  // pairs of each row per thread
constexpr unsigned ahead = 2;                  // blocks of L that are in flight or in registers

// [parts]
/// The position of a thread among the threads that share its rows, and the first of these rows.
__device__ inline unsigned lane_position() { return threadIdx.x % across; }
__device__ inline unsigned first_row() { return threadIdx.x / across * share; }

/// A thread's segment of a block of 64 × 64 elements: every sixteenth pair of its rows.
template <typename T>
struct Part {
  Pair<T> pairs[share][held];

  /// Loads the thread's segment of the block whose corner is (`row`, pair `first`). __syncwarp()
  /// makes the compiler place all loads before the first use of a pair.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m)
        pairs[s][m] = matrix(row + first_row() + s, first + m * across + lane_position());
    __syncwarp();
  }

  /// Adds the segment's products with the given unknowns to the sums of its rows.
  __device__ void add_products(const Pair<T>* operand, T (&sums)[share]) const {
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = operand[m * across + lane_position()];
      for (unsigned s = 0; s < share; ++s)
        sums[s] += pairs[s][m].of[0] * factor.of[0] + pairs[s][m].of[1] * factor.of[1];
    }
  }
};

/// Returns the sum of a row over sixteen threads to the four threads that need the sum. In each
/// exchange, a thread sends half of its partial sums to its partner and keeps the other half.
template <typename T>
__device__ T sum_of_row(T (&sums)[share]) {
  unsigned distance = across / 2;
  for (unsigned rows = share / 2; rows > 0; rows /= 2, distance /= 2)
    for (unsigned s = 0; s < rows; ++s) {
      const bool upper = lane_position() / distance % 2 == 1;
      const T kept = upper ? sums[rows + s] : sums[s], operand = upper ? sums[s] : sums[rows + s];
      sums[s] = kept + __shfl_xor_sync(all_lanes, operand, distance);
    }
  for (; distance > 0; distance /= 2) sums[0] += __shfl_xor_sync(all_lanes, sums[0], distance);
  return sums[0];
}
// [parts]

// [invert]
/// A block on the diagonal, which its inverse overwrites.
template <typename T>
union Diagonal {
  T own[block][block + 1];
  Pair<T> inverse[block][block / 2];
};

/// Inverts the block A on the diagonal that begins in row `first`: solves A Y = I row by row. A
/// thread has every fourth pair of a row of Y and subtracts multiples of the finished rows above.
/// Beyond the last row of L, diagonal elements are taken as 1.
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

/// Spins until another thread block has published an unknown; returns the unknown.
template <typename T>
__device__ T wait_for(T& unknown) {
  T value;
  do value = Shared<T>(unknown).load(cuda::memory_order_relaxed);
  while (isnan(value));
  return value;
}

/// Publishes an unknown to all thread blocks. NaN means "not yet published", so infinity is stored
/// for an unknown that is NaN.
template <typename T>
__device__ void publish(T& unknown, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(unknown).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}
// [flags]

// [substitute_rows]
/// Solves the 64 equations of the block row that the thread block claims when it starts.
template <typename T>
__global__ void __launch_bounds__(threads, 2)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x,
                    View<unsigned, 1> started) {
  __shared__ Diagonal<T> diagonal;
  __shared__ unsigned claimed;
  __shared__ Pair<T> computed[2][block / 2], left[block / 2];
  if (threadIdx.x == 0) claimed = atomicAdd(&started(0), 1);
  __syncthreads();
  const unsigned number = claimed, own = threadIdx.x / lanes, row = number * block + own;
  const T right = row < x.extent(0) ? b(row) : 0;
  invert(l, number * block, x.extent(0), diagonal);
  const View<const Pair<T>, 2> inverses(diagonal.inverse[0], {block, block / 2});
  const auto load = [&](Part<T>& part, unsigned step) {
    if (step < number) part.load(pairs_of(l), number * block, step * block / 2);
    if (step == number) part.load(inverses, 0, 0);
  };
  T sums[share] = {};
  const auto consume = [&](Part<T>& part, unsigned step) {
    if (threadIdx.x < block)
      computed[step % 2][threadIdx.x / 2].of[threadIdx.x % 2] =
          wait_for(x(step * block + threadIdx.x));
    __syncthreads();
    part.add_products(computed[step % 2], sums);
    load(part, step + ahead);
  };
  Part<T> even, odd;
  load(even, 0);
  load(odd, 1);
  for (unsigned step = 0; step + 1 < number; step += ahead) {
    consume(even, step);
    consume(odd, step + 1);
  }
  if (number % 2 == 1) consume(even, number - 1);
  const T sum = sum_of_row(sums);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = right - sum;
  __syncthreads();
  T products[share] = {};
  if (number % 2 == 0)
    even.add_products(left, products);
  else
    odd.add_products(left, products);
  const T solved = sum_of_row(products);
  if (threadIdx.x % lanes == 0 && row < x.extent(0)) publish(x(row), solved);
}
// [substitute_rows]

// [substitute]
/// Solves all equations. Before the launch, all elements of x must be NaN, and `started` must be 0.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x, View<unsigned, 1> started) {
  substitute_rows<T><<<ceil_div(x.extent(0), block), threads>>>(l, b, x, started);
  check_launch();
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned padded = ceil_div(problem.n, block) * block;
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
                                         .title = "Two-step prefetch",
                                         .idea = "Prefetch two blocks of L instead of one",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
