/// \file
/// From:    08_tensor_cores
/// Changed: one launch for all. A block of threads has a tile of 128 × 128 numbers from the
///          beginning to the end, in registers: it takes off the products of all columns before,
///          as these are told, then divides by the block on the diagonal, and writes once. Tiles
///          are drawn column by column, from the diagonal down.
/// Legal:   a tile needs tiles to its left and those of the row that its column begins with; all
///          of them were drawn before it, so that the first one that is not done never waits for
///          long. A flag is raised behind what it tells of.
/// Expect:  a chain with a link for 128 columns; where that is short, the rate of tensor cores.
/// Run:     ./climb cholesky --stages 08,10

#include "../cholesky.hpp"

#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <staircase/mma.hpp>

namespace cholesky {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

// [sizes]
constexpr unsigned tile = 128;             // rows and columns that a block of threads has
constexpr unsigned depth = 16;             // columns in shared memory at a time, and rows of a warp
constexpr unsigned slices = tile / depth;  // of a tile
constexpr unsigned warps = tile / depth, threads = 32 * warps;
constexpr unsigned buffers = 4;  // pairs of slices in shared memory
constexpr unsigned all_lanes = 0xFFFFFFFF;

using Sums = double[tile / 8][4];  // what a lane holds of its warp's 16 rows: products of 16 × 8
// [sizes]

// [shared]
/// 16 columns of a tile, or as many rows and columns on its diagonal. Rows begin in the first and
/// the second half of the banks in turn: eight lanes, which load four pairs of two rows, meet all.
using Row = double[depth + 8];
using Slice = Row[tile];
using Square = Row[depth];

/// What a block keeps in shared memory: slices of the tiles' rows i and j, and in the end, on the
/// diagonal, the columns that are divided.
struct Slices {
  Slice i, j;
};
struct Diagonal {
  Slice panel;
  Square square, inverse;
};
union Shared {
  Slices slices[buffers];
  Diagonal diagonal;
};

/// Where a tile lies.
struct Tile {
  unsigned i, j;
};
// [shared]

// [lane]
/// Two neighbours, which a lane loads and stores at once; it takes columns 2m and 2m + 1 of eight
/// for what mma.hpp calls m and m + 4. So what it holds of sums is what it needs of factors.
__device__ double2& pair(double& first) { return reinterpret_cast<double2&>(first); }
__device__ double2 pair(const double& first) { return reinterpret_cast<const double2&>(first); }

struct Lane {
  unsigned warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4;
  unsigned first = threadIdx.x % 4 * 2;  // column of eight

  /// Numbers of 16 rows and 8 columns: a factor on the left.
  __device__ void load_left(const Row* from, unsigned k, double (&x)[4]) const {
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const double2 numbers = pair(from[group + 8 * h][k + first]);
      x[h] = numbers.x, x[2 + h] = numbers.y;
    }
  }

  /// Numbers of 8 rows and 8 columns: a factor on the right, transposed.
  __device__ void load_right(const Row* from, unsigned k, double (&y)[2]) const {
    const double2 numbers = pair(from[group][k + first]);
    y[0] = numbers.x, y[1] = numbers.y;
  }
};

/// Sums as a factor on the left.
__device__ void use(const double (&sums)[4], double (&x)[4]) {
  x[0] = sums[0], x[1] = sums[2], x[2] = sums[1], x[3] = sums[3];
}
// [lane]

// [flags]
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Whether the tiles of column k are there that a tile needs: those of the rows i and j.
__device__ bool are_told(View<unsigned, 2> told, Tile at, unsigned k) {
  const unsigned row = threadIdx.x == 0 && k < at.j ? at.i : at.j;
  const bool is_told = threadIdx.x > 1 || Flag(told(row, k)).load(cuda::memory_order_acquire);
  return __syncthreads_and(is_told);
}

/// Tells of a tile, when all threads have written their part.
__device__ void tell(View<unsigned, 2> told, Tile at) {
  __syncthreads();
  if (threadIdx.x == 0) Flag(told(at.i, at.j)).store(1, cuda::memory_order_release);
}
// [flags]

// [load]
/// Starts to copy slice s of rows i and j of tiles; where these meet the diagonal, in rows j, the
/// inverse that belongs to it in place of that of rows i.
__device__ void load(View<double, 2> l, View<double, 3> inverses, Tile at, unsigned s,
                     Shared& shared) {
  auto& [rows_i, rows_j] = shared.slices[s % buffers];
  for (unsigned e = threadIdx.x; e < tile * depth / 2; e += threads) {
    const unsigned row = e / (depth / 2), column = e % (depth / 2) * 2;
    __pipeline_memcpy_async(&rows_j[row][column], &l(at.j * tile + row, s * depth + column), 16);
    if (s < at.j * slices)
      __pipeline_memcpy_async(&rows_i[row][column], &l(at.i * tile + row, s * depth + column), 16);
    else if (row < depth)
      __pipeline_memcpy_async(&rows_i[row][column], &inverses(s, row, column), 16);
  }
  __pipeline_commit();
}

