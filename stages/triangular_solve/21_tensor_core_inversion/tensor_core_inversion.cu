/// \file
/// From:    18_distributed_shared_memory
/// Changed: tensor cores combine inverses of 16 rows into inverses of 32 and 64 rows, and multiply
///          the inverse by the left neighbour. A thread computes a column of an inverse of 16 rows.
/// Legal:   the same products are computed and added up in another order.
/// Expect:  the time before the first link of the critical path is several microseconds shorter.
/// Run:     ./climb triangular_solve --stages 18,21
/// Next:    nothing; this is the last stage.

#include "../pairs.hpp"

#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <limits>
#include <staircase/bulk_copy.hpp>
#include <staircase/cluster.hpp>
#include <staircase/factor.hpp>

namespace triangular_solve {

using staircase::ceil_div;
using staircase::check;
using staircase::Cluster;
using staircase::DeviceArray;
using staircase::Factor;
using staircase::factor;
using staircase::TransferBarrier;
using staircase::View;

constexpr unsigned across = 16;                // threads that share a row of L
constexpr unsigned share = across / lanes;     // rows per thread
constexpr unsigned held = block / 2 / across;  // pairs of each row per thread
constexpr unsigned ahead = 3;                  // blocks of L in flight
constexpr unsigned slots = 4;                  // slots of a ring buffer, each for 64 unknowns
constexpr unsigned together = 8;               // thread blocks of a cluster
constexpr unsigned all_threads = threads + 32;
constexpr unsigned leaf = 16;          // rows of a square that is inverted column by column
constexpr unsigned pitch = block + 4;  // elements of a row in shared memory; no bank conflicts

// [parts]
/// The position of a thread among the threads that share its rows, and the first of these rows.
__device__ inline unsigned lane_position() { return threadIdx.x % across; }
__device__ inline unsigned first_row() { return threadIdx.x / across * share; }

/// A thread's segment of a block of 64 × 64 elements: every sixteenth pair of its rows.
template <typename T>
struct Part {
  Pair<T> pairs[share][held];

  /// Loads the thread's segment of the block whose corner is (`row`, pair `first`). __syncwarp()
  /// makes the compiler place all loads before the first use of a pair.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m)
        pairs[s][m] = matrix(row + first_row() + s, first + m * across + lane_position());
    __syncwarp();
  }

  /// Adds the segment's products with the given unknowns to the sums of its rows.
  __device__ void add_products(const Pair<T>* operand, T (&sums)[share]) const {
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = operand[m * across + lane_position()];
      for (unsigned s = 0; s < share; ++s)
        sums[s] += pairs[s][m].of[0] * factor.of[0] + pairs[s][m].of[1] * factor.of[1];
    }
  }
};

/// Returns the sum of a row over sixteen threads to the four threads that need the sum. In each
/// exchange, a thread sends half of its partial sums to its partner and keeps the other half.
template <typename T>
__device__ T sum_of_row(T (&sums)[share]) {
  unsigned distance = across / 2;
  for (unsigned rows = share / 2; rows > 0; rows /= 2, distance /= 2)
    for (unsigned s = 0; s < rows; ++s) {
      const bool upper = lane_position() / distance % 2 == 1;
      const T kept = upper ? sums[rows + s] : sums[s], operand = upper ? sums[s] : sums[rows + s];
      sums[s] = kept + __shfl_xor_sync(all_lanes, operand, distance);
    }
  for (; distance > 0; distance /= 2) sums[0] += __shfl_xor_sync(all_lanes, sums[0], distance);
  return sums[0];
}
// [parts]

// [staged]
/// Blocks of L that are copied into shared memory. A thread copies the elements that it alone
/// reads, so it waits for no other thread.
template <typename T>
struct Staged {
  Pair<T> pairs[ahead][share][held][threads];

  /// Starts the copy of the thread's segment of the block whose corner is (`row`, pair `first`).
  __device__ void start(unsigned step, View<const Pair<T>, 2> matrix, unsigned row,
                        unsigned first) {
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m)
        __pipeline_memcpy_async(
            &pairs[step % ahead][s][m][threadIdx.x],
            &matrix(row + first_row() + s, first + m * across + lane_position()), sizeof(Pair<T>));
  }

  /// The segment that start() has copied. The caller must have waited for the copy.
  __device__ Part<T> part(unsigned step) const {
    Part<T> part;
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m) part.pairs[s][m] = pairs[step % ahead][s][m][threadIdx.x];
    return part;
  }
};
// [staged]

