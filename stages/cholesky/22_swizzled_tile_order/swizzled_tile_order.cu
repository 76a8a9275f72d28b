/// \file
/// From:    20_fragment_order
/// Changed: tiles are processed in strips of four columns, row by row within a strip. Units of 32
///          tiles start together. A unit starts when nearly all earlier tiles have copied the
///          columns to the left of their strip. The other earlier tiles are so few that they fit
///          on the GPU together with the unit.
/// Legal:   a tile needs only tiles to its left in its own row and tiles in rows above, and all of
///          these are claimed earlier. The first incomplete tile waits only for complete tiles.
/// Expect:  thread blocks that run at the same time copy the same sub-tiles at the same time. More
///          of these copies than in stage 20 hit in the L2 cache, and DRAM uses less power. There
///          is no gain if the power cap does not limit the clock.
/// Run:     ./climb cholesky --stages 20,22

#include "../squares.hpp"

#include <algorithm>
#include <cuda/atomic>
#include <staircase/bulk_copy.hpp>
#include <staircase/registers.hpp>

namespace cholesky {

using staircase::bulk_copy;
using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::TransferBarrier;
using staircase::View;

// [sizes]
constexpr unsigned threads = 32 * (warps + 4);  // one of the four further warps starts copies
constexpr unsigned buffers = 6;                 // buffers for pairs of sub-tiles in shared memory
constexpr unsigned together = 4;                // columns of tiles that are processed row by row
constexpr unsigned unit = 32;                   // number of tiles in a unit, which start together
// [sizes]

// [packed]
/// Eight rows of a sub-tile: two squares of 8 × 8, each with its even columns before its odd
/// columns. A lane reads one element of each half, so a warp reads 32 adjacent elements, from all
/// banks.
template <typename T>
using Eight = T[2][2][8][4];

/// A square of 16 × 16 elements: 16 rows of a sub-tile, or the inverse of a square on the diagonal.
template <typename T>
struct alignas(16) Square {
  Eight<T> eight[2];

