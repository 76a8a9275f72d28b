/// \file
/// From:    08_tensor_cores
/// Changed: the order is left-looking. A thread block keeps a tile of 128 × 128 elements in
///          registers. It subtracts the products of all columns to the left, solves with the tile
///          on the diagonal, and stores the result once. For each column of tiles, one launch
///          computes the tile on the diagonal, and a second launch computes all tiles below.
/// Legal:   tile (i, j) needs the tiles to the left in rows i and j, and tile (j, j). Earlier
///          launches compute all of these tiles.
/// Expect:  A is read once and L is written once, but only one SM works on a tile on the diagonal.
/// Run:     ./climb cholesky --stages 08,10
/// Next:    11_one_launch lets thread blocks wait for tiles instead of for earlier launches.

#include "../squares.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

namespace cholesky {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned threads = 32 * warps;
constexpr unsigned buffers = 4;  // buffers for pairs of sub-tiles in shared memory

/// Number of adjacent elements of a row that are copied together.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);
// [sizes]

// [shared]
/// A row of a sub-tile, with padding of half its length. Pairs of elements that are read together
/// from different rows are therefore in different banks.
template <typename T>
using Row = T[depth + 8];

/// A square of 16 × 16 elements: 16 rows of a sub-tile, or the inverse of a square on the diagonal.
template <typename T>
struct alignas(16) Square {
  Row<T> of[depth];

  __device__ T& operator()(unsigned row, unsigned column) { return of[row][column]; }
  __device__ Pair<T> own(unsigned m, unsigned n) const {
    return pair(of[m * 8 + own_row()][n * 8 + own_pair() * 2]);
  }
};

/// A sub-tile: 16 columns of a tile.
template <typename T>
struct alignas(16) Subtile {
  Square<T> of_warp[warps];
};

/// Shared memory for a tile on the diagonal: a sub-tile of L, its square on the diagonal, and the
/// negated inverse of this square.
template <typename T>
struct Diagonal {
  Subtile<T> subtile;
  Square<T> square, inverse;
  T exchange[2][depth];  // values that lanes exchange in a step within the square
};

template <typename T>
union Shared {
  Subtile<T> rows[buffers][2];  // sub-tiles in tile rows i and j
  Diagonal<T> diagonal;
};
// [shared]

// [stream]
/// The pairs of operands of tile (i, j), from left to right: first pairs of sub-tiles in tile rows
/// i and j, and then each sub-tile of tile (j, j) with the inverse of its square on the diagonal.
template <typename T>
struct Stream {
  View<T, 2> l;
  View<T, 3> inverses;
  Tile at;
  unsigned end;  // number of pairs
  Shared<T>& shared;
  unsigned requested = 0;  // pairs whose copies have started

  /// Starts the copies of the next pair of sub-tiles.
  __device__ void copy() {
    const unsigned s = requested++, of_k = threadIdx.x % (depth / packed<T>)*packed<T>;
    auto& [rows_i, rows_j] = shared.rows[s % buffers];
#pragma unroll
    for (unsigned m = threadIdx.x / (depth / packed<T>); m < tile;
         m += threads / (depth / packed<T>)) {
      __pipeline_memcpy_async(&rows_j.of_warp[m / depth](m % depth, of_k),
                              &l(at.j * tile + m, s * depth + of_k), 16);
      if (s < at.j * subtiles)
        __pipeline_memcpy_async(&rows_i.of_warp[m / depth](m % depth, of_k),
                                &l(at.i * tile + m, s * depth + of_k), 16);
      else if (m < depth)
        __pipeline_memcpy_async(&rows_i.of_warp[m / depth](m % depth, of_k), &inverses(s, m, of_k),
                                16);
    }
    __pipeline_commit();
  }

  /// Starts the copies of all pairs of sub-tiles up to pair s.
  __device__ void copy_until(unsigned s) {
    while (requested <= s && requested < end) copy();
  }