// [products]
/// A block of L, or its inverse, in shared memory.
template <typename T>
using Square = T[block][pitch];

/// Adds the products of 16 rows of a and 8 * `count` columns of b to c; each has 8 * `steps` terms.
template <unsigned count, typename T, unsigned pitch_a, unsigned pitch_b>
__device__ void multiply(const T (*a)[pitch_a], unsigned of_a, const T (*b)[pitch_b], unsigned of_b,
                         unsigned steps, T (&c)[count][4]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll 2
  for (unsigned s = 0; s < steps; ++s) {
    Factor<T> x[4], y[2];
    for (int r = 0; r < 4; ++r) {
      const auto [i, k] = staircase::position_in_a(lane, r);
      x[r] = factor(a[i][of_a + s * 8 + k]);
    }
    for (unsigned m = 0; m < count; ++m) {
      for (int r = 0; r < 2; ++r) {
        const auto [k, j] = staircase::position_in_b(lane, r);
        y[r] = factor(b[s * 8 + k][of_b + m * 8 + j]);
      }
      multiply_add(c[m], x, y);
    }
  }
}

/// Stores c, multiplied by `sign`.
template <unsigned count, typename T, unsigned pitch>
__device__ void store(const T (&c)[count][4], T sign, T (*to)[pitch], unsigned of_c) {
  for (unsigned m = 0; m < count; ++m)
    for (int r = 0; r < 4; ++r) {
      const auto [i, j] = staircase::position_in_c(static_cast<int>(threadIdx.x % 32), r);
      to[i][of_c + m * 8 + j] = sign * c[m][r];
    }
}
// [products]

// [invert]
/// Inverts, in one warp, the square of 16 × 16 elements on the diagonal that begins at `first`. On
/// entry, the diagonal contains the values 1 / L(i, i). A lane computes a column of the inverse.
template <typename T>
__device__ void invert_leaf(Square<T>& square, unsigned first) {
  const unsigned column = threadIdx.x % leaf;
  T x[leaf];
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) x[i] = i == column;
#pragma unroll
  for (unsigned k = 0; k < leaf; ++k) {
    x[k] *= square[first + k][first + k];
#pragma unroll
    for (unsigned i = k + 1; i < leaf; ++i) x[i] -= square[first + i][first + k] * x[k];
  }
  __syncwarp();
  if (threadIdx.x % 32 < leaf)
#pragma unroll
    for (unsigned i = 0; i < leaf; ++i) square[first + i][first + column] = x[i];
}

/// Inverts squares of 2 * `half` rows. Their two diagonal squares of `half` rows are inverted
/// already. The inverse of [A 0; C B] is [A⁻¹ 0; −B⁻¹CA⁻¹ B⁻¹]. In each of the two products, a warp
/// computes 16 × 8 elements.
template <unsigned half, typename T>
__device__ void double_squares(Square<T>& square, T (&product)[block / 2][block / 2 + 4]) {
  constexpr unsigned across_half = half / 8, of_square = half / 16 * across_half;
  const unsigned warp = threadIdx.x / 32, top = warp / of_square * 2 * half;
  const unsigned i = warp % of_square / across_half * 16, j = warp % across_half * 8;
  const bool takes_part = top < block;
  if (takes_part) {
    T c[1][4] = {};
    multiply(&square[top + half + i], top, &square[top], top + j, half / 8, c);
    store(c, T{1}, &product[top / 2 + i], j);
  }
  __syncthreads();
  if (takes_part) {
    T c[1][4] = {};
    multiply(&square[top + half + i], top + half, &product[top / 2], j, half / 8, c);
    store(c, T{-1}, &square[top + half + i], top + j);
  }
  __syncthreads();
}

