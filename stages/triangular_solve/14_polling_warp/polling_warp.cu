/// \file
/// Changed: a ninth warp polls for the unknowns of other thread blocks. This warp passes the
///          unknowns to the eight warps that multiply.
/// Legal:   a warp multiplies only after the polling warp has stored the unknowns in shared memory.
///          A slot of the ring buffer is refilled only after all warps have read it.
/// Expect:  a poll no longer waits for the loads of L that its own warp has issued before.
/// Run:     ./climb triangular_solve --stages 13,14
/// Next:    15_precomputed_product precomputes a product with the inverse.

#include "../pairs.hpp"

#include <cuda/atomic>
#include <limits>
#include <staircase/bulk_copy.hpp>

namespace triangular_solve {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::TransferBarrier;
using staircase::View;

constexpr unsigned across = 16;                // threads that share a row of L
constexpr unsigned share = across / lanes;     // rows per thread
constexpr unsigned held = block / 2 / across;  // pairs of each row per thread
constexpr unsigned ahead = 2;                  // blocks of L that are in flight or in registers
constexpr unsigned slots = 4;                  // slots of a ring buffer, each for 64 unknowns
constexpr unsigned all_threads = threads + 32;

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

// [invert]
/// Inverts squares of 2 * `half` rows. Their two diagonal squares of `half` rows are inverted
/// already. The inverse of [A 0; C B] is [A⁻¹ 0; −B⁻¹CA⁻¹ B⁻¹]. In each of the two products, a
/// thread computes `mine` elements of one column of its square.
template <unsigned half, typename T>
__device__ void double_squares(T (&square)[block][block], T (&product)[block * block / 4]) {
  constexpr unsigned elements = block / 2 * half, step = elements < threads ? elements : threads;
  constexpr unsigned mine = elements / step;
  const unsigned t = threadIdx.x, c = t % half;
  const auto top = [&](unsigned m) { return (t + m * step) / (half * half) * 2 * half; };
  const auto r = [&](unsigned m) { return (t + m * step) / half % half; };
  T sums[mine];
  __syncthreads();
  if (t < step) {
    for (unsigned m = 0; m < mine; ++m) sums[m] = 0;
#pragma unroll
    for (unsigned k = 0; k < half; ++k)
#pragma unroll
      for (unsigned m = 0; m < mine; ++m)
        sums[m] += square[top(m) + half + r(m)][top(m) + k] * square[top(m) + k][top(m) + c];
    for (unsigned m = 0; m < mine; ++m) product[t + m * step] = sums[m];
  }
  __syncthreads();
  if (t < step) {
    for (unsigned m = 0; m < mine; ++m) sums[m] = 0;
#pragma unroll
    for (unsigned k = 0; k < half; ++k)
#pragma unroll
      for (unsigned m = 0; m < mine; ++m)
        sums[m] += square[top(m) + half + r(m)][top(m) + half + k] *
                   product[top(m) / 2 * half + k * half + c];
    for (unsigned m = 0; m < mine; ++m) square[top(m) + half + r(m)][top(m) + c] = -sums[m];
  }
}

/// Inverts the block on the diagonal that begins in row `first`. Beyond the last row of L, diagonal
/// elements are taken as 1.
template <typename T>
__device__ void invert(View<const T, 2> l, unsigned first, unsigned n, T (&square)[block][block]) {
  __shared__ T product[block * block / 4];
  for (unsigned e = threadIdx.x; e < block * block; e += all_threads) {
    const unsigned i = e / block, j = e % block;
    const T own = i < j ? 0 : first + i < n || i != j ? l(first + i, first + j) : 1;
    square[i][j] = i == j ? 1 / own : own;
  }
  double_squares<1>(square, product);
  double_squares<2>(square, product);
  double_squares<4>(square, product);
  double_squares<8>(square, product);
  double_squares<16>(square, product);
  double_squares<32>(square, product);
  __syncthreads();
}
// [invert]

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

/// Publishes an unknown to all thread blocks. NaN means "not yet published", so infinity is stored
/// for an unknown that is NaN.
template <typename T>
__device__ void publish(T& unknown, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(unknown).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}
// [flags]

// [poll]
/// Ring buffer of unknowns between the warp that polls and the warps that multiply.
template <typename T>
struct Seen {
  Pair<T> computed[slots][block / 2];
  TransferBarrier full[slots], read[slots];
};

/// Polls for the unknowns of all block rows before this one.
template <typename T>
__device__ void poll(Seen<T>& seen, View<T, 1> x, unsigned number) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned step = 0; step < number; ++step) {
    const unsigned slot = step % slots;
    seen.read[slot].wait((step / slots + 1) % 2);
    const Pair<T> both = wait_for(x(step * block + lane), x(step * block + 32 + lane));
    for (unsigned h = 0; h < 2; ++h)
      seen.computed[slot][16 * h + lane / 2].of[lane % 2] = both.of[h];
    seen.full[slot].arrive();
  }
}
// [poll]

