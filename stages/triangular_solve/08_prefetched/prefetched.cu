/// \file
/// Changed: a thread loads its elements of the next block of L into registers before it waits.
/// Legal:   L does not change, and only the products with it need the unknowns.
/// Expect:  the triangle is read at the bandwidth of memory, unless the critical path takes longer.
/// Run:     ./climb triangular_solve --stages 07,08
/// Next:    09_out_of_core streams a matrix through a GPU whose memory may be too small for it.

#include "../pairs.hpp"

#include <cuda/atomic>
#include <limits>

namespace triangular_solve {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned held = block / 2 / lanes;  // pairs of a row per thread

// [parts]
/// A thread's segment of a row of 64 elements: every fourth pair.
template <typename T>
struct Part {
  Pair<T> pairs[held];

  /// Loads the thread's segment of the 64 elements from pair `first` of `row` on. The __syncwarp()
  /// makes the compiler place all loads before the first use of a pair.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned m = 0; m < held; ++m)
      pairs[m] = matrix(row, first + m * lanes + threadIdx.x % lanes);
    __syncwarp();
  }

  /// Returns the sum of the segment's products with `operand`, which has an element per column.
  __device__ T product(const Pair<T>* operand) const {
    T sum = 0;
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = operand[m * lanes + threadIdx.x % lanes];
      sum += pairs[m].of[0] * factor.of[0] + pairs[m].of[1] * factor.of[1];
    }
    return sum;
  }
};

/// Returns the sum over the threads of a row to each of these threads.
template <typename T>
__device__ T sum_of_row(T sum) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance);
  return sum;
}
// [parts]

// [invert]
/// Inverts the block A on the diagonal that begins in row `first`: solves A Y = I row by row. A
/// thread has every fourth pair of a row of Y and subtracts multiples of the finished rows above.
/// Beyond the last row of L, diagonal elements are taken as 1.
template <typename T>
__device__ Part<T> inverse_of(View<const T, 2> l, unsigned first, unsigned n) {
  __shared__ T own[block][block + 1];
  __shared__ Pair<T> finished[2][block / 2];
  const unsigned row = threadIdx.x / lanes;
  for (unsigned e = threadIdx.x; e < block * block; e += threads)
    own[e / block][e % block] = l(first + e / block, first + e % block);
  Part<T> y;
  for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
    y.pairs[m] = {row == 2 * p ? T{1} : T{0}, row == 2 * p + 1 ? T{1} : T{0}};
  __syncthreads();
  const T reciprocal = first + row < n ? 1 / own[row][row] : 1;
  for (unsigned k = 0; k < block; ++k) {
    if (row == k)
      for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
        finished[k % 2][p] =
            y.pairs[m] = {y.pairs[m].of[0] * reciprocal, y.pairs[m].of[1] * reciprocal};
    __syncthreads();
    if (row > k) {
      const T factor = own[row][k];
      for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes) {
        y.pairs[m].of[0] -= factor * finished[k % 2][p].of[0];
        y.pairs[m].of[1] -= factor * finished[k % 2][p].of[1];
      }
    }
  }
  return y;
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
__global__ void __launch_bounds__(threads)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x,
                    View<unsigned, 1> started) {
  __shared__ unsigned claimed;
  __shared__ Pair<T> computed[2][block / 2], left[block / 2];
  if (threadIdx.x == 0) claimed = atomicAdd(&started(0), 1);
  __syncthreads();
  const unsigned number = claimed, own = threadIdx.x / lanes, row = number * block + own;
  const T right = row < x.extent(0) ? b(row) : 0;
  const Part<T> inverse = inverse_of(l, number * block, x.extent(0));
  Part<T> ahead;
  if (number > 0) ahead.load(pairs_of(l), row, 0);
  T sum = 0;
  for (unsigned step = 0; step < number; ++step) {
    if (threadIdx.x < block)
      computed[step % 2][threadIdx.x / 2].of[threadIdx.x % 2] =
          wait_for(x(step * block + threadIdx.x));
    __syncthreads();
    sum += ahead.product(computed[step % 2]);
    if (step + 1 < number) ahead.load(pairs_of(l), row, (step + 1) * block / 2);
  }
  sum = sum_of_row(sum);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = right - sum;
  __syncthreads();
  const T solved = sum_of_row(inverse.product(left));
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
                                         .title = "Prefetched",
                                         .idea = "Prefetch a block of L, then wait for unknowns",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
