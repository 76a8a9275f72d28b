/// \file
/// Changed: 64 columns at a time, by two kernels: one block of threads solves the block on the
///          diagonal in shared memory; then blocks of threads take its unknowns out of 64 rows
///          each, four threads for a row. L is filled up with zeros to whole blocks.
/// Legal:   as in 03; a barrier stands between two columns of a block on the diagonal.
/// Expect:  64 steps in one multiprocessor, while all others wait, take most of the time.
/// Run:     ./climb triangular_solve --stages 04,05
/// Next:    06_inverted_blocks makes these steps a product.

#include "../triangular_solve.hpp"

namespace triangular_solve {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

constexpr unsigned block = 64;  // rows and columns
constexpr unsigned lanes = 4;   // threads of a row
constexpr unsigned threads = block * lanes;
constexpr unsigned all_lanes = 0xFFFFFFFF;

// [pairs]
/// Two neighbours, which are read at once.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T of[2];
};

/// The rows of a matrix, as pairs.
template <typename T>
View<const Pair<T>, 2> pairs_of(View<const T, 2> matrix) {
  return {reinterpret_cast<const Pair<T>*>(matrix.data()),
          {matrix.extent(0), matrix.extent(1) / 2}};
}

/// The product of 64 numbers of a row, from pair `first` on, with the ones given, for all of the
/// row's threads: each has every fourth pair.
template <typename T>
__device__ T product(View<const Pair<T>, 2> matrix, unsigned row, unsigned first,
                     const Pair<T>* given) {
  T sum = 0;
  for (unsigned p = threadIdx.x % lanes; p < block / 2; p += lanes) {
    const Pair<T> own = matrix(row, first + p);
    sum += own.of[0] * given[p].of[0] + own.of[1] * given[p].of[1];
  }
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance);
  return sum;
}
// [pairs]

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
__global__ void subtract(View<const Pair<T>, 2> l, View<T, 1> rest, View<const T, 1> x,
                         unsigned first) {
  __shared__ Pair<T> known[block / 2];
  if (threadIdx.x < block) known[threadIdx.x / 2].of[threadIdx.x % 2] = x(first + threadIdx.x);
  __syncthreads();
  const unsigned row = first + block + blockIdx.x * block + threadIdx.x / lanes;
  const T sum = product<T>(l, row, first / 2, known);
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
    subtract<T><<<steps - 1 - step, threads>>>(pairs_of(l), rest, x, step * block);
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
  Solution<T> x(problem.n);

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