/// Waits for slice s. Starts to copy those behind it, as far as there is room and tiles are told.
struct Pipeline {
  View<double, 2> l;
  View<double, 3> inverses;
  View<unsigned, 2> told;
  Tile at;
  unsigned end;         // slices in all
  unsigned loaded = 0;  // those that have been asked for

  __device__ const Slices& operator()(unsigned s, Shared& shared) {
    load_until(s, s + 1, shared);
    if (loaded == s + buffers - 1)
      __pipeline_wait_prior(buffers - 2);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    load_until(s, s + buffers, shared);
    return shared.slices[s % buffers];
  }

  /// Waits for tiles of a slice that is needed now, but not for those of later ones.
  __device__ void load_until(unsigned s, unsigned until, Shared& shared) {
    while (loaded < min(until, end)) {
      if (loaded % slices == 0)
        while (!are_told(told, at, loaded / slices))
          if (loaded > s) return;
      load(l, inverses, at, loaded++, shared);
    }
  }
};
// [load]

// [divide]
/// sum += x yᵀ, for 16 rows of x and all rows of y.
__device__ void multiply(const Row* x, const Row* y, Lane lane, Sums& sum) {
#pragma unroll
  for (unsigned k = 0; k < depth; k += 8) {
    double left[4], right[2];
    lane.load_left(x, k, left);
#pragma unroll
    for (unsigned n = 0; n < tile / 8; ++n) {
      lane.load_right(y + n * 8, k, right);
      staircase::mma_f64_m16n8k8(sum[n], left, right);
    }
  }
}

/// Makes of the first 16 columns, which are complete, columns of L.
__device__ void divide(const Row* inverse, Lane lane, Sums& sum) {
  double quotients[2][4] = {}, left[4], right[2];
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    use(sum[k], left);
#pragma unroll
    for (unsigned n = 0; n < 2; ++n) {
      lane.load_right(inverse + n * 8, k * 8, right);
      staircase::mma_f64_m16n8k8(quotients[n], left, right);
    }
  }
#pragma unroll
  for (unsigned e = 0; e < 8; ++e) sum[e / 4][e % 4] = quotients[e / 4][e % 4];
}

/// Takes their products off the columns behind, which move up.
__device__ void take_off(const Row* y, unsigned p, Lane lane, Sums& sum) {
  double left[2][4], right[2];
  use(sum[0], left[0]);
  use(sum[1], left[1]);
#pragma unroll
  for (unsigned n = 2; n < tile / 8; ++n) {
    if (n + 2 * p < tile / 8)
#pragma unroll
      for (unsigned k = 0; k < 2; ++k) {
        lane.load_right(y + (2 * p + n) * 8, k * 8, right);
        staircase::mma_f64_m16n8k8(sum[n], left[k], right);
      }
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) sum[n - 2][e] = sum[n][e];
  }
}
// [divide]

// [factorise]
/// Factorises minus 16 × 16 numbers, and inverts minus their factor, by a warp: half of its lanes
/// have a row each of what becomes L, half of them a row of what becomes L⁻¹. Both halves take
/// multiples of the same rows off.
__device__ void factorise(Row* square, Row* inverse) {
  const unsigned row = threadIdx.x % depth;
  const bool of_l = threadIdx.x % 32 < depth;
  double own[depth];
#pragma unroll
  for (unsigned c = 0; c < depth; ++c) own[c] = of_l ? -square[row][c] : c == row;
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
    const double pivot = __shfl_sync(all_lanes, own[k], k), reciprocal = rsqrt(pivot);
    const double factor = __shfl_sync(all_lanes, own[k] * reciprocal, row);
    if (of_l) own[k] = row == k ? sqrt(pivot) : factor;
#pragma unroll
    for (unsigned c = 0; c < depth; ++c) {
      if (!of_l && row == k && c <= k) own[c] *= reciprocal;
      const double other = __shfl_sync(all_lanes, c > k ? factor : own[c], c > k ? c : depth + k);
      if (row > k && of_l == (c > k)) own[c] -= factor * other;
    }
  }
  for (unsigned c = 0; c < depth; ++c)
    (of_l ? square : inverse)[row][c] = c > row ? 0 : of_l ? own[c] : -own[c];
}
// [factorise]

