/// \file
/// Changed: a thread block updates a tile of 128 × 128 elements, and each thread updates 8 × 8 of
///          these elements. The factors are in shared memory, 128 bytes of each row at a time, and
///          are copied three steps ahead. Tiles are processed in strips of 8 columns of tiles.
/// Legal:   from each element, the same products are subtracted in the same order as in stage 06.
/// Expect:  the FP64 pipeline is the limit: a factor is copied once for 128 elements, and read from
///          shared memory once for 8 elements.
/// Run:     ./climb cholesky --stages 06,07
/// Next:    08_tensor_cores uses tensor cores, which have twice the rate of the FP64 pipeline.

#include "../panels.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

namespace cholesky {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [tiles]
constexpr unsigned tile = 128;          // rows and columns of a thread block
constexpr unsigned kept = tile / side;  // rows and columns of a thread: every sixteenth
constexpr unsigned threads = side * side;
constexpr unsigned strip = 8;    // columns of tiles that are processed row by row
constexpr unsigned buffers = 4;  // buffers for factors in shared memory
constexpr unsigned ahead = buffers - 1;

/// Number of columns of factors in a buffer: 128 bytes of a row.
template <typename T>
constexpr unsigned depth = 128 / sizeof(T);

/// Number of adjacent elements of a row that are copied and read together.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);
template <typename T>
struct alignas(16) Pack {
  T of[packed<T>];
};
template <typename T>
__device__ const Pack<T>& pack(const T& first) {
  return reinterpret_cast<const Pack<T>&>(first);
}

/// Factors for the rows and for the columns of a tile. Each row has 16 bytes of padding. The eight
/// rows that are read at the same time are therefore in different banks.
template <typename T>
struct alignas(16) Tiles {
  T i[tile][depth<T> + packed<T>], j[tile][depth<T> + packed<T>];
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
/// The 8 × 8 partially updated elements of a thread.
template <typename T>
using Rest = T[kept][kept];

/// Computes rest -= i jᵀ.
template <typename T>
__device__ void multiply_tiles(const Tiles<T>& tiles, Rest<T>& rest) {
  const unsigned row = threadIdx.x / side, column = threadIdx.x % side;
#pragma unroll 1
  for (unsigned k = 0; k < depth<T>; k += packed<T>) {
    Pack<T> x[kept];
#pragma unroll
    for (unsigned m = 0; m < kept; ++m) x[m] = pack(tiles.i[m * side + row][k]);
#pragma unroll
    for (unsigned n = 0; n < kept; ++n) {
      const Pack<T> y = pack(tiles.j[n * side + column][k]);
#pragma unroll
      for (unsigned e = 0; e < packed<T>; ++e)
#pragma unroll
        for (unsigned m = 0; m < kept; ++m) rest[m][n] -= x[m].of[e] * y.of[e];
    }
  }
}
// [multiply_tiles]

// [load]
/// Loads the elements of a tile. Positions beyond the last row, or beyond column `end` - 1, receive
/// other valid elements of the matrix.
template <typename T>
__device__ void load(View<const T, 2> l, unsigned i0, unsigned j0, unsigned end, Rest<T>& rest) {
  const unsigned i = i0 + threadIdx.x / side, j = j0 + threadIdx.x % side, last = l.extent(0) - 1;
#pragma unroll
  for (unsigned m = 0; m < kept; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept; ++n)
      rest[m][n] = l(min(i + m * side, last), min(j + n * side, end - 1));
}

/// Stores the elements on or below the diagonal, before column `end`.
template <typename T>
__device__ void store(const Rest<T>& rest, unsigned i0, unsigned j0, unsigned end, View<T, 2> l) {
#pragma unroll
  for (unsigned m = 0; m < kept; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept; ++n) {
      const unsigned i = i0 + m * side + threadIdx.x / side, j = j0 + n * side + threadIdx.x % side;
      if (i < l.extent(0) && j < end && j <= i) l(i, j) = rest[m][n];
    }
}
// [load]

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
  for (unsigned step = 0; step < steps; ++step) {
    __pipeline_wait_prior(ahead - 1);
    __syncthreads();
    copy_step(step + ahead);
    multiply_tiles(tiles[step % buffers], rest);
  }
  store(rest, i0, j0, j.end, l);
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
                                 .title = "Tiled update",
                                 .idea = "Update 8 × 8 elements per thread",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
