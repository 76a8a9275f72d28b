/// \file
/// Changed: a block of threads updates 128 × 128 elements, a thread 8 × 8 of them, with factors in
///          shared memory, 16 columns at a time.
/// Legal:   products are taken off an element in the same order; only who does so has changed.
/// Expect:  a factor is loaded once for 128 elements, and from shared memory once for 8: bound by
///          the FP64 units, as far as loads and barriers leave them busy.
/// Run:     ./climb cholesky --stages 06,07
/// Next:    08_tensor_cores has units of twice the rate.

#include "../cholesky.hpp"

#include <algorithm>

namespace cholesky {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

constexpr unsigned panel = 256;  // columns whose products are taken off at once
constexpr unsigned block = 64;   // columns that are factorised at once
constexpr unsigned all_lanes = 0xFFFFFFFF;

// [factorise_block]
constexpr unsigned side = 16;            // threads along a side of a block
constexpr unsigned held = block / side;  // rows and columns of a thread: every sixteenth

/// Factorises the block on the diagonal from `first` on, in the registers of one block of threads:
/// a column, once its turn comes, is handed to all, who take the root of its pivot themselves.
template <typename T>
__global__ void __launch_bounds__(side* side) factorise_block(View<T, 2> l, unsigned first) {
  __shared__ T columns[2][block];
  T own[held][held];
  for (unsigned m = 0; m < held; ++m)
    for (unsigned n = 0; n < held; ++n)
      own[m][n] = l(first + m * side + threadIdx.y, first + n * side + threadIdx.x);
#pragma unroll
  for (unsigned q = 0; q < held; ++q)
    for (unsigned k = q * side; k < (q + 1) * side; ++k) {
      const bool is_own = threadIdx.x == k % side;
      if (is_own)
        for (unsigned m = q; m < held; ++m) columns[k % 2][m * side + threadIdx.y] = own[m][q];
      __syncthreads();
      const T reciprocal = rsqrt(columns[k % 2][k]);
#pragma unroll
      for (unsigned m = q; m < held; ++m) {
        const T x = columns[k % 2][m * side + threadIdx.y] * reciprocal;
        if (is_own && m * side + threadIdx.y > k) own[m][q] = x;
#pragma unroll
        for (unsigned n = q; n <= m; ++n)
          if (n > q || threadIdx.x > k % side)
            own[m][n] -= x * (columns[k % 2][n * side + threadIdx.x] * reciprocal);
      }
    }
  for (unsigned m = 0; m < held; ++m) {
    if (threadIdx.x == threadIdx.y) own[m][m] = sqrt(own[m][m]);
    for (unsigned n = 0; n <= m; ++n)
      if (n < m || threadIdx.x <= threadIdx.y)
        l(first + m * side + threadIdx.y, first + n * side + threadIdx.x) = own[m][n];
  }
}
// [factorise_block]

// [solve_below]
constexpr unsigned rows_at_once = 32;     // of a block of threads
constexpr unsigned lanes = 8;             // threads of a row
constexpr unsigned part = block / lanes;  // numbers of a row that a thread has: every eighth

/// Solves X L₁₁ᵀ = A₂₁ below the block on the diagonal from `first` on: row by row, by
/// substitution.
template <typename T>
__global__ void __launch_bounds__(rows_at_once* lanes) solve_below(View<T, 2> l, unsigned first) {
  __shared__ T above[block][block + 1], reciprocals[block];
  const unsigned thread = threadIdx.y * lanes + threadIdx.x;
  const unsigned i = first + block + blockIdx.x * rows_at_once + threadIdx.y;
  for (unsigned e = thread; e < block * block; e += rows_at_once * lanes)
    above[e / block][e % block] = l(first + e / block, first + e % block);
  T own[part];
  for (unsigned m = 0; m < part; ++m) own[m] = l(i, first + m * lanes + threadIdx.x);
  __syncthreads();
  if (thread < block) reciprocals[thread] = 1 / above[thread][thread];
  __syncthreads();
#pragma unroll
  for (unsigned q = 0; q < part; ++q)
    for (unsigned k = q * lanes; k < (q + 1) * lanes; ++k) {
      const T x = __shfl_sync(all_lanes, own[q] * reciprocals[k], k % lanes, lanes);
      if (threadIdx.x == k % lanes) own[q] = x;
#pragma unroll
      for (unsigned m = q; m < part; ++m)
        if (m > q || threadIdx.x > k % lanes) own[m] -= x * above[m * lanes + threadIdx.x][k];
    }
  for (unsigned m = 0; m < part; ++m) l(i, first + m * lanes + threadIdx.x) = own[m];
}
// [solve_below]

// [range]
struct Range {
  unsigned first, end;
};

// [range]

// [tiles]
constexpr unsigned tile = 128;               // rows and columns of a block of threads
constexpr unsigned tile_side = 16;           // threads along a side of it
constexpr unsigned kept = tile / tile_side;  // rows and columns of a thread: every sixteenth
constexpr unsigned depth = 16;               // columns of factors in shared memory at a time

/// Neighbours of a row, which are loaded at once.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);
template <typename T>
struct alignas(16) Pack {
  T of[packed<T>];
};

/// Factors of the rows and of the columns of a tile. Each row is longer by one, so that eight of
/// them, which are read at a time, lie in different banks.
template <typename T>
struct Tiles {
  Pack<T> i[tile][depth / packed<T> + 1], j[tile][depth / packed<T> + 1];
};

/// Loads them from column k on; behind the last row it stands again.
template <typename T>
__device__ void load_tiles(View<const T, 2> l, unsigned i0, unsigned j0, unsigned k,
                           Tiles<T>& tiles) {
  constexpr unsigned packs = depth / packed<T>;
  const unsigned thread = threadIdx.y * tile_side + threadIdx.x, last = l.extent(0) - 1;
#pragma unroll
  for (unsigned e = thread; e < tile * packs; e += tile_side * tile_side) {
    const unsigned m = e / packs, p = e % packs, from = k + p * packed<T>;
    tiles.i[m][p] = reinterpret_cast<const Pack<T>&>(l(min(i0 + m, last), from));
    tiles.j[m][p] = reinterpret_cast<const Pack<T>&>(l(min(j0 + m, last), from));
  }
}

/// rest -= i jᵀ
template <typename T>
__device__ void multiply_tiles(const Tiles<T>& tiles, T (&rest)[kept][kept]) {
#pragma unroll
  for (unsigned p = 0; p < depth / packed<T>; ++p) {
    Pack<T> x[kept];
#pragma unroll
    for (unsigned m = 0; m < kept; ++m) x[m] = tiles.i[m * tile_side + threadIdx.y][p];
#pragma unroll
    for (unsigned n = 0; n < kept; ++n) {
      const Pack<T> y = tiles.j[n * tile_side + threadIdx.x][p];
#pragma unroll
      for (unsigned e = 0; e < packed<T>; ++e)
#pragma unroll
        for (unsigned m = 0; m < kept; ++m) rest[m][n] -= x[m].of[e] * y.of[e];
    }
  }
}
// [tiles]

// [update]
/// Takes the products of columns k off columns j, from the diagonal down.
template <typename T>
__global__ void __launch_bounds__(tile_side* tile_side) update(View<T, 2> l, Range k, Range j) {
  __shared__ Tiles<T> tiles;
  const unsigned i0 = j.first + blockIdx.y * tile, j0 = j.first + blockIdx.x * tile;
  const unsigned last = l.extent(0) - 1;
  if (j0 > i0) return;
  T rest[kept][kept];
#pragma unroll
  for (unsigned m = 0; m < kept; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept; ++n)
      rest[m][n] = l(min(i0 + m * tile_side + threadIdx.y, last),
                     min(j0 + n * tile_side + threadIdx.x, last));
  for (unsigned of_k = k.first; of_k < k.end; of_k += depth) {
    load_tiles<T>(l, i0, j0, of_k, tiles);
    __syncthreads();
    multiply_tiles(tiles, rest);
    __syncthreads();
  }
#pragma unroll
  for (unsigned m = 0; m < kept; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept; ++n) {
      const unsigned i = i0 + m * tile_side + threadIdx.y, own_j = j0 + n * tile_side + threadIdx.x;
      if (i <= last && own_j < j.end && own_j <= i) l(i, own_j) = rest[m][n];
    }
}

/// Launches it, if there are such columns.
template <typename T>
void launch_update(View<T, 2> l, Range k, Range j) {
  if (j.first >= j.end) return;
  const dim3 grid(pieces(j.end - j.first, tile), pieces(l.extent(0) - j.first, tile));
  update<T><<<grid, dim3(tile_side, tile_side)>>>(l, k, j);
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

/// Panel by panel: once it is known, its products are taken off everything to its right.
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
  const unsigned padded = pieces(problem.n, block) * block;
  DeviceArray<T, 2> device_l(padded, padded);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());

  timeline.begin("kernels");
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
                                 .idea = "Each thread updates 8 × 8 elements",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
