/// \file
/// Changed: 64 columns at a time, by two kernels: one block of threads solves the block on the
///          diagonal in shared memory; then blocks of threads take its unknowns out of 64 rows
///          each, four threads for a row. L is filled up with zeros to whole blocks.
/// Legal:   as in 03; a barrier stands between two columns of a block on the diagonal.
/// Expect:  64 steps in one multiprocessor, while all others wait, take most of the time.
/// Run:     ./climb triangular_solve --stages 04,05
/// Next:    06_inverted_blocks makes these steps a product.

#include "../pairs.hpp"

namespace triangular_solve {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

constexpr unsigned held = block / 2 / lanes;  // pairs of a row that a thread has

// [parts]
/// A thread's part of 64 numbers of a row: every fourth pair.
template <typename T>
struct Part {
  Pair<T> pairs[held];

  /// Fetches the part, from pair `first` of the row on. The warp meets so that all of it is asked
  /// for before any of it is used.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned m = 0; m < held; ++m)
      pairs[m] = matrix(row, first + m * lanes + threadIdx.x % lanes);
    __syncwarp();
  }

  /// Its product with the numbers given.
  __device__ T product(const Pair<T>* given) const {
    T sum = 0;
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = given[m * lanes + threadIdx.x % lanes];
      sum += pairs[m].of[0] * factor.of[0] + pairs[m].of[1] * factor.of[1];
    }
    return sum;
  }
};

/// The sum of the parts of a row's threads, for all of them.
template <typename T>
__device__ T sum_of_row(T sum) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance);
  return sum;
}
// [parts]

// [solve_diagonal]
/// Solves the equations from `first` on, column by column; at the end there may be less than 64.
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
/// Takes the unknowns from `first` on out of the equations below, 64 for each block of threads.
template <typename T>
__global__ void subtract(View<const T, 2> l, View<T, 1> rest, View<const T, 1> x, unsigned first) {
  __shared__ Pair<T> known[block / 2];
  if (threadIdx.x < block) known[threadIdx.x / 2].of[threadIdx.x % 2] = x(first + threadIdx.x);
  __syncthreads();
  const unsigned row = first + block + blockIdx.x * block + threadIdx.x / lanes;
  Part<T> part;
  part.load(pairs_of(l), row, first / 2);
  const T sum = sum_of_row(part.product(known));
  if (threadIdx.x % lanes == 0 && row < rest.extent(0)) rest(row) -= sum;
}
// [subtract]

// [substitute]
/// Block by block: unknowns, once known, are taken out of all equations below.
template <typename T>
void substitute(View<const T, 2> l, View<T, 1> rest, View<T, 1> x) {
  const unsigned steps = pieces(x.extent(0), block);
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
  const unsigned padded = pieces(problem.n, block) * block;
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
                                         .idea = "Solve 64 rows on chip, take them out below",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
