/// \file
/// From:    08_tensor_cores
/// Changed: a block of threads has a tile of 128 × 128 elements from the beginning to the end, in
///          registers: it takes off the products of all columns before, divides by the tile on the
///          diagonal, and writes once. A launch for each tile on the diagonal, one for those below.
/// Legal:   a tile needs tiles to the left of it and of the one on the diagonal of its column, and
///          that one: all of them are of launches before.
/// Expect:  A is read and L written once; but each tile on the diagonal gathers alone on the GPU.
/// Run:     ./climb cholesky --stages 08,10
/// Next:    11_one_launch lets blocks wait for tiles, not for launches.

#include "../squares.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

namespace cholesky {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

// [sizes]
constexpr unsigned threads = 32 * warps;
constexpr unsigned buffers = 4;  // for slices in shared memory

/// Neighbours of a row, which are copied at once.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);
// [sizes]

// [shared]
/// Rows of slices are longer by half, so that pairs of those rows that are read at a time lie in
/// different banks.
template <typename T>
using Row = T[depth + 8];

/// 16 rows of a slice, or the inverse of a square on the diagonal.
template <typename T>
struct alignas(16) Square {
  Row<T> of[depth];

  __device__ T& operator()(unsigned row, unsigned column) { return of[row][column]; }
  __device__ Pair<T> own(unsigned m, unsigned n) const {
    return pair(of[m * 8 + own_row()][n * 8 + own_pair() * 2]);
  }
};

/// A slice of a tile.
template <typename T>
struct alignas(16) Slice {
  Square<T> of_warp[warps];
};

/// On the diagonal: a slice of L, the square where it meets the diagonal, and minus its inverse.
template <typename T>
struct Diagonal {
  Slice<T> slice;
  Square<T> square, inverse;
  T turns[2][depth];  // what turns within the square hand on
};

template <typename T>
union Shared {
  Slice<T> rows[buffers][2];  // slices of rows i and j
  Diagonal<T> diagonal;
};
// [shared]

// [stream]
/// The slices that a tile needs, in their order: of the tiles before it and of those beside the one
/// on the diagonal; then of that one, and in place of own ones the inverses that belong to them.
template <typename T>
struct Stream {
  View<T, 2> l;
  View<T, 3> inverses;
  Tile at;
  unsigned end;  // how many there are
  Shared<T>& shared;
  unsigned asked_for = 0;  // slices that are copied, or have been

  /// Has the next slice copied.
  __device__ void copy() {
    const unsigned s = asked_for++, of_k = threadIdx.x % (depth / packed<T>)*packed<T>;
    auto& [rows_i, rows_j] = shared.rows[s % buffers];
#pragma unroll
    for (unsigned m = threadIdx.x / (depth / packed<T>); m < tile;
         m += threads / (depth / packed<T>)) {
      __pipeline_memcpy_async(&rows_j.of_warp[m / depth](m % depth, of_k),
                              &l(at.j * tile + m, s * depth + of_k), 16);
      if (s < at.j * slices)
        __pipeline_memcpy_async(&rows_i.of_warp[m / depth](m % depth, of_k),
                                &l(at.i * tile + m, s * depth + of_k), 16);
      else if (m < depth)
        __pipeline_memcpy_async(&rows_i.of_warp[m / depth](m % depth, of_k), &inverses(s, m, of_k),
                                16);
    }
    __pipeline_commit();
  }

  /// Has slices up to s copied.
  __device__ void copy_until(unsigned s) {
    while (asked_for <= s && asked_for < end) copy();
  }

  /// Slice s, when it is there. That of s - 1 may be overwritten then.
  __device__ auto& operator()(unsigned s) {
    copy_until(s);
    if (asked_for == s + buffers - 1)
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
/// Factorises a tile on the diagonal, slice by slice: the warp whose rows meet the diagonal there
/// goes first, then those below divide. Its inverse is kept for the tiles below.
template <typename T>
__device__ void factorise_diagonal(T* first, std::size_t stride, View<T, 3> inverses,
                                   Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  auto& [slice, square, inverse, turns] = shared.diagonal;
  __syncthreads();
  for (unsigned p = 0; p < slices; ++p) {
    if (warp == p) {
      store(rest, square.of[0], depth + 8);
      __syncwarp();
      factorise_square(square, inverse, turns);
      copy_square(square, first + p * depth, stride);
      copy_square(inverse, inverses.row(p).data(), depth);
    }
    __syncthreads();
    if (warp > p) {
      divide(inverse, rest);
      store(rest, slice.of_warp[warp].of[0], depth + 8);
      store(rest, first + p * depth, stride);
    }
    __syncthreads();
    if (warp > p) take_off(slice, p, warps, rest);
  }
}
// [factorise_diagonal]

// [factorise_tile]
/// Takes off the products of all columns before.
template <typename T>
__device__ void take_off_before(Tile at, Stream<T>& stream, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  for (unsigned s = 0; s < at.j * slices; ++s) {
    const auto& [rows_i, rows_j] = stream(s);
    multiply(rows_i.of_warp[warp], rows_j, rest);
  }
}

/// Divides a tile below the diagonal, slice by slice.
template <typename T>
__device__ void divide_slices(Tile at, View<T, 2> l, Stream<T>& stream, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  T* const first = &l(at.i * tile + warp * depth, at.j * tile);
  for (unsigned p = 0; p < slices; ++p) {
    const auto& [rows_i, rows_j] = stream(at.j * slices + p);
    divide(rows_i.of_warp[0], rest);
    store(rest, first + p * depth, l.extent(1));
    take_off(rows_j, p, warps, rest);
  }
}

/// Makes tiles of A those of L, from the first one down, a block each.
template <typename T>
__global__ void __launch_bounds__(threads)
    factorise_tile(View<T, 2> l, View<T, 3> inverses, Tile from) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(bytes);
  const Tile at = {from.i + blockIdx.x, from.j};
  Stream<T> stream{l, inverses, at, (at.j + (at.i > at.j)) * slices, shared};
  T* const first = &l(at.i * tile + threadIdx.x / 32 * depth, at.j * tile);
  Rest<T> rest;
  load(first, l.extent(1), rest);
  take_off_before(at, stream, rest);
  if (at.i > at.j)
    divide_slices(at, l, stream, rest);
  else
    factorise_diagonal(first, l.extent(1),
                       View<T, 3>{&inverses(at.j * slices, 0, 0), {slices, depth, depth}}, shared,
                       rest);
}
// [factorise_tile]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared<T>));
  const unsigned tiles = pieces(problem.n, tile), padded = tiles * tile;
  DeviceArray<T, 2> device_l(padded, padded);
  DeviceArray<T, 3> inverses(tiles * slices, depth, depth);
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
                                 .title = "Gathered",
                                 .idea = "A block gathers for a tile, and writes it once",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
