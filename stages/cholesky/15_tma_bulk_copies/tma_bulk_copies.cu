/// \file
/// From:    14_packed_tiles
/// Changed: one thread starts a bulk copy per sub-tile, and the TMA executes it. All threads wait
///          for the bytes of the copy at an mbarrier. Each warp signals its own rows of a tile.
/// Legal:   a copy starts after the signals of all warps of the tile have been read. A fence
///          between the generic proxy (threads) and the async proxy (TMA) precedes each signal.
/// Expect:  fewer instructions compete with the products than in stage 14.
/// Run:     ./climb cholesky --stages 14,15
/// Next:    16_split_barriers shortens the critical path on the diagonal.

#include "../squares.hpp"

#include <cuda/atomic>
#include <staircase/bulk_copy.hpp>

namespace cholesky {

using staircase::bulk_copy;
using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::TransferBarrier;
using staircase::View;

// [sizes]
constexpr unsigned threads = 32 * warps;
constexpr unsigned buffers = 6;  // buffers for pairs of sub-tiles in shared memory
// [sizes]

// [packed]
/// Eight rows of a sub-tile: two squares of 8 × 8 elements, each stored row by row. A lane reads
/// two adjacent elements of a square, so a warp reads a square without bank conflicts.
template <typename T>
using Eight = T[2][8][8];

/// A square of 16 × 16 elements: 16 rows of a sub-tile, or the inverse of a square on the diagonal.
template <typename T>
struct alignas(16) Square {
  Eight<T> eight[2];

  __device__ T& operator()(unsigned row, unsigned column) {
    return eight[row / 8][column / 8][row % 8][column % 8];
  }
  __device__ Pair<T> own(unsigned m, unsigned n) const {
    return pair(eight[m][n][own_row()][own_pair() * 2]);
  }
  __device__ void own(unsigned m, unsigned n, const Pair<T>& numbers) {
    pair(eight[m][n][own_row()][own_pair() * 2]) = numbers;
  }
};

/// A sub-tile: 16 columns of a tile. The elements have the same order in device and shared memory.
template <typename T>
struct alignas(16) Subtile {
  Square<T> of_warp[warps];
};

/// The index of a tile among the tiles on and below the diagonal, counted row by row.
__device__ inline unsigned number_of(unsigned i, unsigned j) { return i * (i + 1) / 2 + j; }

/// The packed copy of L, through which thread blocks exchange sub-tiles, and its flags.
template <typename T>
struct Packed {
  View<Subtile<T>, 2> subtiles;  // indexed by (tile, sub-tile)
  View<Square<T>, 2> inverses;   // negated inverses of diagonal squares, by (tile row, sub-tile)
  View<unsigned, 2> published;   // warps that have published their rows, by tile (row, column)
};
// [packed]

// [shared]
/// Shared memory for a tile on the diagonal: complete sub-tiles, and inverses of diagonal squares.
template <typename T>
struct Diagonal {
  Subtile<T> subtile[subtiles];
  Square<T> inverse[subtiles];
  T exchange[subtiles][2][depth];  // per step: a column of L and a row of its inverse
};

template <typename T>
struct Shared {
  union {
    Subtile<T> rows[buffers][2];  // sub-tiles in tile rows i and j
    Diagonal<T> diagonal;
  };
  TransferBarrier full[buffers];
  unsigned claimed;
};
// [shared]

// [flags]
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Whether the tiles of column k that tile `at` reads have been published: (at.i, k) and (at.j, k).
__device__ inline bool are_published(View<unsigned, 2> published, Tile at, unsigned k) {
  const unsigned row = threadIdx.x == 0 && k < at.j ? at.i : at.j;
  return __syncthreads_and(threadIdx.x > 1 ||
                           Flag(published(row, k)).load(cuda::memory_order_acquire) == warps);
}

/// Signals that the calling warp has written its rows of a tile. All lanes call this function.
__device__ inline void publish(unsigned& published) {
  staircase::fence_device_memory();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(published).fetch_add(1, cuda::memory_order_release);
}
// [flags]

// [stream]
/// The pairs of operands of tile (i, j), in order: first pairs of sub-tiles in tile rows i and j,
/// and then, from tile (j, j), the inverse of each diagonal square with the squares below it.
template <typename T>
struct Stream {
  const Packed<T>& packed;
  Tile at;
  unsigned end;  // number of pairs
  Shared<T>& shared;
  unsigned requested = 0;  // pairs whose copies have started

  /// Starts the copies of the next pair of sub-tiles.
  __device__ void copy() {
    const unsigned s = requested++;
    if (threadIdx.x > 0) return;
    const unsigned k = s / subtiles, p = s % subtiles, of_j = number_of(at.j, k);
    const unsigned of_i = number_of(at.i, k);
    auto& [rows_i, rows_j] = shared.rows[s % buffers];
    TransferBarrier& full = shared.full[s % buffers];
    const unsigned below = k < at.j ? 0 : p + 1;
    const unsigned bytes_j = (warps - below) * sizeof(Square<T>);
    const unsigned bytes_i = k == at.j ? sizeof(Square<T>) : at.i > at.j ? sizeof(Subtile<T>) : 0;
    full.arrive_and_expect(bytes_j + bytes_i);
    if (bytes_j > 0)
      bulk_copy(&rows_j.of_warp[below], &packed.subtiles(of_j, p).of_warp[below], bytes_j, full);
    if (k == at.j)
      bulk_copy(&rows_i, &packed.inverses(k, p), bytes_i, full);
    else if (at.i > at.j)
      bulk_copy(&rows_i, &packed.subtiles(of_i, p), bytes_i, full);
  }

