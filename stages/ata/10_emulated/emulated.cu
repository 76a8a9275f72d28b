/// \file
/// Changed: columns of A are scaled to whole numbers below 2⁵⁹, of which 15 residues of a byte each
///          are kept; the product is computed 15 times, of residues, exactly, by `wgmma`; the
///          Chinese remainder theorem puts each element together again, exactly, too (Ozaki, Uchino
///          and Imamura, "Ozaki Scheme II", arXiv:2504.08009). The code of stage 09 is still there,
///          for matrices that this does not suit.
/// Legal:   the only errors are those of rounding A to whole numbers, and C to FP64; if any number
///          of A is rounded, statistics of its columns must show that the error keeps the bound of
///          a sum in FP64.
/// Expect:  15 products at 30 times the rate: twice the speed of FP64 tensor cores, less the time
///          to take A apart and to put C together.
/// Run:     ./climb ata --stages 09,10
/// Next:    11_overlapped goes back to stage 09, and copies while it computes.

#include "../ata.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <staircase/bulk_copy.hpp>
#include <staircase/mma.hpp>
#include <staircase/wgmma.hpp>
#include <vector>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned tile = 128;                // rows and columns of C of a block
constexpr unsigned depth = 16;                // rows of A in shared memory at a time
constexpr unsigned warps_i = 2, warps_j = 4;  // warps of a block along the rows and columns of C
constexpr unsigned warps = warps_i * warps_j, threads = 32 * warps;
constexpr unsigned held_i = tile / warps_i / 16;  // products of 16 × 8 elements that a warp holds,
constexpr unsigned held_j = tile / warps_j / 8;   // along the rows and the columns of C
constexpr unsigned strip = 16 * warps_i;          // rows of C that are written at a time
constexpr unsigned buffers = 6;                   // pairs of tiles in shared memory
constexpr unsigned ahead = 4;                     // steps from the start of a copy to its use

using Sums = double[held_i][held_j][4];  // what a lane holds of its warp's part of C
constexpr unsigned held = held_i * held_j * 4;
// [sizes]

// [padded]
/// Rows of A in the memory of the device: whole steps.
inline std::size_t padded_rows(const Problem& problem) {
  return (problem.rows + depth - 1) / depth * depth;
}

/// Columns of A there: an even number, since copies begin at multiples of 16 bytes.
inline std::size_t padded_cols(const Problem& problem) { return problem.cols + problem.cols % 2; }
// [padded]

// [tasks]
/// What a block does: a tile of C in row p and column q of tiles, summed over some steps of A.
struct Task {
  unsigned p, q, first, last;
};
// [tasks]

// [lane]
/// Where the calling thread's numbers lie in the products of its warp; see mma.hpp.
struct Lane {
  unsigned i = threadIdx.x / 32 / warps_j;  // the warp's place among the warps of the block
  unsigned j = threadIdx.x / 32 % warps_j;
  unsigned group = threadIdx.x % 32 / 4;
  unsigned member = threadIdx.x % 4;

  /// The first row (column) of product m (n) in the tile.
  __device__ unsigned row(unsigned m) const { return m * strip + i * 16; }
  __device__ unsigned column(unsigned n) const { return (j * held_j + n) * 8; }
};
// [lane]

// [shared]
/// 16 rows of the columns of A that make a tile of C: those of its rows i, those of its columns j.
/// Each row begins 32 bytes further into the banks than the one before: half a warp, which loads
/// four neighbours of four rows at a time, meets all of them.
struct Tiles {
  double i[depth][tile + 4], j[depth][tile + 4];
};

/// What a block keeps in shared memory: tiles of A, and at the end a strip of C.
struct Shared {
  union {
    Tiles a[buffers];
    double c[strip][tile + 1];
  };
  staircase::TransferBarrier full[buffers], empty[buffers];
};
// [shared]

// [multiply_tiles]
/// What a lane holds of 8 rows of A for the products of its warp.
struct Factors {
  double x[held_i][4], y[held_j][2];
};