// [store]
/// Loads 16 rows of A.
__device__ void load(Sums& sum, Lane lane, const double* first, std::size_t stride) {
#pragma unroll
  for (unsigned n = 0; n < tile / 8; ++n)
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const double2 numbers = pair(first[(lane.group + 8 * h) * stride + n * 8 + lane.first]);
      sum[n][2 * h] = -numbers.x, sum[n][2 * h + 1] = -numbers.y;
    }
}

/// Stores the first 16 columns of a warp's rows.
__device__ void store(const Sums& sum, Lane lane, double* first, std::size_t stride) {
#pragma unroll
  for (unsigned n = 0; n < 2; ++n)
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const double2 numbers = {sum[n][2 * h], sum[n][2 * h + 1]};
      pair(first[(lane.group + 8 * h) * stride + n * 8 + lane.first]) = numbers;
    }
}
// [store]

// [factorise_diagonal]
/// Copies 16 × 16 numbers, by a warp.
__device__ void copy(const Row* from, double* to, std::size_t stride) {
  for (unsigned e = threadIdx.x % 32; e < depth * depth / 2; e += 32) {
    const unsigned row = e / (depth / 2), column = e % (depth / 2) * 2;
    pair(to[row * stride + column]) = pair(from[row][column]);
  }
}

/// Divides a tile on the diagonal, 16 columns at a time: a warp factorises where its own rows meet
/// them, then those below divide by that.
__device__ void divide_diagonal(View<double, 2> l, View<double, 3> inverses, Tile at, Lane lane,
                                Shared& shared, Sums& sum) {
  auto& [panel, square, inverse] = shared.diagonal;
  for (unsigned p = 0; p < slices; ++p) {
    double& first = l(at.i * tile + lane.warp * depth, at.j * tile + p * depth);
    if (lane.warp == p) {
      store(sum, lane, square[0], depth + 8);
      __syncwarp();
      factorise(square, inverse);
      __syncwarp();
      copy(square, &first, l.extent(1));
      copy(inverse, &inverses(at.j * slices + p, 0, 0), depth);
    }
    __syncthreads();
    if (lane.warp > p) {
      divide(inverse, lane, sum);
      store(sum, lane, panel[lane.warp * depth], depth + 8);
      store(sum, lane, &first, l.extent(1));
    }
    __syncthreads();
    if (lane.warp > p) take_off(panel, p, lane, sum);
  }
}
// [factorise_diagonal]

// [factorise_tile]
/// Column by column of tiles, from the diagonal down.
__device__ Tile tile_of(unsigned number, unsigned tiles) {
  unsigned j = 0;
  for (; number >= tiles - j; ++j) number -= tiles - j;
  return {j + number, j};
}

/// Computes a tile of L: the one of the block's number, which it draws when it starts.
__global__ void __launch_bounds__(threads)
    factorise_tile(View<double, 2> l, View<double, 3> inverses, View<unsigned, 2> told,
                   View<unsigned, 1> started) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(bytes);
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(&started(0), 1);
  __syncthreads();
  const Tile at = tile_of(drawn, told.extent(0));
  const Lane lane;
  const bool is_below = at.i > at.j;
  Pipeline slice{l, inverses, told, at, (at.j + is_below) * slices};
  double* first = &l(at.i * tile + lane.warp * depth, at.j * tile);
  Sums sum;  // of products, less A
  load(sum, lane, first, l.extent(1));
  for (unsigned s = 0; s < at.j * slices; ++s) {
    const auto& [rows_i, rows_j] = slice(s, shared);
    multiply(rows_i + lane.warp * depth, rows_j, lane, sum);
  }
  for (unsigned p = 0; p < is_below * slices; ++p) {
    const auto& [inverse, rows_j] = slice(at.j * slices + p, shared);
    divide(inverse, lane, sum);
    store(sum, lane, first + p * depth, l.extent(1));
    take_off(rows_j, p, lane, sum);
  }
  __syncthreads();
  if (!is_below) divide_diagonal(l, inverses, at, lane, shared, sum);
  tell(told, at);
}
// [factorise_tile]

// [solve]
Solution<double> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared));
  const unsigned tiles = pieces(problem.n, tile), padded = tiles * tile;
  DeviceArray<double, 2> device_l(padded, padded);
  DeviceArray<double, 3> inverses(tiles * slices, depth, depth);
  DeviceArray<unsigned, 2> told(tiles, tiles);
  DeviceArray<unsigned, 1> started(1);
  Solution<double> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<double>());
  told.clear(nullptr);
  started.clear(nullptr);

  timeline.begin("kernels");
  staircase::allow_shared_memory(factorise_tile, sizeof(Shared));
  factorise_tile<<<tiles*(tiles + 1) / 2, threads, sizeof(Shared)>>>(device_l, inverses, told,
                                                                     started);
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
                                 .solve_f64 = cholesky::solve,
                             });
}
