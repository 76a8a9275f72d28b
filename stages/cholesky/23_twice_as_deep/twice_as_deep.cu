/// \file
/// From:    22_in_step
/// Changed: in f64 a product takes all 16 columns of a square at once, not eight and eight.
/// Legal:   it is the sum of the same products. In which order tensor cores add them up is theirs
///          to choose.
/// Expect:  half as many instructions to issue, each of which moves its sums to the tensor core and
///          back once: less power.
/// Run:     ./climb cholesky --stages 22,23

#include "../squares.hpp"

#include <algorithm>
#include <cuda/atomic>
#include <staircase/bulk_copy.hpp>
#include <staircase/registers.hpp>

namespace cholesky {

using staircase::bulk_copy;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::TransferBarrier;
using staircase::View;

// [sizes]
constexpr unsigned threads = 32 * (warps + 4);  // one of the others has slices copied
constexpr unsigned buffers = 6;                 // for slices in shared memory
constexpr unsigned together = 4;                // columns of tiles that are drawn row by row
constexpr unsigned unit = 32;                   // tiles that start together
// [sizes]

// [packed]
/// Eight rows of a slice: two squares, of which even columns come first, then odd ones. A lane has
/// a number of each, so that a warp reads 32 neighbours at a time, from all banks.
template <typename T>
using Eight = T[2][2][8][4];

/// 16 rows of a slice, or the inverse of a square on the diagonal.
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

/// A slice of a tile, in device memory as in shared memory.
template <typename T>
struct alignas(16) Slice {
  Square<T> of_warp[warps];
};

/// The number of a tile among those on the diagonal and below it.
__device__ inline unsigned number_of(unsigned i, unsigned j) { return i * (i + 1) / 2 + j; }

/// L as it is handed from block to block.
template <typename T>
struct Packed {
  View<Slice<T>, 2> slices;     // (tile, slice)
  View<Square<T>, 2> inverses;  // of squares on the diagonal, but for the sign: (tile's row, slice)
  View<unsigned, 2> told;       // how many warps have told of theirs: (tile, slice)
  View<unsigned, 1> through;    // how many tiles have copied all columns before their group
  unsigned ahead;               // how many others may still be copying those when a unit starts
};
// [packed]

// [order]
/// The number of columns before those that stand together with column j.
__device__ inline unsigned before_group(unsigned j) { return j / together * together; }

/// By columns that stand together, row by row of these, from the diagonal down.
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
/// What turns within a square on the diagonal leave: columns of L from the diagonal down and rows
/// of its inverse, but for the roots of pivots; and what these make of them.
template <typename T>
struct Turns {
  alignas(16) T l[depth][depth], inverse[depth][depth], scale[depth];
};

/// On the diagonal: what is known of the tile and of the inverses.
template <typename T>
struct Diagonal {
  Slice<T> slice[slices];
  Square<T> inverse[slices];
  Turns<T> turns[slices];
};

template <typename T>
struct Shared {
  union {
    Slice<T> rows[buffers][2];  // slices of rows i and j
    Diagonal<T> diagonal;
  };
  TransferBarrier full[buffers], empty[buffers], drained, inverted[slices], divided[slices];
  unsigned drawn;
};
// [shared]

// [flags]
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Tells that a warp has written its rows of a slice.
__device__ inline void tell(unsigned& told) {
  staircase::fence_device_memory();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(told).fetch_add(1, cuda::memory_order_release);
}

/// Waits until so many have.
__device__ inline void wait_for(unsigned& told, unsigned count) {
  while (Flag(told).load(cuda::memory_order_acquire) < count) {
  }
}
// [flags]

// [copy]
/// Has slices copied that a tile needs, in their order: of the tiles before it and of those
/// beside the one on the diagonal; then what is below the diagonal of that one, with inverses. A
/// warp calls it.
template <typename T>
__device__ void copy_slices(const Packed<T>& packed, Tile at, unsigned begin, unsigned end,
                            Shared<T>& shared) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned s = begin; s < end; ++s) {
    const unsigned k = s / slices, p = s % slices, of_j = number_of(at.j, k);
    const unsigned of_i = number_of(at.i, k);
    auto& [rows_i, rows_j] = shared.rows[s % buffers];
    TransferBarrier& full = shared.full[s % buffers];
    shared.empty[s % buffers].wait((s / buffers + 1) % 2);
    if (lane == 0) wait_for(packed.told(of_j, p), k < at.j ? warps : 1);
    if (lane == 1 && k < at.j) wait_for(packed.told(of_i, p), warps);
    __syncwarp();
    if (lane != 0) continue;
    const unsigned below = k < at.j ? 0 : p + 1;
    const unsigned bytes_j = (warps - below) * sizeof(Square<T>);
    const unsigned bytes_i = k == at.j ? sizeof(Square<T>) : at.i > at.j ? sizeof(Slice<T>) : 0;
    full.arrive_and_expect(bytes_j + bytes_i);
    if (bytes_j > 0)
      bulk_copy(&rows_j.of_warp[below], &packed.slices(of_j, p).of_warp[below], bytes_j, full);
    if (k == at.j)
      bulk_copy(&rows_i, &packed.inverses(k, p), bytes_i, full);
    else if (at.i > at.j)
      bulk_copy(&rows_i, &packed.slices(of_i, p), bytes_i, full);
  }
}
// [copy]