/// Loads them from row k0 of the tiles on.
__device__ void load_factors(const Tiles& a, unsigned k0, Lane lane, Factors& factors) {
#pragma unroll
  for (unsigned r = 0; r < 2; ++r) {
    const unsigned k = k0 + 4 * r + lane.member;
#pragma unroll
    for (unsigned m = 0; m < held_i; ++m)
#pragma unroll
      for (unsigned h = 0; h < 2; ++h)
        factors.x[m][2 * r + h] = a.i[k][lane.row(m) + 8 * h + lane.group];
#pragma unroll
    for (unsigned n = 0; n < held_j; ++n) factors.y[n][r] = a.j[k][lane.column(n) + lane.group];
  }
}

/// sum += xᵀ y
__device__ void multiply_factors(const Factors& factors, Sums& sum) {
#pragma unroll
  for (unsigned m = 0; m < held_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < held_j; ++n)
      staircase::mma_f64_m16n8k8(sum[m][n], factors.x[m], factors.y[n]);
}
// [multiply_tiles]

// [write]
/// Writes a tile of C and its mirror image: threads meet in shared memory and change places, so
/// that neighbours write neighbours both ways.
__device__ void write(const Sums& sum, Task at, Lane lane, Shared& shared, View<double, 2> c) {
  const unsigned cols = c.extent(1), i0 = at.p * tile, j0 = at.q * tile;
#pragma unroll
  for (unsigned s = 0; s < held_i; ++s) {
#pragma unroll
    for (unsigned n = 0; n < held_j; ++n)
#pragma unroll
      for (unsigned e = 0; e < 4; ++e)
        shared.c[lane.i * 16 + lane.group + e / 2 * 8][lane.column(n) + 2 * lane.member + e % 2] =
            sum[s][n][e];
    __syncthreads();
    for (unsigned e = threadIdx.x; e < strip * tile; e += threads) {
      const unsigned i = i0 + s * strip + e / tile, j = j0 + e % tile;
      if (i <= j && j < cols) c(i, j) = shared.c[e / tile][e % tile];
    }
    for (unsigned e = threadIdx.x; e < strip * tile; e += threads) {
      const unsigned i = i0 + s * strip + e % strip, j = j0 + e / strip;
      if (i < j && j < cols) c(j, i) = shared.c[e % strip][e / strip];
    }
    __syncthreads();
  }
}
// [write]

// [load_tiles]
/// Clears the columns of tiles that lie beyond the last one of A: no copy reaches them.
__device__ void clear_beyond(unsigned cols, Task at, Shared& shared) {
  for (unsigned e = threadIdx.x; e < buffers * depth * tile; e += threads) {
    Tiles& tiles = shared.a[e / tile / depth];
    const unsigned k = e / tile % depth, m = e % tile;
    if (at.p * tile + m >= cols) tiles.i[k][m] = 0;
    if (at.q * tile + m >= cols) tiles.j[k][m] = 0;
  }
}

/// Starts to copy the tiles of A for a step into their buffer, once that is empty. A warp calls it;
/// each lane starts the copy of one row.
__device__ void load_tiles(View<const double, 2> a, unsigned step, Task at, Shared& shared) {
  const unsigned lane = threadIdx.x % 32, k = lane % depth;
  const unsigned p = at.p * tile, q = at.q * tile, cols = a.extent(1);
  const unsigned bytes_i = min(tile, cols - p) * sizeof(double);
  const unsigned bytes_j = min(tile, cols - q) * sizeof(double);
  Tiles& tiles = shared.a[step % buffers];
  auto& full = shared.full[step % buffers];
  shared.empty[step % buffers].wait((step / buffers + 1) % 2);
  if (lane == 0) full.arrive_and_expect(depth * (bytes_i + bytes_j));
  __syncwarp();
  if (lane < depth)
    staircase::bulk_copy(tiles.i[k], &a((at.first + step) * depth + k, p), bytes_i, full);
  else
    staircase::bulk_copy(tiles.j[k], &a((at.first + step) * depth + k, q), bytes_j, full);
}
// [load_tiles]

