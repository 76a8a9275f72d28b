/// \file
/// Changed: blocks of L are copied into shared memory, three ahead of the one that is multiplied,
///          where two were ahead in registers.
/// Legal:   a thread copies what it alone reads, and waits for its own copies.
/// Expect:  less waiting for L, whose blocks now may take three links to come in place of two.
/// Run:     ./climb triangular_solve --stages 16,17
/// Next:    unknowns still go through the second-level cache, beside the stream of L.

#include "../pairs.hpp"

#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <limits>
#include <staircase/bulk_copy.hpp>

namespace triangular_solve {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::TransferBarrier;
using staircase::View;

constexpr unsigned across = 16;                // threads that share a row of L
constexpr unsigned share = across / lanes;     // rows of a thread
constexpr unsigned held = block / 2 / across;  // pairs of each that a thread has
constexpr unsigned ahead = 3;                  // blocks that are on their way
constexpr unsigned places = 4;                 // for unknowns of a block each
constexpr unsigned all_threads = threads + 32;

// [parts]
/// The place of a thread among those that share rows, and the first of these rows.
__device__ inline unsigned place() { return threadIdx.x % across; }
__device__ inline unsigned first_row() { return threadIdx.x / across * share; }

/// A thread's part of a block of 64 × 64 numbers: every sixteenth pair of its rows.
template <typename T>
struct Part {
  Pair<T> pairs[share][held];

  /// Fetches the part of the block that begins in a row with pair `first`. The warp meets so that
  /// all of it is asked for before any of it is used.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m)
        pairs[s][m] = matrix(row + first_row() + s, first + m * across + place());
    __syncwarp();
  }

  /// Adds its products with the numbers given to the sums of its rows.
  __device__ void add_products(const Pair<T>* given, T (&sums)[share]) const {
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = given[m * across + place()];
      for (unsigned s = 0; s < share; ++s)
        sums[s] += pairs[s][m].of[0] * factor.of[0] + pairs[s][m].of[1] * factor.of[1];
    }
  }
};

/// The sum of the parts of a row's threads, for the four of them that take this row on: each time,
/// half of the threads give half of the rows away for those of the other half.
template <typename T>
__device__ T sum_of_row(T (&sums)[share]) {
  unsigned distance = across / 2;
  for (unsigned rows = share / 2; rows > 0; rows /= 2, distance /= 2)
    for (unsigned s = 0; s < rows; ++s) {
      const bool upper = place() / distance % 2 == 1;
      const T kept = upper ? sums[rows + s] : sums[s], given = upper ? sums[s] : sums[rows + s];
      sums[s] = kept + __shfl_xor_sync(all_lanes, given, distance);
    }
  for (; distance > 0; distance /= 2) sums[0] += __shfl_xor_sync(all_lanes, sums[0], distance);
  return sums[0];
}
// [parts]

// [staged]
/// Blocks of L on their way into shared memory. A thread copies what it alone reads, so that it
/// waits for no other.
template <typename T>
struct Staged {
  Pair<T> pairs[ahead][share][held][threads];

  /// Starts to copy a thread's part of the block that begins in a row with pair `first`.
  __device__ void start(unsigned step, View<const Pair<T>, 2> matrix, unsigned row,
                        unsigned first) {
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m)
        __pipeline_memcpy_async(&pairs[step % ahead][s][m][threadIdx.x],
                                &matrix(row + first_row() + s, first + m * across + place()),
                                sizeof(Pair<T>));
  }

  /// What start() has copied, if that was waited for.
  __device__ Part<T> part(unsigned step) const {
    Part<T> part;
    for (unsigned s = 0; s < share; ++s)
      for (unsigned m = 0; m < held; ++m) part.pairs[s][m] = pairs[step % ahead][s][m][threadIdx.x];
    return part;
  }
};
// [staged]

// [invert]
/// Makes squares of 2 `half` rows out of the inverted squares of `half` rows that lie on the
/// diagonal of one: [A 0; C B] has the inverse [A⁻¹ 0; −B⁻¹CA⁻¹ B⁻¹]. A thread has so many numbers
/// of each of the two products, in one column of its squares.
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