// [substitute_rows]
/// Solves the 64 equations of the block row that the thread block claims when it starts.
template <typename T>
__global__ void __launch_bounds__(all_threads)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x,
                    View<unsigned, 1> started) {
  __shared__ alignas(sizeof(Pair<T>)) T square[block][block];
  __shared__ unsigned claimed;
  __shared__ Seen<T> seen;
  __shared__ Pair<T> left[block / 2];
  if (threadIdx.x == 0) {
    claimed = atomicAdd(&started(0), 1);
    init(seen.full, seen.read, threads / 32, 32);
  }
  __syncthreads();
  const unsigned number = claimed, own = threadIdx.x / lanes, row = number * block + own;
  const T right = row < x.extent(0) ? b(row) : 0;
  invert(l, number * block, x.extent(0), square);
  const auto inverse = pairs_of(View<const T, 2>(square[0], {block, block}));
  const auto load = [&](Part<T>& part, unsigned step) {
    if (step < number) part.load(pairs_of(l), number * block, step * block / 2);
    if (step == number) part.load(inverse, 0, 0);
  };
  T sums[share] = {};
  const auto consume = [&](Part<T>& part, unsigned step) {
    const unsigned slot = step % slots;
    seen.full[slot].wait(step / slots % 2);
    part.add_products(seen.computed[slot], sums);
    __syncwarp();
    if (threadIdx.x % 32 == 0) seen.read[slot].arrive();
    load(part, step + ahead);
  };
  Part<T> even, odd;
  if (threadIdx.x >= threads) {
    poll(seen, x, number);
  } else {
    load(even, 0);
    load(odd, 1);
    for (unsigned step = 0; step + 1 < number; step += ahead) {
      consume(even, step);
      consume(odd, step + 1);
    }
    if (number % 2 == 1) consume(even, number - 1);
    const T sum = sum_of_row(sums);
    if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = right - sum;
  }
  __syncthreads();
  if (threadIdx.x >= threads) return;
  T products[share] = {};
  if (number % 2 == 0)
    even.add_products(left, products);
  else
    odd.add_products(left, products);
  const T solved = sum_of_row(products);
  if (threadIdx.x % lanes == 0 && row < x.extent(0)) publish(x(row), solved);
}
// [substitute_rows]

// [substitute]
/// Solves all equations. Before the launch, all elements of x must be NaN, and `started` must be 0.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x, View<unsigned, 1> started) {
  substitute_rows<T><<<ceil_div(x.extent(0), block), all_threads>>>(l, b, x, started);
  check_launch();
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_capability(9, 0, "barriers that are waited for by their phase");
  timeline.begin("allocate");
  const unsigned padded = ceil_div(problem.n, block) * block;
  DeviceArray<T, 2> l(padded, padded);
  DeviceArray<T, 1> b(problem.n), device_x(problem.n);
  DeviceArray<unsigned, 1> started(1);
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_padded(problem.l<T>());
  b.copy_from(problem.b<T>().data());
  started.clear(nullptr);

  timeline.begin("kernels");
  substitute<T>(l, b, device_x, started);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Polling warp",
                                         .idea = "Warp specialisation: one warp only polls",
                                         .needs = "barriers with phases (compute capability 9.0)",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