// [sum_up]
/// Adds up the warp's part of a tile, for some steps of A.
__device__ void sum_up(View<const double, 2> a, Task task, Lane lane, Shared& shared, Sums& sum) {
  const unsigned warp = threadIdx.x / 32, steps = task.last - task.first;
  if (warp < min(ahead, steps)) load_tiles(a, warp, task, shared);
  Factors even, odd;  // of the first and the second 8 rows of a step
  shared.full[0].wait(0);
  load_factors(shared.a[0], 0, lane, even);
  for (unsigned s = 0; s < steps; ++s) {
    // The warps take turns in starting copies.
    if (s % warps == warp && s + ahead < steps) load_tiles(a, s + ahead, task, shared);
    load_factors(shared.a[s % buffers], 8, lane, odd);
    multiply_factors(even, sum);
    if (s + 1 < steps) {
      shared.full[(s + 1) % buffers].wait((s + 1) / buffers % 2);
      load_factors(shared.a[(s + 1) % buffers], 0, lane, even);
    }
    shared.empty[s % buffers].arrive();
    multiply_factors(odd, sum);
  }
}
// [sum_up]

// [multiply]
/// Each block computes a tile of C = AᵀA, the first ones wholly. The others leave their sums in
/// `parts`: (part, number that a thread holds, thread).
__global__ void __launch_bounds__(threads)
    multiply(View<const double, 2> a, View<const Task, 1> tasks, unsigned whole,
             View<double, 3> parts, View<double, 2> c) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(bytes);
  if (threadIdx.x == 0) {
    for (unsigned b = 0; b < buffers; ++b) {
      shared.full[b].init(1);
      shared.empty[b].init(threads);
    }
    staircase::fence_barriers();
  }
  const Task task = tasks(blockIdx.x);
  if ((task.q + 1) * tile > a.extent(1)) clear_beyond(a.extent(1), task, shared);
  __syncthreads();

  const Lane lane;
  Sums sum = {};
  sum_up(a, task, lane, shared, sum);
  __syncthreads();
  if (blockIdx.x < whole) return write(sum, task, lane, shared, c);
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    parts(blockIdx.x - whole, h, threadIdx.x) = sum[h / (held_j * 4)][h / 4 % held_j][h % 4];
}
// [multiply]

// [add_up]
/// Adds up the sums of the tiles that are cut into `slices`, one after the other.
__global__ void __launch_bounds__(threads)
    add_up(View<const Task, 1> tasks, unsigned whole, unsigned slices, View<const double, 3> parts,
           View<double, 2> c) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Sums sum = {};
  for (unsigned s = 0; s < slices; ++s)
#pragma unroll
    for (unsigned h = 0; h < held; ++h)
      sum[h / (held_j * 4)][h / 4 % held_j][h % 4] +=
          parts(s * gridDim.x + blockIdx.x, h, threadIdx.x);
  write(sum, tasks(whole + blockIdx.x), Lane(), *reinterpret_cast<Shared*>(bytes), c);
}
// [add_up]

// [plan]
/// The tiles of the upper triangle in strips of 12 columns, row by row: blocks that run at the same
/// time then share the columns of A that they read.
std::vector<Task> tiles_of(unsigned cols, unsigned steps) {
  const unsigned tiles = (cols + tile - 1) / tile, width = 12;
  std::vector<Task> tasks;
  for (unsigned q0 = 0; q0 < tiles; q0 += width)
    for (unsigned p = 0; p < std::min(q0 + width, tiles); ++p)
      for (unsigned q = std::max(p, q0); q < std::min(q0 + width, tiles); ++q)
        tasks.push_back({p, q, 0, steps});
  return tasks;
}

/// Into how many slices to cut the tiles that are left when the others have filled `processors` as
/// often as they can: as many as make the time least, if a slice costs as much as 8 more steps.
unsigned slices_of(unsigned left, unsigned steps, unsigned processors) {
  const auto time = [&](unsigned slices) {
    const unsigned rounds = (left * slices + processors - 1) / processors;
    return rounds * ((steps + slices - 1) / slices + 8);
  };
  unsigned best = 1;
  for (unsigned slices = 2; slices <= steps && left * slices <= 3 * processors; ++slices)
    if (time(slices) < time(best)) best = slices;
  return best;
}

/// The tiles that are computed wholly, then the slices of the others.
struct Plan {
  std::vector<Task> tasks;
  unsigned whole, left, slices;
};

/// Where slice s begins.
unsigned share(unsigned s, unsigned steps, unsigned slices) {
  return std::size_t{s} * steps / slices;
}