/// Inverts the block on the diagonal from row `first` on, and fetches its neighbour on the left.
/// Behind the last row of L stand ones on the diagonal.
template <typename T>
__device__ void invert(View<const T, 2> l, unsigned first, unsigned n, T (&square)[block][block],
                       View<Pair<T>, 2> neighbour) {
  __shared__ T product[block * block / 4];
  if (threadIdx.x < threads) {
    Part<T> part, left;
    part.load(pairs_of(l), first, first / 2);
    if (first > 0) left.load(pairs_of(l), first, (first - block) / 2);
    for (unsigned e = 0; e < share * 2 * held; ++e) {
      const unsigned s = e / (2 * held), m = e / 2 % held, h = e % 2;
      const unsigned i = first_row() + s, j = 2 * (m * across + place()) + h;
      const T own = i < j ? 0 : first + i < n || i != j ? part.pairs[s][m].of[h] : 1;
      square[i][j] = i == j ? 1 / own : own;
      if (first > 0) neighbour(i, j / 2).of[h] = left.pairs[s][m].of[h];
    }
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

// [fold]
/// Minus a thread's part of the inverse times its neighbour. The inverse has zeros above its
/// diagonal, so that the rows of a warp need no more columns of it than its last one.
template <typename T>
__device__ void fold(const T (&inverse)[block][block], View<Pair<T>, 2> neighbour,
                     Part<T>& product) {
  constexpr unsigned rows_of_warp = 32 / across * share;
  const unsigned end = (threadIdx.x / 32 + 1) * rows_of_warp;
  for (unsigned s = 0; s < share; ++s)
    for (unsigned m = 0; m < held; ++m) product.pairs[s][m] = {};
  for (unsigned k = 0; k < end; ++k)
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = neighbour(k, m * across + place());
      for (unsigned s = 0; s < share; ++s)
        for (unsigned h = 0; h < 2; ++h)
          product.pairs[s][m].of[h] -= inverse[first_row() + s][k] * factor.of[h];
    }
}
// [fold]

// [flags]
template <typename T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;

/// Waits for two unknowns of another block.
template <typename T>
__device__ Pair<T> wait_for(T& one, T& other) {
  Pair<T> both;
  do {
    both.of[0] = Shared<T>(one).load(cuda::memory_order_relaxed);
    both.of[1] = Shared<T>(other).load(cuda::memory_order_relaxed);
  } while (isnan(both.of[0]) || isnan(both.of[1]));
  return both;
}

/// Tells an unknown to all blocks. One that is not a number would never be seen.
template <typename T>
__device__ void tell(T& unknown, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(unknown).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}
// [flags]

// [watch]
/// Unknowns in turns between the warp that watches and those that multiply.
template <typename T>
struct Seen {
  Pair<T> known[places][block / 2];
  TransferBarrier told[places], read[places];
};

/// Looks for the unknowns of all blocks before this one.
template <typename T>
__device__ void watch(Seen<T>& seen, View<T, 1> x, unsigned number) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned step = 0; step < number; ++step) {
    const unsigned place = step % places;
    seen.read[place].wait((step / places + 1) % 2);
    const Pair<T> both = wait_for(x(step * block + lane), x(step * block + 32 + lane));
    for (unsigned h = 0; h < 2; ++h) seen.known[place][16 * h + lane / 2].of[lane % 2] = both.of[h];
    seen.told[place].arrive();
  }
}
// [watch]

// [substitute_rows]
/// Solves 64 equations: those of the block's number, which it draws when it starts.
template <typename T>
__global__ void __launch_bounds__(all_threads, 1)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x,
                    View<unsigned, 1> started) {
  extern __shared__ double2 memory[];
  const View<Pair<T>, 2> neighbour(reinterpret_cast<Pair<T>*>(memory), {block, block / 2});
  auto& staged = *reinterpret_cast<Staged<T>*>(neighbour.data() + block * block / 2);
  __shared__ alignas(sizeof(Pair<T>)) T square[block][block];
  __shared__ unsigned drawn;
  __shared__ Seen<T> seen;
  __shared__ Pair<T> left[block / 2];
  __shared__ TransferBarrier all_left;
  if (threadIdx.x == 0) {
    drawn = atomicAdd(&started(0), 1);
    all_left.init(threads);
    init(seen.told, seen.read, threads / 32, 32);
  }
  __syncthreads();
  const unsigned number = drawn, own = threadIdx.x / lanes, row = number * block + own;
  const T right = row < x.extent(0) ? b(row) : 0;
  invert(l, number * block, x.extent(0), square, neighbour);
  if (threadIdx.x >= threads) return watch(seen, x, number);
  const unsigned last = number > 0 ? number - 1 : 0;
  const auto start = [&](unsigned step) {
    if (step < last) staged.start(step, pairs_of(l), number * block, step * block / 2);
    __pipeline_commit();
  };
  for (unsigned step = 0; step < ahead; ++step) start(step);
  Part<T> inverse, folded;
  inverse.load(pairs_of(View<const T, 2>(square[0], {block, block})), 0, 0);
  if (number > 0) fold(square, neighbour, folded);
  T sums[share] = {};
  for (unsigned step = 0; step < last; ++step) {
    const unsigned place = step % places;
    __pipeline_wait_prior(ahead - 1);
    const Part<T> part = staged.part(step);
    seen.told[place].wait(step / places % 2);
    part.add_products(seen.known[place], sums);
    __syncwarp();
    if (threadIdx.x % 32 == 0) seen.read[place].arrive();
    start(step + ahead);
  }
  const T sum = sum_of_row(sums);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = right - sum;
  all_left.arrive();
  all_left.wait(0);
  T products[share] = {};
  inverse.add_products(left, products);
  if (number > 0) {
    seen.told[last % places].wait(last / places % 2);
    folded.add_products(seen.known[last % places], products);
  }
  const T solved = sum_of_row(products);
  if (threadIdx.x % lanes == 0 && row < x.extent(0)) tell(x(row), solved);
}
// [substitute_rows]

// [substitute]
/// Solves all equations. All of x is NaN, and no block has started.
template <typename T>
void substitute(View<const T, 2> l, View<const T, 1> b, View<T, 1> x, View<unsigned, 1> started) {
  const std::size_t bytes = sizeof(Pair<T>[block][block / 2]) + sizeof(Staged<T>);
  staircase::allow_shared_memory(substitute_rows<T>, bytes);
  substitute_rows<T><<<pieces(x.extent(0), block), all_threads, bytes>>>(l, b, x, started);
  check_launch();
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_capability(9, 0, "barriers that are waited for by their phase");
  timeline.begin("allocate");
  const unsigned padded = pieces(problem.n, block) * block;
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
                                         .title = "Staged",
                                         .idea = "Copy three blocks ahead, into shared memory",
                                         .needs = "barriers with phases (compute capability 9.0)",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
