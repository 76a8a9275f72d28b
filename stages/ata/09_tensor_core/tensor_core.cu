/// \file
/// Stage 09, tensor core: warps multiply 16 × 16 by 16 × 8 numbers in one instruction.
///
/// Changed: a warp computes 64 × 32 elements of C by `mma`, its operands in the lanes' registers as
///          the instruction wants them; pairs of numbers lie swizzled in shared memory, so that
///          these loads meet all banks. Tiles come in an order that shares them in the second-level
///          cache, and the last ones, too few for all multiprocessors, are cut along the rows of A
///          and added up by a second kernel.
/// Legal:   sums are in another order, but in the same one every time. Only elements on and above
///          the diagonal are used, each written twice, so that C is exactly symmetric.
/// Expect:  twice the rate of the plain FP64 units.
/// Run:     ./climb ata --stages 08,09
/// Next:    10_emulated has no use for FP64 units.

#include "../ata.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/mma.hpp>
#include <staircase/stage.hpp>
#include <vector>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

/// The numbers that the kernels read and write, each once.
inline double traffic(const Problem& problem) { return size_of_a(problem) + size_of_c(problem); }

// [sizes]
constexpr unsigned tile = 128;                // rows and columns of C of a block
constexpr unsigned depth = 32;                // rows of A in shared memory at a time
constexpr unsigned warps_i = 2, warps_j = 4;  // warps of a block along the rows and columns of C
constexpr unsigned threads = 32 * warps_i * warps_j;
constexpr unsigned held_i = tile / warps_i / 16;  // products of 16 × 8 elements that a warp holds,
constexpr unsigned held_j = tile / warps_j / 8;   // along the rows and the columns of C
constexpr unsigned strip = 16 * warps_i;          // rows of C that are written at a time
constexpr unsigned buffers = 3;                   // pairs of tiles in shared memory

using Sums = double[held_i][held_j][4];  // what a lane holds of its warp's part of C
constexpr unsigned held = held_i * held_j * 4;
// [sizes]

/// The numbers that solve() keeps in the memory of the device.
inline double reals(const Problem& problem) {
  const double parts = 3.0 * tile * tile * staircase::processors();
  return size_of_a(problem) + size_of_c(problem) + parts;
}

// [load]
/// Starts the copy of element (k, i) of a matrix, or of zero beyond its last row or column.
__device__ void load(View<const double, 2> a, unsigned k, unsigned i, double& to) {
  const bool inside = k < a.extent(0) && i < a.extent(1);
  const double* from = &a(inside ? k : 0, inside ? i : 0);
  __pipeline_memcpy_async(&to, from, sizeof(double), inside ? 0 : sizeof(double));
}
// [load]

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

  /// Two neighbouring rows (columns) of the tile belong to rows (columns) `group` of two halves of
  /// a product: so a thread loads them at once.
  __device__ unsigned row(unsigned m) const { return m * strip + i * 16 + 2 * group; }
  __device__ unsigned column(unsigned n) const { return (j * held_j + n / 2 * 2) * 8 + 2 * group; }
};
// [lane]

// [shared]
/// 32 rows of the columns of A that make a tile of C: those of its rows i, those of its columns j.
struct Tiles {
  double i[depth][tile], j[depth][tile];
};

/// What a block keeps in shared memory: tiles of A, and at the end a strip of C.
union Shared {
  Tiles a[buffers];
  double c[strip][tile + 1];
};

/// Where element (k, m) of a tile lies in its row. Eight lanes load 16 bytes each at a time, from
/// two places in four rows: shifted by 32 bytes a row, they meet all banks.
__device__ unsigned swizzled(unsigned k, unsigned m) { return m ^ 4 * (k % 4); }

/// Elements (k, m) and (k, m + 1) of a tile, for even m.
__device__ double2 pair(const double (&a)[depth][tile], unsigned k, unsigned m) {
  return reinterpret_cast<const double2&>(a[k][swizzled(k, m)]);
}
// [shared]