Plan make_plan(unsigned cols, unsigned steps, unsigned processors) {
  std::vector<Task> tasks = tiles_of(cols, steps);
  const unsigned count = tasks.size(), left = count % processors;
  const unsigned slices = slices_of(left, steps, processors);
  if (left == 0 || slices == 1) return {tasks, count, 0, 1};
  const std::vector<Task> cut(tasks.end() - left, tasks.end());
  tasks.resize(count - left);
  for (unsigned s = 0; s < slices; ++s)
    for (const auto& [p, q, first, last] : cut)
      tasks.push_back({p, q, share(s, steps, slices), share(s + 1, steps, slices)});
  return {tasks, count - left, left, slices};
}
// [plan]

// [multiply_f64]
/// What stage 09 keeps on the device beside A and C.
struct OnUnits {
  explicit OnUnits(const Problem& problem)
      : plan(make_plan(problem.cols, padded_rows(problem) / depth, staircase::processors())),
        tasks(plan.tasks.size()),
        parts(std::max(1u, plan.left * plan.slices), held, threads) {
    tasks.copy_from(plan.tasks.data());
  }

  Plan plan;
  DeviceArray<Task, 1> tasks;
  DeviceArray<double, 3> parts;
};

/// C = AᵀA as stage 09 computes it.
void multiply_f64(const OnUnits& units, View<const double, 2> a, View<double, 2> c) {
  const auto& [plan, tasks, parts] = units;
  const unsigned whole = plan.whole, slices = plan.slices;
  staircase::allow_shared_memory(multiply, sizeof(Shared));
  multiply<<<plan.tasks.size(), threads, sizeof(Shared)>>>(a, tasks, whole, parts, c);
  check_launch();
  if (plan.left > 0) {
    add_up<<<plan.left, threads, sizeof(Shared::c)>>>(tasks, whole, slices, parts, c);
    check_launch();
  }
}
// [multiply_f64]

// [moduli]
using Wide = unsigned __int128;

/// The largest 15 numbers up to 256 of which no two have a common factor.
constexpr unsigned moduli[] = {256, 255, 253, 251, 247, 241, 239, 233,
                               229, 227, 223, 217, 211, 199, 197};
constexpr unsigned residues = std::size(moduli);

constexpr Wide product_of_moduli() {
  Wide product = 1;
  for (const unsigned p : moduli) product *= p;
  return product;
}
constexpr Wide whole = product_of_moduli();  // nearly 2¹¹⁸

/// What the kernels need to know of a modulus p.
struct Modulus {
  std::int32_t p;
  unsigned quotient;  // ⌊2³² / p⌋
  unsigned bias;      // a multiple of p, at least 2³¹
  double reciprocal;  // 1 / p
  double share;       // weight / whole
  Wide weight;        // 1 modulo p, 0 modulo all others, less than whole
};
struct Moduli {
  Modulus of[residues];
};

