/// \file
/// From:    06_inverted_blocks
/// Changed: the program solves for any number of right-hand sides, 64 at a time. Products with the
///          inverse and with the blocks below become matrix products. A thread block computes a
///          tile of 64 rows and 64 right-hand sides, and each thread 4 × 4 elements of it.
/// Legal:   right-hand sides are independent of each other. The same products are subtracted from
///          each of them, in another order.
/// Expect:  one right-hand side takes as long as 64. With many, memory is not the limit.
/// Run:     ./climb triangular_solve --set rhs=1000 --stages 00,10
/// Next:    11_register_tiled returns to one right-hand side and continues 08.

#include "../pairs.hpp"

namespace triangular_solve {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned held = block / 2 / lanes;  // pairs of a row per thread
constexpr unsigned depth = 16;                // columns of L in shared memory at a time
constexpr unsigned share = 4;                 // rows and right-hand sides per thread

// [parts]
/// A thread's segment of a row of 64 elements: every fourth pair.
template <typename T>
struct Part {
  Pair<T> pairs[held];
};
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

// [multiply]
/// The product of 64 rows of a matrix and 64 right-hand sides, over the 64 unknowns that begin at
/// `first`. These unknowns belong to the columns of the matrix that begin at `column`. A thread has
/// every sixteenth row and every sixteenth right-hand side.
template <typename T>
struct Product {
  T sums[share][share] = {};

  __device__ Product(View<const T, 2> matrix, unsigned row, unsigned column,
                     View<const T, 2> values, unsigned side, unsigned first) {
    __shared__ T left[depth][block + 1], right[depth][block + 1];
    for (unsigned k0 = 0; k0 < block; k0 += depth) {
      for (unsigned e = threadIdx.x; e < block * depth; e += threads) {
        left[e % depth][e / depth] = matrix(row + e / depth, column + k0 + e % depth);
        right[e % depth][e / depth] = values(side + e / depth, first + k0 + e % depth);
      }
      __syncthreads();
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned m = 0; m < share; ++m)
          for (unsigned s = 0; s < share; ++s)
            sums[m][s] += left[k][row_of(m)] * right[k][side_of(s)];
      __syncthreads();
    }
  }

  /// The row and the right-hand side of sums[m][s]. Neighbouring threads have neighbouring rows.
  static __device__ unsigned row_of(unsigned m) { return threadIdx.x % 16 + 16 * m; }
  static __device__ unsigned side_of(unsigned s) { return threadIdx.x / 16 + 16 * s; }
};
// [multiply]

// [solve_diagonal]
/// Solves the 64 equations that begin at `first` for 64 right-hand sides by products with inverses.
template <typename T>
__global__ void __launch_bounds__(threads)
    solve_diagonal(View<const T, 2> inverses, View<const T, 2> rest, View<T, 2> x, unsigned first) {
  const unsigned side = blockIdx.x * block;
  const Product<T> computed(inverses, first, 0, rest, side, first);
  for (unsigned s = 0; s < share; ++s)
    for (unsigned m = 0; m < share; ++m)
      x(side + computed.side_of(s), first + computed.row_of(m)) = computed.sums[m][s];
}
// [solve_diagonal]

// [subtract]
/// Updates the equations below the 64 unknowns that begin at `first`, 64 rows per thread block.
template <typename T>
__global__ void __launch_bounds__(threads)
    subtract(View<const T, 2> l, View<T, 2> rest, View<const T, 2> x, unsigned first) {
  const unsigned row = first + block + blockIdx.x * block, side = blockIdx.y * block;
  const Product<T> sum(l, row, first, x, side, first);
  for (unsigned s = 0; s < share; ++s)
    for (unsigned m = 0; m < share; ++m)
      rest(side + sum.side_of(s), row + sum.row_of(m)) -= sum.sums[m][s];
}
// [subtract]

// [substitute]
/// Block by block: solves 64 equations, then updates all equations below with the new unknowns.
template <typename T>
void substitute(View<const T, 2> l, unsigned n, View<Pair<T>, 2> inverses, View<T, 2> rest,
                View<T, 2> x) {
  const unsigned steps = ceil_div(n, block), tiles = x.extent(0) / block;
  invert<T><<<steps, threads>>>(l, n, inverses);
  check_launch();
  const View<const T, 2> factors(inverses.data()->of, {inverses.extent(0), block});
  for (unsigned step = 0; step < steps; ++step) {
    solve_diagonal<T><<<tiles, threads>>>(factors, rest, x, step * block);
    check_launch();
    if (step + 1 == steps) break;
    subtract<T><<<dim3(steps - 1 - step, tiles), threads>>>(l, rest, x, step * block);
    check_launch();
  }
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned padded = ceil_div(problem.n, block) * block;
  const unsigned sides = ceil_div(problem.rhs, block) * block;
  DeviceArray<T, 2> l(padded, padded);
  DeviceArray<Pair<T>, 2> inverses(padded, block / 2);
  DeviceArray<T, 2> rest(sides, padded), device_x(sides, padded);
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_padded(problem.l<T>());
  rest.copy_padded(problem.b<T>());

  timeline.begin("kernels");
  substitute<T>(l, problem.n, inverses, rest, device_x);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_x.copy_corner_to(x);
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Multiple right-hand sides",
                                         .idea = "Multiply each block by 64 right-hand sides",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