/// Inverts the block on the diagonal that begins in row `first`, and loads its neighbour on the
/// left. Beyond the last row of L, diagonal elements are taken as 1.
template <typename T>
__device__ void invert(View<const T, 2> l, unsigned first, unsigned n, Square<T>& square,
                       Square<T>& neighbour) {
  __shared__ T product[block / 2][block / 2 + 4];
  if (threadIdx.x < threads) {
    Part<T> part, left;
    part.load(pairs_of(l), first, first / 2);
    if (first > 0) left.load(pairs_of(l), first, (first - block) / 2);
    for (unsigned e = 0; e < share * 2 * held; ++e) {
      const unsigned s = e / (2 * held), m = e / 2 % held, h = e % 2;
      const unsigned i = first_row() + s, j = 2 * (m * across + lane_position()) + h;
      const T own = i < j ? 0 : first + i < n || i != j ? part.pairs[s][m].of[h] : 1;
      square[i][j] = i == j ? 1 / own : own;
      if (first > 0) neighbour[i][j] = left.pairs[s][m].of[h];
    }
  }
  __syncthreads();
  if (threadIdx.x / 32 < block / leaf) invert_leaf<T>(square, threadIdx.x / 32 * leaf);
  __syncthreads();
  double_squares<16>(square, product);
  double_squares<32>(square, product);
}
// [invert]

// [precompute]
/// Replaces the left neighbour M of the block A on the diagonal by −A⁻¹ M. A warp computes 16 × 32
/// elements. A⁻¹ has zeros above its diagonal, so the rows of a warp need its columns only up to
/// the last of these rows.
template <typename T>
__device__ void precompute(const Square<T>& inverse, Square<T>& neighbour) {
  const unsigned warp = threadIdx.x / 32, i = warp / 2 * 16, j = warp % 2 * 32;
  const bool takes_part = threadIdx.x < threads;
  T c[4][4] = {};
  if (takes_part) multiply(&inverse[i], 0, neighbour, j, i / 8 + 2, c);
  __syncthreads();
  if (takes_part) store(c, T{-1}, &neighbour[i], j);
  __syncthreads();
}
// [precompute]

// [flags]
template <typename T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;

/// Spins until another thread block has published two unknowns; returns both.
template <typename T>
__device__ Pair<T> wait_for(T& one, T& other) {
  Pair<T> both;
  do {
    both.of[0] = Shared<T>(one).load(cuda::memory_order_relaxed);
    both.of[1] = Shared<T>(other).load(cuda::memory_order_relaxed);
  } while (isnan(both.of[0]) || isnan(both.of[1]));
  return both;
}
// [flags]

// [poll]
/// The unknowns that a thread block receives. Unknowns of other clusters pass through a ring buffer
/// from the warp that polls. Other thread blocks of the cluster store their unknowns here directly.
template <typename T>
struct Seen {
  Pair<T> computed[slots][block / 2], computed_near[together][block / 2];
  TransferBarrier full[slots], read[slots], full_near[together];

  /// Waits for the unknowns of a step. From step `near` on, the unknowns come from this cluster.
  __device__ const Pair<T>* wait_for(unsigned step, unsigned near) {
    if (step < near) {
      full[step % slots].wait(step / slots % 2);
      return computed[step % slots];
    }
    full_near[step - near].wait(0);
    return computed_near[step - near];
  }
};

/// Initialises the barriers; exactly one thread must call this function.
template <typename T>
__device__ void init(Seen<T>& seen) {
  for (TransferBarrier& full : seen.full_near) full.init(1);
  init(seen.full, seen.read, threads / 32, 32);
  for (TransferBarrier& full : seen.full_near)
    full.arrive_and_expect(sizeof(seen.computed_near[0]));
}

/// Polls for the unknowns of all block rows before this cluster.
template <typename T>
__device__ void poll(Seen<T>& seen, View<T, 1> x, unsigned near) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned step = 0; step < near; ++step) {
    const unsigned slot = step % slots;
    seen.read[slot].wait((step / slots + 1) % 2);
    const Pair<T> both = wait_for(x(step * block + lane), x(step * block + 32 + lane));
    for (unsigned h = 0; h < 2; ++h)
      seen.computed[slot][16 * h + lane / 2].of[lane % 2] = both.of[h];
    seen.full[slot].arrive();
  }
}