constexpr Moduli make_moduli() {
  Moduli table{};
  for (unsigned t = 0; t < residues; ++t) {
    const std::int32_t p = moduli[t];
    const unsigned quotient = (std::uint64_t{1} << 32) / p;
    const unsigned bias = (0x8000'0000u + p - 1) / p * p;
    const Wide others = whole / p;
    unsigned inverse = 1;  // of `others` modulo p
    while (others % p * inverse % p != 1) ++inverse;
    table.of[t] = {p, quotient, bias, 1.0 / p, 1.0 * inverse / p, others * inverse};
  }
  return table;
}
__constant__ constexpr Moduli table = make_moduli();
// [moduli]

// [scale_columns]
constexpr unsigned columns_at_once = 32, rows_at_once = 16;

/// Combines what the threads of a column have found, always in the same order.
template <typename Combine>
__device__ double combine(double mine, double (&shared)[rows_at_once][columns_at_once],
                          Combine combination) {
  shared[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  double all = shared[0][threadIdx.x];
  for (unsigned y = 1; y < rows_at_once; ++y) all = combination(all, shared[y][threadIdx.x]);
  __syncthreads();
  return all;
}

/// The largest square of a column's norm for which every element of C is less than whole / 2, with
/// room for rounding.
constexpr double largest_square = double(whole) / 2 * (1 - 0x1p-19);

/// Finds for each column the power of two that its numbers are multiplied by, the largest that its
/// norm allows; 0 for a column of zeros.
__global__ void scale_columns(View<const double, 2> a, View<int, 1> exponents,
                              View<unsigned, 1> large) {
  __shared__ double shared[rows_at_once][columns_at_once];
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned i = blockIdx.x * columns_at_once + threadIdx.x;
  double largest = 0;
  for (unsigned k = threadIdx.y; k < rows && i < cols; k += rows_at_once)
    largest = fmax(largest, fabs(a(k, i)));
  largest = combine(largest, shared, [](double x, double y) { return fmax(x, y); });

  // Squares of numbers below 2 neither overflow nor vanish if they matter.
  const int exponent = largest > 0 ? ilogb(largest) : 0;
  double square = 0;
  for (unsigned k = threadIdx.y; k < rows && i < cols; k += rows_at_once) {
    const double x = ldexp(a(k, i), -exponent);
    square += x * x;
  }
  square = combine(square, shared, [](double x, double y) { return x + y; });
  if (threadIdx.y > 0 || i >= cols) return;
  large(i) = largest > 0 ? 0 : rows;  // nothing is lost by rounding zeros
  const int room = largest > 0 ? ilogb(largest_square / square) : 0;  // in powers of 2, of squares
  exponents(i) = (room >= 0 ? room : room - 1) / 2 - exponent;
}
// [scale_columns]

// [take_apart]
constexpr unsigned row_bytes = 128;                // of a tile of residues: rows of A
constexpr unsigned tile_bytes = tile * row_bytes;  // of 128 columns of A
constexpr unsigned at_once = 32;                   // rows of A of a thread

/// What the columns tell of the error that rounding A causes.
struct Statistics {
  View<unsigned, 1> large;  // of each column, how many numbers are large; all of a column of zeros
  View<unsigned, 1> rounded;  // whether any number of A was rounded
};

/// x modulo p, from -128 to 127.
__device__ int residue_of(double x, const Modulus& modulus) {
  const double p = modulus.p;
  const int r = fma(-rint(x * modulus.reciprocal), p, x);
  return r > 127 ? r - modulus.p : r < -128 ? r + modulus.p : r;
}

/// Rounds 128 columns of 128 rows of A, scaled, to whole numbers and writes their residues as
/// tiles: (residue, 128 columns, 128 rows, byte), for each column its rows, as wgmma wants them.
__global__ void __launch_bounds__(threads)
    take_apart(View<const double, 2> a, View<const int, 1> exponents, double large,
               Statistics statistics, View<std::int8_t, 4> tiles) {
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned column = threadIdx.x % tile, i = blockIdx.y * tile + column;
  const int exponent = i < cols ? exponents(i) : 0;
  unsigned count = 0;
  bool rounded = false;
  for (unsigned k0 = threadIdx.x / tile * at_once; k0 < row_bytes; k0 += threads / tile * at_once) {
    double x[at_once];
#pragma unroll
    for (unsigned m = 0; m < at_once; ++m) {
      const unsigned k = blockIdx.x * row_bytes + k0 + m;
      const double exact = k < rows && i < cols ? ldexp(a(k, i), exponent) : 0;
      x[m] = rint(exact);
      rounded = rounded || x[m] != exact;
      count += fabs(x[m]) >= large ? 1 : 0;
    }
    for (unsigned t = 0; t < residues; ++t) {
      unsigned words[at_once / 4] = {};
#pragma unroll
      for (unsigned m = 0; m < at_once; ++m)
        words[m / 4] |= (residue_of(x[m], table.of[t]) & 0xFFu) << m % 4 * 8;
      std::int8_t* to = &tiles(t, blockIdx.y, blockIdx.x, 0);
#pragma unroll
      for (unsigned m = 0; m < at_once; m += 16)
        reinterpret_cast<uint4&>(to[staircase::place_in_rows(column, k0 + m)]) =
            make_uint4(words[m / 4], words[m / 4 + 1], words[m / 4 + 2], words[m / 4 + 3]);
    }
  }
  if (i < cols) atomicAdd(&statistics.large(i), count);
  if (rounded) statistics.rounded(0) = 1;
}
// [take_apart]

// [multiply_residues]
/// A tile of C: 128 rows from 128 p on, 256 columns from 256 q on.
struct Product256 {
  unsigned p, q;
};
constexpr unsigned multipliers = 256;  // threads of two warpgroups; another warp starts the copies
constexpr unsigned words = 32;         // of four numbers each that a thread holds of a tile
constexpr unsigned stages = 4;

struct Operands {
  std::int8_t i[tile_bytes], j[2 * tile_bytes];
};
struct Pipeline {
  Operands operands[stages];
  staircase::TransferBarrier full[stages], empty[stages];
};

/// Copies the operands of a tile into the pipeline, 128 rows of A at a time.
__device__ void feed(Pipeline& pipeline, View<const std::int8_t, 3> tiles, Product256 at) {
  for (unsigned k = 0; k < tiles.extent(1); ++k) {
    Operands& to = pipeline.operands[k % stages];
    auto& full = pipeline.full[k % stages];
    pipeline.empty[k % stages].wait((k / stages + 1) % 2);
    full.arrive_and_expect(sizeof(Operands));
    staircase::bulk_copy(to.i, &tiles(at.p, k, 0), tile_bytes, full);
    staircase::bulk_copy(to.j, &tiles(2 * at.q, k, 0), tile_bytes, full);
    staircase::bulk_copy(to.j + tile_bytes, &tiles(2 * at.q + 1, k, 0), tile_bytes, full);
  }
}

/// Adds up the products of 64 rows of a tile.
__device__ void drain(Pipeline& pipeline, unsigned steps, std::int32_t (&sum)[4 * words]) {
  const unsigned warpgroup = threadIdx.x / 128;
  for (unsigned k = 0; k < steps; ++k) {
    const Operands& from = pipeline.operands[k % stages];
    pipeline.full[k % stages].wait(k / stages % 2);
    staircase::wgmma_begin();
#pragma unroll
    for (unsigned k0 = 0; k0 < row_bytes; k0 += 32)
      staircase::wgmma_s8_m64n256k32(sum, from.i + warpgroup * tile_bytes / 2, from.j, k0);
    staircase::wgmma_commit();
    staircase::wgmma_wait<1>();
    if (k > 0 && threadIdx.x % 32 == 0) pipeline.empty[(k - 1) % stages].arrive();
  }
  staircase::wgmma_wait<0>();
}

/// x modulo p, from 0 to p - 1.
__device__ unsigned residue_of(std::int32_t x, const Modulus& modulus) {
  const unsigned p = modulus.p, y = x + modulus.bias;
  const unsigned r = y - __umulhi(y, modulus.quotient) * p;  // from 0 to 2 p - 1
  return min(r, r - p);
}

/// Each block computes a tile of C modulo one of the moduli: (residue, tile, word, thread).
__global__ void __launch_bounds__(multipliers + 32, 1)
    multiply_residues(View<const std::int8_t, 4> tiles, View<const Product256, 1> products,
                      View<unsigned, 4> sums) {
  extern __shared__ __align__(1024) unsigned char of_rows[];
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(of_rows);
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < stages; ++s) {
      pipeline.full[s].init(1);
      pipeline.empty[s].init(multipliers / 32);
    }
    staircase::fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x >= multipliers) {
    if (threadIdx.x == multipliers) feed(pipeline, tiles.row(blockIdx.y), products(blockIdx.x));
    return;
  }
  std::int32_t sum[4 * words] = {};
  drain(pipeline, tiles.extent(2), sum);
#pragma unroll
  for (unsigned w = 0; w < words; ++w) {
    unsigned word = 0;
#pragma unroll
    for (unsigned e = 0; e < 4; ++e)
      word |= residue_of(sum[4 * w + e], table.of[blockIdx.y]) << 8 * e;
    sums(blockIdx.y, blockIdx.x, w, threadIdx.x) = word;
  }
}
// [multiply_residues]

