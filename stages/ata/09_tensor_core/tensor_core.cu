/// \file
/// Changed: a warp computes 64 × 32 elements of C with `mma`. It loads the factors into registers
///          in the layout of the instruction, while earlier instructions are in flight. Rows in
///          shared memory are padded so that these loads use all banks. The order of the tiles
///          improves reuse in the L2 cache. The last tiles, too few for all SMs, are split along
///          the rows of A (split-K), and a second kernel adds the partial sums.
/// Legal:   the terms of a sum have another order, which is the same in every run. Only elements on
///          and above the diagonal are used, each stored twice, so C is exactly symmetric.
/// Expect:  the kernel reaches twice the FP64 rate of the CUDA cores.
/// Run:     ./climb ata --stages 08,09
/// Next:    10_emulated computes FP64 products on integer units.

#include "../warps.hpp"

#include <staircase/bulk_copy.hpp>
#include <staircase/mma.hpp>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned depth = 16;   // rows of A in shared memory at a time
constexpr unsigned buffers = 6;  // pairs of tiles in shared memory
constexpr unsigned ahead = 4;    // steps from the start of a copy to its use
// [sizes]

// [shared]
/// 16 rows of the columns of A that a tile of C needs: `i` for its rows, and `j` for its columns.
/// Each row starts 32 bytes further in the banks than the previous one. Half a warp loads four
/// adjacent elements of each of four rows, and thus uses every bank once.
struct Tiles {
  double i[depth][tile + 4], j[depth][tile + 4];
};

/// The shared memory of a block: tiles of A, and after the last step a strip of C.
struct Shared {
  union {
    Tiles a[buffers];
    Staged c;
  };
  staircase::TransferBarrier full[buffers], empty[buffers];
};
// [shared]

// [multiply_tiles]
/// The elements of 8 rows of A that one lane contributes to all `mma` products of its warp.
struct Factors {
  double x[held_i][4], y[held_j][2];
};

/// Loads factors from rows k0 to k0 + 7 of the tiles.
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

/// Computes sum += xᵀ y.
__device__ void multiply_factors(const Factors& factors, Sums& sum) {
#pragma unroll
  for (unsigned m = 0; m < held_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < held_j; ++n)
      staircase::mma_f64_m16n8k8(sum[m][n], factors.x[m], factors.y[n]);
}
// [multiply_tiles]

// [load_tiles]
/// Clears those columns of tiles that lie beyond the last column of A: no copy writes them.
__device__ void clear_beyond(unsigned cols, Task at, Shared& shared) {
  for (unsigned e = threadIdx.x; e < buffers * depth * tile; e += threads) {
    Tiles& tiles = shared.a[e / tile / depth];
    const unsigned k = e / tile % depth, m = e % tile;
    if (at.p * tile + m >= cols) tiles.i[k][m] = 0;
    if (at.q * tile + m >= cols) tiles.j[k][m] = 0;
  }
}

/// Waits until the buffer of a step is empty, then starts the copies of tiles of A into it. One
/// warp calls this function; each lane starts the copy of one row.
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
/// Computes a warp's sums over the steps of a task.
__device__ void sum_up(View<const double, 2> a, Task at, Lane lane, Shared& shared, Sums& sum) {
  const unsigned warp = threadIdx.x / 32, steps = at.last - at.first;
  if (warp < min(ahead, steps)) load_tiles(a, warp, at, shared);
  Factors even, odd;  // factors of the first and of the second 8 rows of a step
  shared.full[0].wait(0);
  load_factors(shared.a[0], 0, lane, even);
  for (unsigned s = 0; s < steps; ++s) {
    // In each step, another warp starts the copies.
    if (s % warps == warp && s + ahead < steps) load_tiles(a, s + ahead, at, shared);
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
/// Each block executes a task. The first `complete` tasks are tiles of C = AᵀA. For other tasks,
/// the block writes partial sums to `parts`, indexed by (part, index within the thread, thread).
__global__ void __launch_bounds__(threads)
    multiply(View<const double, 2> a, View<const Task, 1> tasks, unsigned complete,
             View<double, 3> parts, View<double, 2> c) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(bytes);
  if (threadIdx.x == 0) staircase::init(shared.full, shared.empty, threads);
  const Task at = tasks(blockIdx.x);
  if ((at.q + 1) * tile > a.extent(1)) clear_beyond(a.extent(1), at, shared);
  __syncthreads();

  const Lane lane;
  Sums sum = {};
  sum_up(a, at, lane, shared, sum);
  __syncthreads();
  if (blockIdx.x < complete) return write(sum, at, lane, shared.c, c);
  write_partial(sum, parts, blockIdx.x - complete);
}
// [multiply]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Shared));
  const unsigned cols = problem.cols;
  const unsigned tiles = (cols + tile - 1) / tile;
  DeviceArray<double, 2> a(padded_rows(problem, depth), padded_cols(problem)), c(cols, cols);
  const Plan plan = make_plan(strips_of(tiles, 12), a.extent(0) / depth, staircase::processors());
  DeviceArray<Task, 1> tasks(plan.tasks.size());
  DeviceArray<double, 3> parts(plan.parts(), held, threads);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_padded(problem.matrix());
  tasks.copy_from(plan.tasks.data());

  timeline.begin("kernels");
  staircase::allow_shared_memory(multiply, sizeof(Shared));
  multiply<<<plan.tasks.size(), threads, sizeof(Shared)>>>(a, tasks, plan.complete, parts, c);
  check_launch();
  add_up(plan, tasks, parts, c);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Tensor core",
                            .idea = "Multiply fragments on the FP64 tensor cores",
                            .needs = "FP64 tensor cores of compute capability 9.0",
                            .solve_f64 = ata::solve,
                        });
}
