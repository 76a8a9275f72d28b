/// \file
/// From:    20_apart
/// Changed: columns of tiles are dealt to all GPUs in turns, and each GPU has a copy of L as it is
///          handed on. Who divides a slice stores it in all copies and raises a flag in each.
/// Legal:   a flag is raised behind what it tells of; and of all tiles that are not done, the first
///          has been drawn and waits for none of the others.
/// Expect:  as many times the speed as there are GPUs, as each reads its own memory alone. A column
///          still waits for the one before, which now is another GPU's.
/// Run:     ./climb cholesky --stages 13,20,21

#include "../dealt.hpp"
#include "../squares.hpp"

#include <algorithm>
#include <cuda/atomic>
#include <deque>
#include <staircase/bulk_copy.hpp>
#include <staircase/devices.hpp>
#include <staircase/error.hpp>
#include <staircase/registers.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cholesky {

using staircase::bulk_copy;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::OnDevice;
using staircase::pieces;
using staircase::TransferBarrier;
using staircase::View;

// [sizes]
constexpr unsigned threads = 32 * (warps + 4);  // one of the others has slices copied
constexpr unsigned buffers = 6;                 // for slices in shared memory
constexpr unsigned most_gpus = 8;               // that take part

/// A tile, and in which of its GPU's columns it lies.
struct OwnTile : Tile {
  unsigned own;
};

using Deal = Dealt<tile>;
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

/// L as it is handed from block to block, of which each GPU has a copy.
template <typename T>
struct Packed {
  View<Slice<T>, 2> slices;     // (tile, slice)
  View<Square<T>, 2> inverses;  // of squares on the diagonal, but for the sign: (tile's row, slice)
  View<unsigned, 2> told;       // how many warps have told of theirs: (tile, slice)
};

/// The copies of so many GPUs: a GPU's own, then those of the GPUs that have the next columns.
template <typename T>
struct Copies {
  unsigned count;
  Packed<T> of[most_gpus];
};
// [packed]

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
using FlagOfGpus = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

/// Tells that a warp has written its rows of a slice.
__device__ inline void tell(unsigned& told) {
  staircase::fence_device_memory();
  __syncwarp();
  if (threadIdx.x % 32 == 0) Flag(told).fetch_add(1, cuda::memory_order_release);
}

/// Tells the other GPUs that it has written them there.
template <typename T>
__device__ void tell_others(const Copies<T>& copies, unsigned number, unsigned p) {
  const unsigned g = 1 + threadIdx.x % 32;
  staircase::fence_device_memory();
  __syncwarp();
  if (g < copies.count)
    FlagOfGpus(copies.of[g].told(number, p)).fetch_add(1, cuda::memory_order_release);
}

/// Waits until so many have.
__device__ inline void wait_for(unsigned& told, unsigned count) {
  while (FlagOfGpus(told).load(cuda::memory_order_acquire) < count) {
  }
}
// [flags]