/// Publishes an unknown to the later thread blocks of the cluster and to all other clusters. Each
/// of a row's four threads writes to every fourth of these thread blocks. NaN means "not yet
/// published", so infinity is stored for an unknown that is NaN.
template <typename T>
__device__ void publish(Seen<T>& seen, View<T, 1> x, unsigned row, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const unsigned me = Cluster::rank(), own = row % block, last = (x.extent(0) - 1) / block;
  const T published = isnan(value) ? infinity : value;
  for (unsigned r = me + 1 + threadIdx.x % lanes; r < together; r += lanes)
    if (row / block + r - me <= last)
      store_in_block(seen.computed_near[me][own / 2].of[own % 2], published, seen.full_near[me], r);
  if (threadIdx.x % lanes == 0 && row < x.extent(0))
    Shared<T>(x(row)).store(published, cuda::memory_order_relaxed);
}
// [poll]

// [substitute_rows]
/// Blocks of L in shared memory: copied blocks, the block on the diagonal, and its neighbour.
template <typename T>
struct Blocks {
  Staged<T> staged;
  Square<T> square, neighbour;
};

/// Solves the 64 equations of this thread block. Clusters claim their indices when they start.
template <typename T>
__global__ void __launch_bounds__(all_threads, 1)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x,
                    View<unsigned, 1> started) {
  extern __shared__ double2 memory[];
  auto& [staged, square, neighbour] = *reinterpret_cast<Blocks<T>*>(memory);
  __shared__ unsigned claimed;
  __shared__ Seen<T> seen;
  __shared__ Pair<T> left[block / 2];
  __shared__ TransferBarrier all_left;
  if (threadIdx.x == 0) {
    if (Cluster::rank() == 0) claimed = atomicAdd(&started(0), 1);
    all_left.init(threads);
    init(seen);
  }
  Cluster::sync();
  const unsigned near = *Cluster::of_block(&claimed, 0) * together;
  const unsigned number = near + Cluster::rank();
  Cluster::sync();
  if (number * block >= x.extent(0)) return;
  const unsigned own = threadIdx.x / lanes, row = number * block + own;
  const T right = row < x.extent(0) ? b(row) : 0;
  invert(l, number * block, x.extent(0), square, neighbour);
  if (number > 0) precompute<T>(square, neighbour);
  if (threadIdx.x >= threads) return poll(seen, x, near);
  const unsigned last = number > 0 ? number - 1 : 0;
  const auto start = [&](unsigned step) {
    if (step < last) staged.start(step, pairs_of(l), number * block, step * block / 2);
    __pipeline_commit();
  };
  for (unsigned step = 0; step < ahead; ++step) start(step);
  Part<T> inverse, precomputed;
  inverse.load(pairs_of(View<const T, 2>(square[0], {block, pitch})), 0, 0);
  if (number > 0) precomputed.load(pairs_of(View<const T, 2>(neighbour[0], {block, pitch})), 0, 0);
  T sums[share] = {};
  for (unsigned step = 0; step < last; ++step) {
    __pipeline_wait_prior(ahead - 1);
    const Part<T> part = staged.part(step);
    part.add_products(seen.wait_for(step, near), sums);
    __syncwarp();
    if (step < near && threadIdx.x % 32 == 0) seen.read[step % slots].arrive();
    start(step + ahead);
  }
  const T sum = sum_of_row(sums);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = right - sum;
  all_left.arrive();
  all_left.wait(0);
  T products[share] = {};
  inverse.add_products(left, products);
  if (number > 0) precomputed.add_products(seen.wait_for(last, near), products);
  publish(seen, x, row, sum_of_row(products));
}
// [substitute_rows]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_clusters();
  timeline.begin("allocate");
  const unsigned padded = ceil_div(problem.n, block) * block;
  DeviceArray<T, 2> l(padded, padded);
  DeviceArray<T, 1> b(problem.n), device_x(problem.n);
  DeviceArray<unsigned, 1> started(1);
  staircase::ClusterLaunch substitute(substitute_rows<T>, together, all_threads, sizeof(Blocks<T>));
  substitute.require_at_once();
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_padded(problem.l<T>());
  b.copy_from(problem.b<T>().data());
  started.clear(nullptr);

  timeline.begin("kernels");
  substitute(ceil_div(problem.n, together * block), l, b, device_x, started);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(
      argc, argv,
      {
          .title = "Tensor core inversion",
          .idea = "Invert diagonal blocks on tensor cores",
          .needs = "clusters and FP64 tensor cores of compute capability 9.0",
          .solve_f64 = triangular_solve::solve<double>,
          .solve_f32 = triangular_solve::solve<float>,
      });
}