// [put_together]
/// The FP64 number nearest to a whole one.
__device__ double rounded(Wide x) {
  const bool negative = x >> 127 != 0;
  if (negative) x = -x;
  if (x == 0) return 0;
  const std::int64_t high = x >> 64, low = x;
  const int zeros = high != 0 ? __clzll(high) : 64 + __clzll(low);
  x <<= zeros;
  // The first 64 digits, the last of them set if any behind it is: enough to round once.
  const std::uint64_t front = x >> 64, behind = x;
  const double first = front | (behind != 0);
  const double magnitude = ldexp(first, 64 - zeros);
  return negative ? -magnitude : magnitude;
}

/// The element of C whose residues are byte e of these words.
__device__ double element_of(const unsigned (&word)[residues], unsigned e) {
  Wide sum = 0;      // modulo 2¹²⁸
  double share = 0;  // sum / whole
#pragma unroll
  for (unsigned t = 0; t < residues; ++t) {
    const unsigned residue = word[t] >> 8 * e & 0xFF;
    sum += table.of[t].weight * residue;
    share += table.of[t].share * residue;
  }
  return rounded(sum - Wide(rint(share)) * whole);
}

constexpr unsigned columns_written = 32;  // of C at a time

/// Puts a tile of C together and writes it and its mirror image; threads meet in shared memory and
/// change places.
__global__ void __launch_bounds__(multipliers)
    put_together(View<const unsigned, 4> sums, View<const Product256, 1> products,
                 View<const int, 1> exponents, View<double, 2> c) {
  __shared__ double shared[tile][columns_written + 1];
  const unsigned cols = c.extent(1), i0 = products(blockIdx.x).p * tile;
  for (unsigned w0 = 0; w0 < words; w0 += columns_written / 8) {
    const unsigned j0 = products(blockIdx.x).q * 256 + 8 * w0;
    if (j0 >= cols || i0 >= j0 + columns_written) continue;
    for (unsigned w = w0; w < w0 + columns_written / 8; ++w) {
      unsigned word[residues];
#pragma unroll
      for (unsigned t = 0; t < residues; ++t) word[t] = sums(t, blockIdx.x, w, threadIdx.x);
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) {
        auto [row, column] = staircase::place_in_warpgroup(threadIdx.x % 128, 4 * w + e);
        row += threadIdx.x / 128 * 64;
        column -= 8 * w0;
        const unsigned i = i0 + row, j = j0 + column;
        shared[row][column] =
            i <= j && j < cols ? ldexp(element_of(word, e), -exponents(i) - exponents(j)) : 0;
      }
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < tile * columns_written; e += multipliers) {
      const unsigned i = i0 + e / columns_written, j = j0 + e % columns_written;
      if (i <= j && j < cols) c(i, j) = shared[e / columns_written][e % columns_written];
    }
    for (unsigned e = threadIdx.x; e < tile * columns_written; e += multipliers) {
      const unsigned i = i0 + e % tile, j = j0 + e / tile;
      if (i < j && j < cols) c(j, i) = shared[e % tile][e / tile];
    }
    __syncthreads();
  }
}
// [put_together]