// [copy]
/// Has the slices copied that a tile needs, in their order: of the tiles before it and of those
/// beside the one on the diagonal; then what is below the diagonal of that one, with inverses. A
/// warp calls it.
template <typename T>
__device__ void copy_slices(const Packed<T>& packed, Tile at, unsigned end, Shared<T>& shared) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned s = 0; s < end; ++s) {
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
__device__ void factorise_diagonal(OwnTile at, View<T, 2> l, Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  auto& [slice, inverse, turns] = shared.diagonal;
  T* const first = &l(at.i * tile + warp * depth, at.own * tile);
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

// [factorise_tile]
/// Column by column of a GPU's tiles, from the diagonal down.
__device__ inline OwnTile tile_of(unsigned number, unsigned tiles, Deal deal) {
  unsigned j = deal.gpu;
  for (; number >= tiles - j; j += deal.gpus) number -= tiles - j;
  return {{j + number, j}, j / deal.gpus};
}

/// Takes off the products of all columns before.
template <typename T>
__device__ void take_off_before(Tile at, Shared<T>& shared, Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32;
  for (unsigned s = 0; s < at.j * slices; ++s) {
    const auto& [rows_i, rows_j] = shared.rows[s % buffers];
    shared.full[s % buffers].wait(s / buffers % 2);
    multiply((at.i > at.j ? rows_i : rows_j).of_warp[warp], rows_j, rest);
    shared.empty[s % buffers].arrive();
  }
}

/// Divides a tile below the diagonal, slice by slice. Slices are on their way to other GPUs while
/// a product is taken off.
template <typename T>
__device__ void divide_slices(const Copies<T>& copies, OwnTile at, View<T, 2> l, Shared<T>& shared,
                              Rest<T>& rest) {
  const unsigned warp = threadIdx.x / 32, number = number_of(at.i, at.j);
  T* const first = &l(at.i * tile + warp * depth, at.own * tile);
  for (unsigned p = 0; p < slices; ++p) {
    const unsigned s = at.j * slices + p;
    const auto& [rows_i, rows_j] = shared.rows[s % buffers];
    shared.full[s % buffers].wait(s / buffers % 2);
    divide(rows_i.of_warp[0], rest);
    store(rest, copies.of[0].slices(number, p).of_warp[warp]);
    tell(copies.of[0].told(number, p));
    for (unsigned g = 1; g < copies.count; ++g)
      store(rest, copies.of[g].slices(number, p).of_warp[warp]);
    store(rest, first + p * depth, l.extent(1));
    take_off(rows_j, p, warps, rest);
    shared.empty[s % buffers].arrive();
    if (copies.count > 1) tell_others(copies, number, p);
  }
}

/// Makes a tile of A one of L: that of the block's number, which it draws when it starts.
template <typename T>
__global__ void __launch_bounds__(threads, 1)
    factorise_tile(View<T, 2> l, const __grid_constant__ Copies<T> copies, Deal deal,
                   View<unsigned, 1> started) {
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
  const Packed<T>& packed = copies.of[0];
  const OwnTile at = tile_of(shared.drawn, packed.inverses.extent(0), deal);
  if (threadIdx.x / 32 >= warps) {
    staircase::keep_registers<40>();
    if (threadIdx.x / 32 == warps) copy_slices(packed, at, (at.j + (at.i > at.j)) * slices, shared);
    if (threadIdx.x == 32 * warps && at.i == at.j) hand_on(packed, at.j, shared);
  } else {
    staircase::take_registers<232>();
    Rest<T> rest;
    load(&l(at.i * tile + threadIdx.x / 32 * depth, at.own * tile), l.extent(1), rest);
    take_off_before(at, shared, rest);
    if (at.i > at.j)
      divide_slices(copies, at, l, shared, rest);
    else
      factorise_diagonal(at, l, shared, rest);
  }
}
// [factorise_tile]

// [GPU]
/// What a GPU has: its columns of A, which become those of L, and a copy of what all hand on.
template <typename T>
struct Gpu {
  Gpu(int number, Deal dealt, unsigned tiles)
      : device(number),
        deal(dealt),
        l(tiles * tile, deal.from(tiles)),
        handed_on(tiles * (tiles + 1) / 2, slices),
        inverses(tiles, slices),
        told(tiles * (tiles + 1) / 2, slices),
        started(1) {
    l.clear(nullptr);
    told.clear(nullptr);
    started.clear(nullptr);
    staircase::allow_shared_memory(factorise_tile<T>, sizeof(Shared<T>));
  }
  Packed<T> packed() const { return {handed_on, inverses, told}; }

  const int device;
  const Deal deal;
  DeviceArray<T, 2> l;
  DeviceArray<Slice<T>, 2> handed_on;
  DeviceArray<Square<T>, 2> inverses;
  DeviceArray<unsigned, 2> told;
  DeviceArray<unsigned, 1> started;
};

/// All copies, from that of GPU `first` on.
template <typename T, std::size_t... g>
Copies<T> copies_from(const std::deque<Gpu<T>>& gpus, unsigned first, std::index_sequence<g...>) {
  const unsigned count = gpus.size();
  return {count, {gpus[(first + g) % count].packed()...}};
}

/// Starts all GPUs, each with a block for a tile, and waits for them.
template <typename T>
void factorise(const std::deque<Gpu<T>>& gpus, unsigned tiles) {
  for (const Gpu<T>& gpu : gpus) {
    const unsigned blocks = gpu.deal.count_below(tiles);
    const OnDevice here(gpu.device);
    const auto copies = copies_from(gpus, gpu.deal.gpu, std::make_index_sequence<most_gpus>());
    factorise_tile<T><<<blocks, threads, sizeof(Shared<T>)>>>(gpu.l, copies, gpu.deal, gpu.started);
    check_launch();
  }
  staircase::synchronise(gpus);
}
// [GPU]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  std::vector<int> devices = staircase::devices(problem.gpus);
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared<T>));
  const unsigned tiles = pieces(problem.n, tile);
  devices.resize(std::min<std::size_t>(devices.size(), tiles));  // a column for each
  if (devices.size() > most_gpus)
    throw staircase::NotAvailable("this stage tells at most " + std::to_string(most_gpus) +
                                  " GPUs of slices, and " + std::to_string(devices.size()) +
                                  " are to take part; set gpus");
  staircase::connect_all(devices);
  std::deque<Gpu<T>> gpus = gpus_of<Gpu<T>>(devices, tiles);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  for_each_dealt(gpus, [&](const Gpu<T>& gpu, unsigned first, unsigned own) {
    copy_columns<T>(tile, problem.a<T>(), first, gpu.l, own, 0, nullptr);
  });

  timeline.begin("kernels");
  factorise(gpus, tiles);

  timeline.begin("copy out");
  for_each_dealt(gpus, [&](const Gpu<T>& gpu, unsigned first, unsigned own) {
    copy_columns<T>(tile, gpu.l, own, l, first, 0, nullptr);
  });
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Told to all",
                                 .idea = "Deal columns, and tell all GPUs of each slice",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