// [multiply_tiles]
/// sum += a.iᵀ a.j for the warp's part of the tile, 16 rows of A at a time.
__device__ void multiply_tiles(const Tiles& a, Lane lane, Sums& sum) {
#pragma unroll
  for (unsigned k0 = 0; k0 < depth; k0 += 16) {
    double y[held_j][4];
#pragma unroll
    for (unsigned n = 0; n < held_j; n += 2)
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) {
        const double2 both = pair(a.j, k0 + 4 * r + lane.member, lane.column(n));
        y[n][r] = both.x;
        y[n + 1][r] = both.y;
      }
#pragma unroll
    for (unsigned m = 0; m < held_i; ++m) {
      double x[8];
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) {
        const double2 both = pair(a.i, k0 + 4 * r + lane.member, lane.row(m));
        x[2 * r] = both.x;
        x[2 * r + 1] = both.y;
      }
#pragma unroll
      for (unsigned n = 0; n < held_j; ++n) staircase::mma_f64_m16n8k16(sum[m][n], x, y[n]);
    }
  }
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
        shared.c[lane.i * 16 + 2 * lane.group + e / 2]
                [(lane.j * held_j + n / 2 * 2) * 8 + 4 * lane.member + 2 * (e % 2) + n % 2] =
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
/// Starts to load the tiles of A from its row k0 on.
__device__ void load_tiles(View<const double, 2> a, unsigned k0, Task at, Tiles& tiles) {
  const unsigned m = threadIdx.x % tile;
#pragma unroll
  for (unsigned r = 0; r < depth; r += threads / tile) {
    const unsigned k = r + threadIdx.x / tile;
    load(a, k0 + k, at.p * tile + m, tiles.i[k][swizzled(k, m)]);
    load(a, k0 + k, at.q * tile + m, tiles.j[k][swizzled(k, m)]);
  }
  __pipeline_commit();
}
// [load_tiles]

// [multiply]
/// Each block computes a tile of C = AᵀA, the first ones wholly. The others leave their sums in
/// `parts`: (part, number that a thread holds, thread).
__global__ void __launch_bounds__(threads)
    multiply(View<const double, 2> a, View<const Task, 1> tasks, unsigned whole,
             View<double, 3> parts, View<double, 2> c) {
  extern __shared__ double memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const Task task = tasks(blockIdx.x);
  const Lane lane;
  const bool inside = task.p * tile + lane.i * 16 < a.extent(1) &&
                      task.q * tile + lane.j * held_j * 8 < a.extent(1);
  Sums sum = {};
  for (unsigned s = 0; s + 1 < buffers; ++s)
    load_tiles(a, (task.first + s) * depth, task, shared.a[s]);
  for (unsigned s = 0; s < task.last - task.first; ++s) {
    __pipeline_wait_prior(buffers - 2);
    __syncthreads();
    const unsigned next = s + buffers - 1;
    load_tiles(a, (task.first + next) * depth, task, shared.a[next % buffers]);
    if (inside) multiply_tiles(shared.a[s % buffers], lane, sum);
  }
  __pipeline_wait_prior(0);
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
  extern __shared__ double memory[];
  Sums sum = {};
  for (unsigned s = 0; s < slices; ++s)
#pragma unroll
    for (unsigned h = 0; h < held; ++h)
      sum[h / (held_j * 4)][h / 4 % held_j][h % 4] +=
          parts(s * gridDim.x + blockIdx.x, h, threadIdx.x);
  write(sum, tasks(whole + blockIdx.x), Lane(), *reinterpret_cast<Shared*>(memory), c);
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
/// often as they can: as many as make the time least, if a slice costs as much as 4 more steps.
unsigned slices_of(unsigned left, unsigned steps, unsigned processors) {
  const auto time = [&](unsigned slices) {
    const unsigned rounds = (left * slices + processors - 1) / processors;
    return rounds * ((steps + slices - 1) / slices + 4);
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
  return static_cast<unsigned>(std::size_t{s} * steps / slices);
}

Plan make_plan(unsigned cols, unsigned steps, unsigned processors) {
  std::vector<Task> tasks = tiles_of(cols, steps);
  const auto count = static_cast<unsigned>(tasks.size()), left = count % processors;
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

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 16");
  const auto cols = static_cast<unsigned>(problem.cols);
  const auto steps = static_cast<unsigned>((problem.rows + depth - 1) / depth);
  const Plan plan = make_plan(cols, steps, staircase::processors());
  DeviceArray<double, 2> a(problem.rows, cols), c(cols, cols);
  DeviceArray<Task, 1> tasks(plan.tasks.size());
  DeviceArray<double, 3> parts(std::max(1u, plan.left * plan.slices), held, threads);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.a.data());
  tasks.copy_from(plan.tasks.data());

  timeline.begin("kernels");
  check(
      cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  multiply<<<plan.tasks.size(), threads, sizeof(Shared)>>>(a.view(), tasks.view(), plan.whole,
                                                           parts.view(), c.view());
  check_launch();
  if (plan.left > 0) {
    add_up<<<plan.left, threads, sizeof(Shared::c)>>>(tasks.view(), plan.whole, plan.slices,
                                                      parts.view(), c.view());
    check_launch();
  }
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return staircase::run_stage(argc, argv, ata::workload,
                              {.title = "Tensor core",
                               .idea = "Multiply on the FP64 tensor cores",
                               .needs = {"FP64 tensor cores of compute capability 9.0"},
                               .reals = ata::reals,
                               .traffic = ata::traffic,
                               .solve_f64 = ata::solve});
}
