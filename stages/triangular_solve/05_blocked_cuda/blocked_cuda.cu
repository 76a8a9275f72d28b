/// \file
/// Changed: two kernels process 64 columns at a time. One thread block solves the block on the
///          diagonal in shared memory. Then each thread block updates 64 rows below with the new
///          unknowns; four threads share a row. L is padded with zeros to multiples of 64.
/// Legal:   as in stage 03. A barrier separates successive columns of a block on the diagonal.
/// Expect:  most of the time is spent in 64 dependent steps on one SM, while all other SMs wait.
/// Run:     ./climb triangular_solve --stages 04,05
/// Next:    06_inverted_blocks replaces these steps by a product with the inverse.

#include "../pairs.hpp"

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

// [solve_diagonal]
/// Solves up to 64 equations, beginning with equation `first`, column by column.
template <typename T>
__global__ void solve_diagonal(View<const T, 2> l, View<const T, 1> rest, View<T, 1> x,
                               unsigned first) {
  __shared__ T own[block][block + 1], left[block];
  for (unsigned e = threadIdx.x; e < block * block; e += threads)
    own[e / block][e % block] = l(first + e / block, first + e % block);
  const unsigned row = threadIdx.x, size = min(block, static_cast<unsigned>(x.extent(0)) - first);
  if (row < size) left[row] = rest(first + row);
  for (unsigned k = 0; k < size; ++k) {
    __syncthreads();
    if (k < row && row < size) left[row] -= own[row][k] * (left[k] / own[k][k]);
  }
  if (row < size) x(first + row) = left[row] / own[row][row];
}
// [solve_diagonal]

// [subtract]
/// Updates the equations below the 64 unknowns that begin at `first`, 64 rows per thread block.
template <typename T>
__global__ void subtract(View<const T, 2> l, View<T, 1> rest, View<const T, 1> x, unsigned first) {
  __shared__ Pair<T> computed[block / 2];
  if (threadIdx.x < block) computed[threadIdx.x / 2].of[threadIdx.x % 2] = x(first + threadIdx.x);
  __syncthreads();
  const unsigned row = first + block + blockIdx.x * block + threadIdx.x / lanes;
  Part<T> part;
  part.load(pairs_of(l), row, first / 2);
  const T sum = sum_of_row(part.product(computed));
  if (threadIdx.x % lanes == 0 && row < rest.extent(0)) rest(row) -= sum;
}
// [subtract]

// [substitute]
/// Block by block: solves 64 equations, then updates all equations below with the new unknowns.
template <typename T>
void substitute(View<const T, 2> l, View<T, 1> rest, View<T, 1> x) {
  const unsigned steps = ceil_div(x.extent(0), block);
  for (unsigned step = 0; step < steps; ++step) {
    solve_diagonal<T><<<1, threads>>>(l, rest, x, step * block);
    check_launch();
    if (step + 1 == steps) break;
    subtract<T><<<steps - 1 - step, threads>>>(l, rest, x, step * block);
    check_launch();
  }
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned padded = ceil_div(problem.n, block) * block;
  DeviceArray<T, 2> l(padded, padded);
  DeviceArray<T, 1> rest(problem.n), device_x(problem.n);
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_padded(problem.l<T>());
  rest.copy_from(problem.b<T>().data());

  timeline.begin("kernels");
  substitute<T>(l, rest, device_x);
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
                                         .title = "Blocked CUDA",
                                         .idea = "Solve 64 rows on chip, update the rows below",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
