/// \file
/// Changed: a warp updates 64 × 32 elements on the tensor cores, in products of 16 × 8 × 8. Tensor
///          cores do not support f32, so an f32 value becomes two tf32 values, and a product
///          becomes three products. The factors of eight columns are loaded while the factors of
///          eight other columns are multiplied.
/// Legal:   the same products are subtracted from each element, in another order, which is the same
///          in every run.
/// Expect:  the tensor cores reach twice the rate of the FP64 pipeline.
/// Run:     ./climb cholesky --stages 07,08
/// Next:    09_look_ahead factorises the next panel during the update.

#include "../panels.hpp"
#include "../products.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/factor.hpp>

namespace cholesky {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Factor;
using staircase::factor;
using staircase::multiply_add;
using staircase::View;

// [tiles]
constexpr unsigned strip = 8;    // columns of tiles that are processed row by row
constexpr unsigned buffers = 4;  // buffers for factors in shared memory
constexpr unsigned ahead = buffers - 1;

/// Number of columns of factors in a buffer: 128 bytes of a row.
template <typename T>
constexpr unsigned depth = 128 / sizeof(T);

/// Number of adjacent elements of a row that are copied together.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);

/// Factors for the rows and for the columns of a tile. Each row has four elements of padding.
/// Rows are therefore in different banks when four elements of each row are read at the same time.
template <typename T>
struct alignas(16) Tiles {
  T i[tile][depth<T> + 4], j[tile][depth<T> + 4];
};

/// Starts the copies of factors, beginning with column k. Row indices are clamped to the last row.
template <typename T>
__device__ void copy_tiles(View<const T, 2> l, unsigned i0, unsigned j0, unsigned k,
                           Tiles<T>& tiles) {
  constexpr unsigned packs = depth<T> / packed<T>;
  const unsigned of_k = threadIdx.x % packs * packed<T>, last = l.extent(0) - 1;
#pragma unroll
  for (unsigned m = threadIdx.x / packs; m < tile; m += threads / packs) {
    __pipeline_memcpy_async(&tiles.i[m][of_k], &l(min(i0 + m, last), k + of_k), 16);
    __pipeline_memcpy_async(&tiles.j[m][of_k], &l(min(j0 + m, last), k + of_k), 16);
  }
}
// [tiles]

// [multiply_tiles]
/// The elements of eight columns that one lane contributes to all `mma` products of its warp.
template <typename T>
struct Factors {
  Factor<T> x[kept_i][4], y[kept_j][2];
};

/// Loads one lane's operands from eight columns of the tiles, beginning with column k.
template <typename T>
__device__ void load_factors(const Tiles<T>& tiles, unsigned k, Factors<T>& factors) {
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
    const auto [i, of_k] = staircase::position_in_a(threadIdx.x % 32, r);
#pragma unroll
    for (unsigned m = 0; m < kept_i; ++m)
      factors.x[m][r] = factor(tiles.i[row_of(m) + i][k + of_k]);
  }
#pragma unroll
  for (unsigned r = 0; r < 2; ++r) {
    const auto [of_k, j] = staircase::position_in_b(threadIdx.x % 32, r);
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
      factors.y[n][r] = factor(tiles.j[column_of(n) + j][k + of_k]);
  }
}

/// Computes rest += x y.
template <typename T>
__device__ void multiply_factors(const Factors<T>& factors, Rest<T>& rest) {
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n) multiply_add(rest[m][n], factors.x[m], factors.y[n]);
}
// [multiply_tiles]

// [update]
/// Subtracts the products of columns `k` from columns `j`, on and below the diagonal.
template <typename T>
__global__ void __launch_bounds__(threads) update(View<T, 2> l, Range k, Range j) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Tiles<T>* const tiles = reinterpret_cast<Tiles<T>*>(bytes);
  const unsigned i0 = j.first + blockIdx.y * tile;
  const unsigned j0 = j.first + (blockIdx.z * strip + blockIdx.x) * tile;
  if (j0 > i0 || j0 >= j.end) return;
  const unsigned steps = (k.end - k.first) / depth<T>;
  const auto copy_step = [&](unsigned step) {
    if (step < steps) copy_tiles<T>(l, i0, j0, k.first + step * depth<T>, tiles[step % buffers]);
    __pipeline_commit();
  };
  for (unsigned step = 0; step < ahead; ++step) copy_step(step);
  Rest<T> rest;
  load<T>(l, i0, j0, j.end, rest);
  Factors<T> even, odd;  // factors of eight columns, and of the next eight columns
  const auto take_step = [&](unsigned step) {
    __pipeline_wait_prior(ahead - 1);
    __syncthreads();
    copy_step(step + ahead);
    load_factors(tiles[step % buffers], 0, even);
  };
  take_step(0);
  for (unsigned step = 0; step < steps; ++step)
#pragma unroll
    for (unsigned k = 8; k < depth<T>; k += 16) {
      load_factors(tiles[step % buffers], k, odd);
      multiply_factors(even, rest);
      if (k + 8 < depth<T>)
        load_factors(tiles[step % buffers], k + 8, even);
      else if (step + 1 < steps)
        take_step(step + 1);
      multiply_factors(odd, rest);
    }
  store(rest, i0, j0, 0, j.end, l);
}

/// Launches `update` unless the range `j` is empty.
template <typename T>
void launch_update(View<T, 2> l, Range k, Range j) {
  if (j.first >= j.end) return;
  const unsigned rows = ceil_div(l.extent(0) - j.first, tile);
  const unsigned columns = ceil_div(j.end - j.first, tile);
  const dim3 grid(std::min(columns, strip), rows, ceil_div(columns, strip));
  update<T><<<grid, threads, sizeof(Tiles<T>[buffers])>>>(l, k, j);
  check_launch();
}
// [update]

// [factorise]
/// Factorises the columns of a panel, 64 at a time.
template <typename T>
void factorise_panel(View<T, 2> l, unsigned first) {
  const unsigned n = l.extent(0), end = std::min(first + panel, n);
  for (unsigned k = first; k < end; k += block) {
    factorise_block<T><<<1, dim3(side, side)>>>(l, k);
    check_launch();
    if (k + block == n) return;
    solve_below<T><<<(n - k - block) / rows_at_once, dim3(lanes, rows_at_once)>>>(l, k);
    check_launch();
    launch_update(l, {k, k + block}, {k + block, end});
  }
}

/// Right-looking: factorises each panel and subtracts its products from all columns to its right.
template <typename T>
void factorise(View<T, 2> l) {
  const unsigned n = l.extent(0);
  for (unsigned first = 0; first < n; first += panel) {
    factorise_panel(l, first);
    launch_update(l, {first, first + panel}, {first + panel, n});
  }
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Tiles<T>[buffers]));
  const unsigned padded = ceil_div(problem.n, block) * block;
  DeviceArray<T, 2> device_l(padded, padded);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());

  timeline.begin("kernels");
  staircase::allow_shared_memory(update<T>, sizeof(Tiles<T>[buffers]));
  factorise<T>(device_l);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_l.copy_corner_to(l);
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Tensor cores",
                                 .idea = "Update on the tensor cores",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