// [suits]
/// Whether sums of products of residues fit 32 bits.
inline bool fits(std::int64_t rows) { return rows < 131072; }

/// From which magnitude on a scaled number counts as large. If three quarters of the numbers of
/// each of two columns do, then at least half of the rows have two large ones, and (|A|ᵀ|A|)(i, j)
/// >= rows / 2 large². The norms of columns, of r √rows at most, bound what rounding adds up to by
/// rows (r + 1/4). With this threshold, that is no more than (rows - 1) 2⁻⁵³ (|A|ᵀ|A|)(i, j);
/// rounding C adds one 2⁻⁵³ more.
double large_from(std::int64_t rows) {
  const double r = std::sqrt(largest_square / rows);
  return std::sqrt(0x1p54 * (r + 0.25) / (rows - 1)) + 1;
}

/// The tiles of 128 × 256 that are not wholly below the diagonal, in strips of 6 columns, row by
/// row.
std::vector<Product256> products_of(unsigned cols) {
  const unsigned p_tiles = (cols + 127) / 128, q_tiles = (cols + 255) / 256, width = 6;
  std::vector<Product256> products;
  for (unsigned q0 = 0; q0 < q_tiles; q0 += width)
    for (unsigned p = 0; p < std::min(2 * (q0 + width), p_tiles); ++p)
      for (unsigned q = std::max(p / 2, q0); q < std::min(q0 + width, q_tiles); ++q)
        products.push_back({p, q});
  return products;
}
// [suits]