  __device__ T& operator()(unsigned row, unsigned column) {
    return eight[row / 8][column / 8][column % 2][row % 8][column % 8 / 2];
  }
  __device__ Pair<T> own(unsigned m, unsigned n) const {
    return {eight[m][n][0][own_row()][own_pair()], eight[m][n][1][own_row()][own_pair()]};
  }
  __device__ void own(unsigned m, unsigned n, const Pair<T>& numbers) {
    eight[m][n][0][own_row()][own_pair()] = numbers.of[0];
    eight[m][n][1][own_row()][own_pair()] = numbers.of[1];
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
  View<unsigned, 2> published;   // warps that have published their rows, by (tile, sub-tile)
  View<unsigned, 1> through;     // number of tiles that have copied all columns left of their strip
  unsigned ahead;                // earlier tiles that may still be copying when a unit starts
};
// [packed]

// [order]
/// The number of columns of tiles to the left of the strip that contains column j.
__device__ inline unsigned before_group(unsigned j) { return j / together * together; }

/// Returns tile `number`. Tiles are counted strip by strip (four columns), from left to right.
/// Within a strip, they are counted row by row, from the diagonal down.
__device__ inline Tile tile_in_group(unsigned number, unsigned tiles) {
  unsigned first = 0, width = min(together, tiles);
  const auto of_group = [&] { return width * (tiles - first) - width * (width - 1) / 2; };
  for (; number >= of_group(); width = min(together, tiles - first)) {
    number -= of_group();
    first += width;
  }
  unsigned row = 0;
  for (; row < width && number > row; ++row) number -= row + 1;
  return {first + row + number / width, first + number % width};
}
// [order]

// [shared]
/// Results of the elimination steps within a square on the diagonal: columns of L from the diagonal
/// downwards, rows of the inverse of L, and scale factors. The scale factors are the reciprocal
/// square roots of the pivots. The columns and rows are not yet scaled.
template <typename T>
struct Exchange {
  alignas(16) T l[depth][depth], inverse[depth][depth], scale[depth];
};

/// Shared memory for a tile on the diagonal: complete sub-tiles, and inverses of diagonal squares.
template <typename T>
struct Diagonal {
  Subtile<T> subtile[subtiles];
  Square<T> inverse[subtiles];
  Exchange<T> exchange[subtiles];
};

template <typename T>
struct Shared {
  union {
    Subtile<T> rows[buffers][2];  // sub-tiles in tile rows i and j
    Diagonal<T> diagonal;
  };
  TransferBarrier full[buffers], empty[buffers], drained, inverted[subtiles], divided[subtiles];
  unsigned claimed;
};
// [shared]

// [flags]
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Signals that the calling warp has written its rows of a sub-tile. All lanes call this function.
__device__ inline void publish(unsigned& published) {
  staircase::fence_device_memory();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(published).fetch_add(1, cuda::memory_order_release);
}

/// Waits until `count` warps have signalled.
__device__ inline void wait_for(unsigned& published, unsigned count) {
  while (Flag(published).load(cuda::memory_order_acquire) < count) {
  }
}
// [flags]

// [copy]
/// Copies entries `begin` to `end` - 1 of the list of sub-tiles that tile (i, j) needs. First come
/// the columns to the left, in rows i and j. Then follow, from tile (j, j), the inverses and the
/// squares below the diagonal. One warp calls this function, which only starts the copies.
template <typename T>
__device__ void copy_subtiles(const Packed<T>& packed, Tile at, unsigned begin, unsigned end,
                              Shared<T>& shared) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned s = begin; s < end; ++s) {
    const unsigned k = s / subtiles, p = s % subtiles, of_j = number_of(at.j, k);
    const unsigned of_i = number_of(at.i, k);
    auto& [rows_i, rows_j] = shared.rows[s % buffers];
    TransferBarrier& full = shared.full[s % buffers];
    shared.empty[s % buffers].wait((s / buffers + 1) % 2);
    if (lane == 0) wait_for(packed.published(of_j, p), k < at.j ? warps : 1);
    if (lane == 1 && k < at.j) wait_for(packed.published(of_i, p), warps);
    __syncwarp();
    if (lane != 0) continue;
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
}
// [copy]

// [synchronised]
/// Copies all sub-tiles that a tile needs, once at most `ahead` tiles of earlier units still have
/// to copy columns left of their strip. `through` counts the tiles that have copied these columns.
template <typename T>
__device__ void copy_synchronised(const Packed<T>& packed, Tile at, Shared<T>& shared) {
  const unsigned before = shared.claimed / unit * unit, common = before_group(at.j) * subtiles;
  const bool first = threadIdx.x % 32 == 0;
  if (first && before > packed.ahead) wait_for(packed.through(0), before - packed.ahead);
  __syncwarp();
  copy_subtiles(packed, at, 0, common, shared);
  if (first) Flag(packed.through(0)).fetch_add(1, cuda::memory_order_relaxed);
  copy_subtiles(packed, at, common, (at.j + (at.i > at.j)) * subtiles, shared);
}
// [synchronised]

// [factorise_square]
/// Factorises the negated square, and computes the negated inverse of its factor. One warp calls
/// this function. Each lane of the lower half has a row of the future L, and each lane of the upper
/// half has a column of the future L⁻¹. In step k, all lanes subtract multiples of column k, which
/// they read from shared memory. The elements of a lane move forward by one position per step, so
/// element k is always the first in step k. The roots of the pivots are computed at the end.
template <typename T>
__device__ void factorise_square(Square<T>& square, Square<T>& inverse, Exchange<T>& exchange) {
  const unsigned row = threadIdx.x % depth;
  const bool of_l = threadIdx.x % 32 < depth;
  T own[depth];
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) own[j] = of_l ? -square(row, j) : T(j == row);
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
    *(of_l ? &exchange.l[k][(row - k) % depth] : &exchange.inverse[k][row]) = own[0];
    __syncwarp();
    Pair<T> values[depth / 2];
#pragma unroll
    for (unsigned j = 0; j < depth / 2; ++j) values[j] = pair(exchange.l[k][2 * j]);
    const T multiple = own[0] * (1 / __shfl_sync(all_lanes, own[0], k));
#pragma unroll
    for (unsigned j = 1; j < depth; ++j) own[j - 1] = own[j] - multiple * values[j / 2].of[j % 2];
  }
  const T scale = rsqrt(exchange.l[row][0]);
  if (of_l) exchange.scale[row] = scale;
  __syncwarp();
#pragma unroll
  for (unsigned j = 0; j < depth; ++j)
    own[j] = of_l ? exchange.l[j][(row - j) % depth] * exchange.scale[j]
                  : exchange.inverse[row][j] * -scale;
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) (of_l ? square : inverse)(row, j) = j <= row ? own[j] : 0;
  __syncwarp();
}
// [factorise_square]

// [factorise_diagonal]
/// Publishes the sub-tiles of a tile on the diagonal, each as soon as it is complete, together with
/// the inverse of its 16 × 16 square on the diagonal. One thread calls this function.
template <typename T>
__device__ void publish_diagonal(const Packed<T>& packed, unsigned j, Shared<T>& shared) {
  auto& [subtile, inverse, exchange] = shared.diagonal;
  for (unsigned p = 0; p < subtiles; ++p) {
    const unsigned number = number_of(j, j), below = p + 1;
    shared.inverted[p].wait(0);
    staircase::bulk_store(&packed.inverses(j, p), &inverse[p], sizeof(Square<T>));
    if (below < warps) {
      shared.divided[p].wait(0);
      staircase::bulk_store(&packed.subtiles(number, p).of_warp[below], &subtile[p].of_warp[below],
                            (warps - below) * sizeof(Square<T>));
    }
    staircase::wait_for_stores();
    Flag(packed.published(number, p)).store(1, cuda::memory_order_release);
  }
}

