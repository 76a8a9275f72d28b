/// \file
/// Changed: one launch for all. Tiles are drawn column by column, from the diagonal down; blocks
/// tell
///          of tiles by flags, and wait for those that they need.
/// Legal:   the tiles that one needs were drawn before it, so that the first one that is not done
///          never waits for long. A flag is raised behind what it tells of.
/// Expect:  a chain with a link for 128 columns; where that is short, the rate of tensor cores.
/// Run:     ./climb cholesky --stages 10,11
/// Next:    12_sliced goes back to stage 09, for matrices that the GPU has no room for.

#include "../squares.hpp"

#include <cuda_pipeline.h>

#include <cuda/atomic>

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

// [flags]
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Whether what a tile needs of column k of tiles is there: tiles of its rows, and of its columns'.
__device__ inline bool are_told(View<unsigned, 2> told, Tile at, unsigned k) {
  const unsigned row = threadIdx.x == 0 && k < at.j ? at.i : at.j;
  return __syncthreads_and(threadIdx.x > 1 ||
                           Flag(told(row, k)).load(cuda::memory_order_acquire) == 1);
}

/// Tells of a tile, of which all threads have written their part before they met.
__device__ inline void tell(View<unsigned, 2> told, Tile at) {
  if (threadIdx.x == 0) Flag(told(at.i, at.j)).store(1, cuda::memory_order_release);
}
// [flags]

// [stream]
/// The slices that a tile needs, in their order: of the tiles before it and of those beside the one
/// on the diagonal; then of that one, and in place of own ones the inverses that belong to them.
template <typename T>
struct Stream {
  View<T, 2> l;
  View<T, 3> inverses;
  View<unsigned, 2> told;
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

  /// Has slices up to s copied. Waits for tiles that are needed now, but not for those of later.
  __device__ void copy_until(unsigned s, unsigned now) {
    while (asked_for <= s && asked_for < end) {
      if (asked_for % slices == 0)
        while (!are_told(told, at, asked_for / slices))
          if (asked_for > now) return;
      copy();
    }
  }

  /// Slice s, when it is there. That of s - 1 may be overwritten then.
  __device__ auto& operator()(unsigned s) {
    copy_until(s, s);
    if (asked_for == s + buffers - 1)
      __pipeline_wait_prior(buffers - 2);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    copy_until(s + buffers - 1, s);
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

/// Makes a tile of A one of L: that of the block's number, which it draws when it starts.
template <typename T>
__global__ void __launch_bounds__(threads)
    factorise_tile(View<T, 2> l, View<T, 3> inverses, View<unsigned, 2> told,
                   View<unsigned, 1> started) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(bytes);
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(&started(0), 1);
  __syncthreads();
  const Tile at = tile_of(drawn, told.extent(0));
  Stream<T> stream{l, inverses, told, at, (at.j + (at.i > at.j)) * slices, shared};
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
  __syncthreads();
  tell(told, at);
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
  DeviceArray<unsigned, 2> told(tiles, tiles);
  DeviceArray<unsigned, 1> started(1);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());
  told.clear(nullptr);
  started.clear(nullptr);

  timeline.begin("kernels");
  staircase::allow_shared_memory(factorise_tile<T>, sizeof(Shared<T>));
  factorise_tile<T>
      <<<tiles*(tiles + 1) / 2, threads, sizeof(Shared<T>)>>>(device_l, inverses, told, started);
  check_launch();
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
                                 .title = "One launch",
                                 .idea = "Blocks wait for the tiles that they need",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