  /// Starts the copies of all pairs of sub-tiles up to pair s. If the tiles of a pair are not
  /// published yet, waits for them up to pair `now`; beyond pair `now`, returns instead.
  __device__ void copy_until(unsigned s, unsigned now) {
    while (requested <= s && requested < end) {
      if (requested % subtiles == 0)
        while (!are_published(packed.published, at, requested / subtiles))
          if (requested > now) return;
      copy();
    }
  }

  /// Waits for pair s and returns it. Starts further copies, which may overwrite pair s - 1.
  __device__ auto& operator()(unsigned s) {
    copy_until(s, s);
    shared.full[s % buffers].wait(s / buffers % 2);
    __syncthreads();
    copy_until(s + buffers - 1, s);
    return shared.rows[s % buffers];
  }
};
// [stream]

// [factorise_diagonal]
/// Factorises a tile on the diagonal, one sub-tile after the other. First, the warp with the square
/// on the diagonal factorises this square. Then the warps below solve their squares. The inverse of
/// the square on the diagonal is stored for the tiles below.
template <typename T>
__device__ void factorise_diagonal(const Packed<T>& packed, unsigned j, View<T, 2> l,
                                   Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32, number = number_of(j, j);
  auto& [subtile, inverse, exchange] = shared.diagonal;
  T* const first = &l(j * tile + warp * depth, j * tile);
  __syncthreads();
  for (unsigned p = 0; p < subtiles; ++p) {
    if (warp == p) {
      Square<T>& square = subtile[p].of_warp[p];
      store(rest, square);
      __syncwarp();
      factorise_square(square, inverse[p], exchange[p]);
      load(inverse[p], rest);
      store(rest, packed.inverses(j, p));
      load(square, rest);
      store(rest, first + p * depth, l.extent(1));
    }
    __syncthreads();
    if (warp > p) {
      divide(inverse[p], rest);
      store(rest, subtile[p].of_warp[warp]);
      store(rest, packed.subtiles(number, p).of_warp[warp]);
      store(rest, first + p * depth, l.extent(1));
    }
    __syncthreads();
    if (warp > p) subtract_products(subtile[p], p, warps, rest);
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
    multiply((at.i > at.j ? rows_i : rows_j).of_warp[warp], rows_j, rest);
  }
}

/// Solves a tile below the diagonal, one sub-tile after the other.
template <typename T>
__device__ void divide_subtiles(const Packed<T>& packed, Tile at, View<T, 2> l, Stream<T>& stream,
                                Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32, number = number_of(at.i, at.j);
  T* const first = &l(at.i * tile + warp * depth, at.j * tile);
  for (unsigned p = 0; p < subtiles; ++p) {
    const auto& [rows_i, rows_j] = stream(at.j * subtiles + p);
    divide(rows_i.of_warp[0], rest);
    store(rest, packed.subtiles(number, p).of_warp[warp]);
    store(rest, first + p * depth, l.extent(1));
    subtract_products(rows_j, p, warps, rest);
  }
}

/// Computes a tile of L from a tile of A. The thread block claims the index of the tile from a
/// counter when it starts.
template <typename T>
__global__ void __launch_bounds__(threads)
    factorise_tile(View<T, 2> l, Packed<T> packed, View<unsigned, 1> started) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(bytes);
  if (threadIdx.x == 0) {
    shared.claimed = atomicAdd(&started(0), 1);
    for (unsigned b = 0; b < buffers; ++b) shared.full[b].init(1);
    staircase::fence_barriers();
  }
  __syncthreads();
  const Tile at = tile_of(shared.claimed, packed.inverses.extent(0));
  Stream<T> stream{packed, at, (at.j + (at.i > at.j)) * subtiles, shared};
  Rest<T> rest;
  load(&l(at.i * tile + threadIdx.x / 32 * depth, at.j * tile), l.extent(1), rest);
  subtract_earlier(at, stream, rest);
  if (at.i > at.j)
    divide_subtiles(packed, at, l, stream, rest);
  else
    factorise_diagonal(packed, at.j, l, shared, rest);
  publish(packed.published(at.i, at.j));
}
// [factorise_tile]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared<T>));
  const unsigned tiles = ceil_div(problem.n, tile), padded = tiles * tile;
  const unsigned blocks = tiles * (tiles + 1) / 2;
  DeviceArray<T, 2> device_l(padded, padded);
  DeviceArray<Subtile<T>, 2> packed(blocks, subtiles);
  DeviceArray<Square<T>, 2> inverses(tiles, subtiles);
  DeviceArray<unsigned, 2> published(tiles, tiles);
  DeviceArray<unsigned, 1> started(1);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());
  published.clear(nullptr);
  started.clear(nullptr);

  timeline.begin("kernels");
  staircase::allow_shared_memory(factorise_tile<T>, sizeof(Shared<T>));
  factorise_tile<T><<<blocks, threads, sizeof(Shared<T>)>>>(
      device_l, Packed<T>{packed, inverses, published}, started);
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
                                 .title = "TMA bulk copies",
                                 .idea = "Let one thread start bulk copies by the TMA",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