// [in_step]
/// Has all of them copied, from when the tile's unit may start.
template <typename T>
__device__ void copy_in_step(const Packed<T>& packed, Tile at, Shared<T>& shared) {
  const unsigned before = shared.drawn / unit * unit, common = before_group(at.j) * slices;
  const bool first = threadIdx.x % 32 == 0;
  if (first && before > packed.ahead) wait_for(packed.through(0), before - packed.ahead);
  __syncwarp();
  copy_slices(packed, at, 0, common, shared);
  if (first) Flag(packed.through(0)).fetch_add(1, cuda::memory_order_relaxed);
  copy_slices(packed, at, common, (at.j + (at.i > at.j)) * slices, shared);
}
// [in_step]

// [factorise_square]
/// Factorises minus a square, and inverts minus its factor, by a warp. Half of the lanes have a row
/// each of what becomes L, half of them a column of what becomes L⁻¹: all take off multiples of
/// column k, which they find in shared memory. Numbers move up by a place in each turn, so that
/// the one of turn k is the first. Roots of pivots are taken at the end.
template <typename T>
__device__ void factorise_square(Square<T>& square, Square<T>& inverse, Turns<T>& turns) {
  const unsigned row = threadIdx.x % depth;
  const bool of_l = threadIdx.x % 32 < depth;
  T own[depth];
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) own[j] = of_l ? -square(row, j) : T(j == row);
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
    *(of_l ? &turns.l[k][(row - k) % depth] : &turns.inverse[k][row]) = own[0];
    __syncwarp();
    Pair<T> turn[depth / 2];
#pragma unroll
    for (unsigned j = 0; j < depth / 2; ++j) turn[j] = pair(turns.l[k][2 * j]);
    const T multiple = own[0] * (1 / __shfl_sync(all_lanes, own[0], k));
#pragma unroll
    for (unsigned j = 1; j < depth; ++j) own[j - 1] = own[j] - multiple * turn[j / 2].of[j % 2];
  }
  const T scale = rsqrt(turns.l[row][0]);
  if (of_l) turns.scale[row] = scale;
  __syncwarp();
#pragma unroll
  for (unsigned j = 0; j < depth; ++j)
    own[j] = of_l ? turns.l[j][(row - j) % depth] * turns.scale[j] : turns.inverse[row][j] * -scale;
#pragma unroll
  for (unsigned j = 0; j < depth; ++j) (of_l ? square : inverse)(row, j) = j <= row ? own[j] : 0;
  __syncwarp();
}
// [factorise_square]

// [factorise_diagonal]
/// Hands slices of a tile on the diagonal on, with inverses, as soon as they are there. A thread
/// calls it.
template <typename T>
__device__ void hand_on(const Packed<T>& packed, unsigned j, Shared<T>& shared) {
  auto& [slice, inverse, turns] = shared.diagonal;
  for (unsigned p = 0; p < slices; ++p) {
    const unsigned number = number_of(j, j), below = p + 1;
    shared.inverted[p].wait(0);
    staircase::bulk_store(&packed.inverses(j, p), &inverse[p], sizeof(Square<T>));
    if (below < warps) {
      shared.divided[p].wait(0);
      staircase::bulk_store(&packed.slices(number, p).of_warp[below], &slice[p].of_warp[below],
                            (warps - below) * sizeof(Square<T>));
    }
    staircase::wait_for_stores();
    Flag(packed.told(number, p)).store(1, cuda::memory_order_release);
  }
}

/// Factorises a tile on the diagonal, by each warp the rows up to its own square there. For the
/// one behind a square that is inverted, a warp needs its own rows alone, and so it goes ahead.
template <typename T>
__device__ void factorise_diagonal(unsigned j, View<T, 2> l, Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  auto& [slice, inverse, turns] = shared.diagonal;
  T* const first = &l(j * tile + warp * depth, j * tile);
  shared.drained.arrive();
  shared.drained.wait(0);
  for (unsigned p = 0; p < warp; ++p) {
    shared.inverted[p].wait(0);
    divide(inverse[p], rest);
    store(rest, slice[p].of_warp[warp]);
    staircase::fence_shared_memory();
    __syncwarp();
    shared.divided[p].arrive();
    if (warp > p + 1) shared.divided[p].wait(0);
    store(rest, first + p * depth, l.extent(1));
    take_off(slice[p], p, warp + 1, rest);
  }
  Square<T>& square = slice[warp].of_warp[warp];
  store(rest, square);
  __syncwarp();
  factorise_square(square, inverse[warp], turns[warp]);
  staircase::fence_shared_memory();
  shared.inverted[warp].arrive();
  load(square, rest);
  store(rest, first + warp * depth, l.extent(1));
}
// [factorise_diagonal]