  /// Waits for pair s and returns it. Starts further copies, which may overwrite pair s - 1.
  __device__ auto& operator()(unsigned s) {
    copy_until(s);
    if (requested == s + buffers - 1)
      __pipeline_wait_prior(buffers - 2);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    copy_until(s + buffers - 1);
    return shared.rows[s % buffers];
  }
};
// [stream]

// [factorise_diagonal]
/// Factorises a tile on the diagonal, one sub-tile after the other. First, the warp with the square
/// on the diagonal factorises this square. Then the warps below solve their squares. The inverse of
/// the square on the diagonal is stored for the tiles below.
template <typename T>
__device__ void factorise_diagonal(T* first, std::size_t stride, View<T, 3> inverses,
                                   Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  auto& [subtile, square, inverse, exchange] = shared.diagonal;
  __syncthreads();
  for (unsigned p = 0; p < subtiles; ++p) {
    if (warp == p) {
      store(rest, square.of[0], depth + 8);
      __syncwarp();
      factorise_square(square, inverse, exchange);
      copy_square(square, first + p * depth, stride);
      copy_square(inverse, inverses.row(p).data(), depth);
    }
    __syncthreads();
    if (warp > p) {
      divide(inverse, rest);
      store(rest, subtile.of_warp[warp].of[0], depth + 8);
      store(rest, first + p * depth, stride);
    }
    __syncthreads();
    if (warp > p) subtract_products(subtile, p, warps, rest);
  }
}
// [factorise_diagonal]

// [factorise_tile]
/// Subtracts the products of all columns to the left of the tile.
template <typename T>
__device__ void subtract_earlier(Tile at, Stream<T>& stream, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  for (unsigned s = 0; s < at.j * subtiles; ++s) {
    const auto& [rows_i, rows_j] = stream(s);
    multiply(rows_i.of_warp[warp], rows_j, rest);
  }
}

/// Solves a tile below the diagonal, one sub-tile after the other.
template <typename T>
__device__ void divide_subtiles(Tile at, View<T, 2> l, Stream<T>& stream, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  T* const first = &l(at.i * tile + warp * depth, at.j * tile);
  for (unsigned p = 0; p < subtiles; ++p) {
    const auto& [rows_i, rows_j] = stream(at.j * subtiles + p);
    divide(rows_i.of_warp[0], rest);
    store(rest, first + p * depth, l.extent(1));
    subtract_products(rows_j, p, warps, rest);
  }
}

/// Computes tiles of L from tiles of A, one per thread block: tile `from` and the tiles below it.
template <typename T>
__global__ void __launch_bounds__(threads)
    factorise_tile(View<T, 2> l, View<T, 3> inverses, Tile from) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(bytes);
  const Tile at = {from.i + blockIdx.x, from.j};
  Stream<T> stream{l, inverses, at, (at.j + (at.i > at.j)) * subtiles, shared};
  T* const first = &l(at.i * tile + threadIdx.x / 32 * depth, at.j * tile);
  Rest<T> rest;
  load(first, l.extent(1), rest);
  subtract_earlier(at, stream, rest);
  if (at.i > at.j)
    divide_subtiles(at, l, stream, rest);
  else
    factorise_diagonal(first, l.extent(1),
                       View<T, 3>{&inverses(at.j * subtiles, 0, 0), {subtiles, depth, depth}},
                       shared, rest);
}
// [factorise_tile]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared<T>));
  const unsigned tiles = ceil_div(problem.n, tile), padded = tiles * tile;
  DeviceArray<T, 2> device_l(padded, padded);
  DeviceArray<T, 3> inverses(tiles * subtiles, depth, depth);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());

  timeline.begin("kernels");
  staircase::allow_shared_memory(factorise_tile<T>, sizeof(Shared<T>));
  for (unsigned j = 0; j < tiles; ++j)
    for (unsigned i = j; i < std::min(j + 2, tiles); ++i) {  // on the diagonal, then below it
      const unsigned blocks = i == j ? 1 : tiles - i;
      factorise_tile<T><<<blocks, threads, sizeof(Shared<T>)>>>(device_l, inverses, Tile{i, j});
      check_launch();
    }
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
                                 .title = "Left-looking tiles",
                                 .idea = "Compute tiles left-looking, store them once",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