/// Factorises a tile on the diagonal. Each warp computes its 16 rows up to its own square on the
/// diagonal. Warp p + 1 needs only its own rows once square p is inverted, so it does not wait for
/// the other warps to divide.
template <typename T>
__device__ void factorise_diagonal(unsigned j, View<T, 2> l, Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  auto& [subtile, inverse, exchange] = shared.diagonal;
  T* const first = &l(j * tile + warp * depth, j * tile);
  shared.drained.arrive();
  shared.drained.wait(0);
  for (unsigned p = 0; p < warp; ++p) {
    shared.inverted[p].wait(0);
    divide(inverse[p], rest);
    store(rest, subtile[p].of_warp[warp]);
    staircase::fence_shared_memory();
    __syncwarp();
    shared.divided[p].arrive();
    if (warp > p + 1) shared.divided[p].wait(0);
    store(rest, first + p * depth, l.extent(1));
    subtract_products(subtile[p], p, warp + 1, rest);
  }
  Square<T>& square = subtile[warp].of_warp[warp];
  store(rest, square);
  __syncwarp();
  factorise_square(square, inverse[warp], exchange[warp]);
  staircase::fence_shared_memory();
  shared.inverted[warp].arrive();
  load(square, rest);
  store(rest, first + warp * depth, l.extent(1));
}
// [factorise_diagonal]

// [factorise_tile]
/// Subtracts the products of all columns to the left of the tile.
template <typename T>
__device__ void subtract_earlier(Tile at, Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  for (unsigned s = 0; s < at.j * subtiles; ++s) {
    const auto& [rows_i, rows_j] = shared.rows[s % buffers];
    shared.full[s % buffers].wait(s / buffers % 2);
    multiply((at.i > at.j ? rows_i : rows_j).of_warp[warp], rows_j, rest);
    shared.empty[s % buffers].arrive();
  }
}

/// Solves a tile below the diagonal, one sub-tile after the other.
template <typename T>
__device__ void divide_subtiles(const Packed<T>& packed, Tile at, View<T, 2> l, Shared<T>& shared,
                                Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32, number = number_of(at.i, at.j);
  T* const first = &l(at.i * tile + warp * depth, at.j * tile);
  for (unsigned p = 0; p < subtiles; ++p) {
    const unsigned s = at.j * subtiles + p;
    const auto& [rows_i, rows_j] = shared.rows[s % buffers];
    shared.full[s % buffers].wait(s / buffers % 2);
    divide(rows_i.of_warp[0], rest);
    store(rest, packed.subtiles(number, p).of_warp[warp]);
    publish(packed.published(number, p));
    store(rest, first + p * depth, l.extent(1));
    subtract_products(rows_j, p, warps, rest);
    shared.empty[s % buffers].arrive();
  }
}

/// Computes a tile of L from a tile of A. The thread block claims the index of the tile from a
/// counter when it starts.
template <typename T>
__global__ void __launch_bounds__(threads, 1)
    factorise_tile(View<T, 2> l, Packed<T> packed, View<unsigned, 1> started) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(bytes);
  if (threadIdx.x == 0) {
    shared.claimed = atomicAdd(&started(0), 1);
    for (unsigned b = 0; b < buffers; ++b) {
      shared.full[b].init(1);
      shared.empty[b].init(32 * warps);
    }
    shared.drained.init(32 * warps);
    for (unsigned p = 0; p < subtiles; ++p) {
      shared.inverted[p].init(32);
      shared.divided[p].init(32 * max(1, subtiles - 1 - p));
    }
    staircase::fence_barriers();
  }
  __syncthreads();
  const Tile at = tile_in_group(shared.claimed, packed.inverses.extent(0));
  if (threadIdx.x / 32 >= warps) {
    staircase::keep_registers<40>();
    if (threadIdx.x / 32 == warps) copy_synchronised(packed, at, shared);
    if (threadIdx.x == 32 * warps && at.i == at.j) publish_diagonal(packed, at.j, shared);
  } else {
    staircase::take_registers<232>();
    Rest<T> rest;
    load(&l(at.i * tile + threadIdx.x / 32 * depth, at.j * tile), l.extent(1), rest);
    subtract_earlier(at, shared, rest);
    if (at.i > at.j)
      divide_subtiles(packed, at, l, shared, rest);
    else
      factorise_diagonal(at.j, l, shared, rest);
  }
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
  DeviceArray<unsigned, 2> published(blocks, subtiles);
  DeviceArray<unsigned, 1> started(1), through(1);
  const unsigned ahead = std::max(staircase::processors(), unit) - unit;
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());
  published.clear(nullptr);
  started.clear(nullptr);
  through.clear(nullptr);

  timeline.begin("kernels");
  staircase::allow_shared_memory(factorise_tile<T>, sizeof(Shared<T>));
  factorise_tile<T><<<blocks, threads, sizeof(Shared<T>)>>>(
      device_l, Packed<T>{packed, inverses, published, through, ahead}, started);
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
                                 .title = "Swizzled tile order",
                                 .idea = "Order and pace tiles for reuse in L2",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