// [multiply]
/// rest += i jᵀ, for 16 rows i, all 16 columns at once.
template <typename T>
__device__ void multiply_whole(const Square<T>& i, const Slice<T>& j, Rest<T>& rest) {
  Factor<T> x[2][4], y[2][2];
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) load_left(i, k, x[k]);
#pragma unroll
  for (unsigned n = 0; n < tile / 8; ++n) {
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) load_right(j.of_warp[n / 2], n % 2, k, y[k]);
    multiply_add(rest[n], x, y);
  }
}
// [multiply]

// [factorise_tile]
/// Takes off the products of all columns before.
template <typename T>
__device__ void take_off_before(Tile at, Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  for (unsigned s = 0; s < at.j * slices; ++s) {
    const auto& [rows_i, rows_j] = shared.rows[s % buffers];
    shared.full[s % buffers].wait(s / buffers % 2);
    multiply_whole((at.i > at.j ? rows_i : rows_j).of_warp[warp], rows_j, rest);
    shared.empty[s % buffers].arrive();
  }
}

/// Divides a tile below the diagonal, slice by slice.
template <typename T>
__device__ void divide_slices(const Packed<T>& packed, Tile at, View<T, 2> l, Shared<T>& shared,
                              Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32, number = number_of(at.i, at.j);
  T* const first = &l(at.i * tile + warp * depth, at.j * tile);
  for (unsigned p = 0; p < slices; ++p) {
    const unsigned s = at.j * slices + p;
    const auto& [rows_i, rows_j] = shared.rows[s % buffers];
    shared.full[s % buffers].wait(s / buffers % 2);
    divide(rows_i.of_warp[0], rest);
    store(rest, packed.slices(number, p).of_warp[warp]);
    tell(packed.told(number, p));
    store(rest, first + p * depth, l.extent(1));
    take_off(rows_j, p, warps, rest);
    shared.empty[s % buffers].arrive();
  }
}

/// Makes a tile of A one of L: that of the block's number, which it draws when it starts.
template <typename T>
__global__ void __launch_bounds__(threads, 1)
    factorise_tile(View<T, 2> l, Packed<T> packed, View<unsigned, 1> started) {
  extern __shared__ __align__(128) unsigned char bytes[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(bytes);
  if (threadIdx.x == 0) {
    shared.drawn = atomicAdd(&started(0), 1);
    for (unsigned b = 0; b < buffers; ++b) {
      shared.full[b].init(1);
      shared.empty[b].init(32 * warps);
    }
    shared.drained.init(32 * warps);
    for (unsigned p = 0; p < slices; ++p) {
      shared.inverted[p].init(32);
      shared.divided[p].init(32 * max(1, slices - 1 - p));
    }
    staircase::fence_barriers();
  }
  __syncthreads();
  const Tile at = tile_in_group(shared.drawn, packed.inverses.extent(0));
  if (threadIdx.x / 32 >= warps) {
    staircase::keep_registers<40>();
    if (threadIdx.x / 32 == warps) copy_in_step(packed, at, shared);
    if (threadIdx.x == 32 * warps && at.i == at.j) hand_on(packed, at.j, shared);
  } else {
    staircase::take_registers<232>();
    Rest<T> rest;
    load(&l(at.i * tile + threadIdx.x / 32 * depth, at.j * tile), l.extent(1), rest);
    take_off_before(at, shared, rest);
    if (at.i > at.j)
      divide_slices(packed, at, l, shared, rest);
    else
      factorise_diagonal(at.j, l, shared, rest);
  }
}
// [factorise_tile]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 16");
  staircase::require_shared_memory(sizeof(Shared<T>));
  const unsigned tiles = pieces(problem.n, tile), padded = tiles * tile;
  const unsigned blocks = tiles * (tiles + 1) / 2;
  DeviceArray<T, 2> device_l(padded, padded);
  DeviceArray<Slice<T>, 2> packed(blocks, slices);
  DeviceArray<Square<T>, 2> inverses(tiles, slices);
  DeviceArray<unsigned, 2> told(blocks, slices);
  DeviceArray<unsigned, 1> started(1), through(1);
  const unsigned ahead = std::max(staircase::processors(), unit) - unit;
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());
  told.clear(nullptr);
  started.clear(nullptr);
  through.clear(nullptr);

  timeline.begin("kernels");
  staircase::allow_shared_memory(factorise_tile<T>, sizeof(Shared<T>));
  factorise_tile<T><<<blocks, threads, sizeof(Shared<T>)>>>(
      device_l, Packed<T>{packed, inverses, told, through, ahead}, started);
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
                                 .title = "Twice as deep",
                                 .idea = "Take all 16 columns of a square at once",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
