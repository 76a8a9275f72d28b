/// \file
/// Changed: first, one kernel inverts all diagonal blocks of L concurrently. The unknowns of a
///          block are then its inverse times its updated right-hand side.
/// Legal:   the inverse of a block depends on this block of L alone. The product with the inverse
///          is rounded differently; the page derives a bound.
/// Expect:  launches take most of the time: two per 64 columns, each longer than a kernel.
/// Run:     ./climb triangular_solve --stages 05,06
/// Next:    07_flags_in_data needs no launches between the products.

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

// [invert]
/// Inverts a block A on the diagonal: solves A Y = I row by row. A thread has every fourth pair of
/// a row of Y and subtracts multiples of the finished rows above. Beyond the last row of L,
/// diagonal elements are taken as 1.
template <typename T>
__global__ void __launch_bounds__(threads)
    invert(View<const T, 2> l, unsigned n, View<Pair<T>, 2> inverses) {
  __shared__ T own[block][block + 1];
  __shared__ Pair<T> finished[2][block / 2];
  const unsigned first = blockIdx.x * block, row = threadIdx.x / lanes;
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
  for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
    inverses(first + row, p) = y.pairs[m];
}
// [invert]

// [solve_diagonal]
/// Solves the 64 equations that begin at `first` by a product with the inverse. The last block may
/// have fewer than 64 equations.
template <typename T>
__global__ void solve_diagonal(View<const Pair<T>, 2> inverses, View<const T, 1> rest, View<T, 1> x,
                               unsigned first) {
  __shared__ Pair<T> left[block / 2];
  const unsigned row = first + threadIdx.x / lanes, i = first + threadIdx.x;
  if (threadIdx.x < block)
    left[threadIdx.x / 2].of[threadIdx.x % 2] = i < x.extent(0) ? rest(i) : 0;
  __syncthreads();
  Part<T> inverse;
  inverse.load(inverses, row, 0);
  const T computed = sum_of_row(inverse.product(left));
  if (threadIdx.x % lanes == 0 && row < x.extent(0)) x(row) = computed;
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
void substitute(View<const T, 2> l, View<Pair<T>, 2> inverses, View<T, 1> rest, View<T, 1> x) {
  const unsigned steps = ceil_div(x.extent(0), block);
  invert<T><<<steps, threads>>>(l, x.extent(0), inverses);
  check_launch();
  for (unsigned step = 0; step < steps; ++step) {
    solve_diagonal<T><<<1, threads>>>(inverses, rest, x, step * block);
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
  DeviceArray<Pair<T>, 2> inverses(padded, block / 2);
  DeviceArray<T, 1> rest(problem.n), device_x(problem.n);
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_padded(problem.l<T>());
  rest.copy_from(problem.b<T>().data());

  timeline.begin("kernels");
  substitute<T>(l, inverses, rest, device_x);
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
                                         .title = "Inverted blocks",
                                         .idea = "Invert all diagonal blocks in advance",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