// [emulation]
/// What the emulation keeps on the device beside A and C.
struct Emulation {
  explicit Emulation(const Problem& problem)
      : rows(problem.rows),
        host_products(products_of(problem.cols)),
        products(host_products.size()),
        exponents(padded_cols(problem)),
        large(padded_cols(problem)),
        rounded(1),
        tiles(residues, (problem.cols + 255) / 256 * 2, (problem.rows + 127) / 128, tile_bytes),
        sums(residues, host_products.size(), words, multipliers) {
    products.copy_from(host_products.data());
  }

  std::int64_t rows;  // without those of zeros
  std::vector<Product256> host_products;
  DeviceArray<Product256, 1> products;
  DeviceArray<int, 1> exponents;
  DeviceArray<unsigned, 1> large, rounded;
  DeviceArray<std::int8_t, 4> tiles;
  DeviceArray<unsigned, 4> sums;
};

/// Whether the error of rounding A keeps the bound.
bool suits(const Emulation& e) {
  unsigned rounded = 0;
  e.rounded.copy_to(&rounded);
  if (rounded == 0) return true;
  std::vector<unsigned> large(e.large.extent(0));
  e.large.copy_to(large.data());
  return std::all_of(large.begin(), large.end(),
                     [&](unsigned count) { return 4 * std::int64_t{count} >= 3 * e.rows; });
}

/// C = AᵀA from residues; false, and nothing done to C, if A does not suit it.
bool multiply_emulated(const Emulation& e, View<const double, 2> a, View<double, 2> c) {
  const unsigned count = e.host_products.size();
  const auto& exponents = e.exponents;
  const Statistics statistics{e.large, e.rounded};
  const auto& tiles = e.tiles;
  const auto& products = e.products;
  const auto& sums = e.sums;
  check(cudaMemset(statistics.rounded.data(), 0, sizeof(unsigned)));
  const unsigned groups = (a.extent(1) + columns_at_once - 1) / columns_at_once;
  scale_columns<<<groups, dim3(columns_at_once, rows_at_once)>>>(a, exponents, statistics.large);
  check_launch();
  const dim3 grid(tiles.extent(2), tiles.extent(1));
  take_apart<<<grid, threads>>>(a, exponents, large_from(e.rows), statistics, tiles);
  check_launch();
  if (!suits(e)) return false;
  staircase::allow_shared_memory(multiply_residues, sizeof(Pipeline));
  multiply_residues<<<dim3(count, residues), multipliers + 32, sizeof(Pipeline)>>>(tiles, products,
                                                                                   sums);
  check_launch();
  put_together<<<count, multipliers>>>(sums, products, exponents, c);
  check_launch();
  return true;
}
// [emulation]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared));
  DeviceArray<double, 2> a(padded_rows(problem), padded_cols(problem));
  DeviceArray<double, 2> c(problem.cols, problem.cols);
  const OnUnits units(problem);
  std::optional<Emulation> emulation;
  if (!fits(problem.rows))
    timeline.remark("not emulated: sums of 131072 products of residues or more exceed 32 bits");
  else if (!staircase::has_wgmma())
    timeline.remark(
        "not emulated: that needs the tensor cores of compute capability 9.0, and gpu_arch 90a");
  else
    emulation.emplace(problem);
  Product product(problem.cols, problem.cols);

  timeline.begin("copy in");
  a.copy_padded(problem.matrix());

  timeline.begin("kernels");
  const bool emulated = emulation && multiply_emulated(*emulation, a, c);
  if (emulation && !emulated)
    timeline.remark("not emulated: too many numbers of a column are small beside its others");
  if (!emulated) multiply_f64(units, a, c);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(
      argc, argv,
      {
          .title = "Emulated",
          .idea = "FP64 from products of bytes",
          .needs = "FP64 tensor cores of compute capability 9.0",
          .note = "multiplies in FP64 where rows are too many or columns unsuitable",
          .solve_f64 = ata::solve,
      });
}
