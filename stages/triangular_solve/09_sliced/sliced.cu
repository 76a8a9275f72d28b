/// \file
/// Changed: L stays in the host's memory and comes in panels of whole rows, up to the diagonal. Two
///          buffers take turns. The kernel is launched once per panel. Unknowns stay on the GPU.
/// Legal:   a panel needs the unknowns above it, which the kernels of the panels before have told;
///          events keep a buffer until it has been read.
/// Expect:  the triangle at the speed of the bus: the kernel of a panel takes less than its copy.
/// Run:     ./climb triangular_solve --stages 08,09
/// Next:    10_many_right_hand_sides gives each number of L more to do.

#include "../pairs.hpp"
#include "../panels.hpp"

#include <algorithm>
#include <cuda/atomic>
#include <limits>
#include <staircase/stream.hpp>

namespace triangular_solve {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Event;
using staircase::pieces;
using staircase::Pinned;
using staircase::Stream;
using staircase::StreamTimes;
using staircase::View;

constexpr unsigned held = block / 2 / lanes;  // pairs of a row that a thread has

// [parts]
/// A thread's part of 64 numbers of a row: every fourth pair.
template <typename T>
struct Part {
  Pair<T> pairs[held];

  /// Fetches the part, from pair `first` of the row on. The warp meets so that all of it is asked
  /// for before any of it is used.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned m = 0; m < held; ++m)
      pairs[m] = matrix(row, first + m * lanes + threadIdx.x % lanes);
    __syncwarp();
  }

  /// Its product with the numbers given.
  __device__ T product(const Pair<T>* given) const {
    T sum = 0;
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = given[m * lanes + threadIdx.x % lanes];
      sum += pairs[m].of[0] * factor.of[0] + pairs[m].of[1] * factor.of[1];
    }
    return sum;
  }
};

/// The sum of the parts of a row's threads, for all of them.
template <typename T>
__device__ T sum_of_row(T sum) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance);
  return sum;
}
// [parts]

// [invert]
/// Inverts a block on the diagonal, of a panel that begins with row `top` of L: the equations L Y =
/// 1, row by row. A thread has every fourth pair of a row of Y, and takes out of it what is
/// finished above. Behind the last row of L stand ones on the diagonal.
template <typename T>
__device__ Part<T> inverse_of(View<const T, 2> l, unsigned top, unsigned first, unsigned n) {
  __shared__ T own[block][block + 1];
  __shared__ Pair<T> finished[2][block / 2];
  const unsigned row = threadIdx.x / lanes;
  for (unsigned e = threadIdx.x; e < block * block; e += threads)
    own[e / block][e % block] = l(first + e / block, top + first + e % block);
  Part<T> y;
  for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
    y.pairs[m] = {row == 2 * p ? T{1} : T{0}, row == 2 * p + 1 ? T{1} : T{0}};
  __syncthreads();
  const T reciprocal = top + first + row < n ? 1 / own[row][row] : 1;
  for (unsigned k = 0; k < block; ++k) {
    if (row == k)
      for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes)
        finished[k % 2][p] =
            y.pairs[m] = {y.pairs[m].of[0] * reciprocal, y.pairs[m].of[1] * reciprocal};
    __syncthreads();
    if (row > k) {
      const T factor = own[row][k];
      for (unsigned m = 0, p = threadIdx.x % lanes; p < block / 2; ++m, p += lanes) {
        y.pairs[m].of[0] -= factor * finished[k % 2][p].of[0];
        y.pairs[m].of[1] -= factor * finished[k % 2][p].of[1];
      }
    }
  }
  return y;
}
// [invert]

// [flags]
template <typename T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;

/// Waits for an unknown of another block.
template <typename T>
__device__ T wait_for(T& unknown) {
  T value;
  do value = Shared<T>(unknown).load(cuda::memory_order_relaxed);
  while (isnan(value));
  return value;
}

/// Tells an unknown to all blocks. One that is not a number would never be seen.
template <typename T>
__device__ void tell(T& unknown, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(unknown).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}
// [flags]

// [substitute_rows]
/// Solves 64 equations of a panel: those of the block's number, which it draws when it starts.
template <typename T>
__global__ void __launch_bounds__(threads)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x, View<unsigned, 1> started,
                    unsigned top) {
  __shared__ unsigned drawn;
  __shared__ Pair<T> known[2][block / 2], left[block / 2];
  if (threadIdx.x == 0) drawn = atomicAdd(&started(0), 1);
  __syncthreads();
  const unsigned number = drawn, own = threadIdx.x / lanes, row = number * block + own;
  const unsigned steps = top / block + number, i = top + row;
  const T right = i < x.extent(0) ? b(i) : 0;
  const Part<T> inverse = inverse_of(l, top, number * block, x.extent(0));
  Part<T> ahead;
  if (steps > 0) ahead.load(pairs_of(l), row, 0);
  T sum = 0;
  for (unsigned step = 0; step < steps; ++step) {
    if (threadIdx.x < block)
      known[step % 2][threadIdx.x / 2].of[threadIdx.x % 2] =
          wait_for(x(step * block + threadIdx.x));
    __syncthreads();
    sum += ahead.product(known[step % 2]);
    if (step + 1 < steps) ahead.load(pairs_of(l), row, (step + 1) * block / 2);
  }
  sum = sum_of_row(sum);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = i < x.extent(0) ? right - sum : 0;
  __syncthreads();
  const T solved = sum_of_row(inverse.product(left));
  if (threadIdx.x % lanes == 0 && i < x.extent(0)) tell(x(i), solved);
}
// [substitute_rows]

// [substitute]
/// Solves the equations of a panel, which begins with row `top` of L, in a stream. Unknowns that
/// are not known yet are NaN.
template <typename T>
void substitute(View<const T, 2> panel, View<const T, 1> b, View<T, 1> x,
                DeviceArray<unsigned, 1>& started, unsigned top, const Stream& stream) {
  const unsigned steps = pieces(std::min(panel.extent(0), x.extent(0) - top), block);
  started.clear(stream);
  substitute_rows<T><<<steps, threads, 0, stream>>>(panel, b, x, started, top);
  check_launch();
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const std::size_t n = problem.n, columns = pieces(n, block) * std::size_t{block};
  const std::size_t rows = rows_of_panel<T>(problem);
  const View<const T, 2> l = problem.l<T>();
  const Pinned pinned(l);
  const DeviceArray<T, 1> buffers[2] = {DeviceArray<T, 1>(rows * columns),
                                        DeviceArray<T, 1>(rows * columns)};
  DeviceArray<T, 1> b(n), device_x(n);
  DeviceArray<unsigned, 1> started(1);
  Solution<T> x(problem.rhs, n);
  const Stream in, kernels;
  Event sent[2], read[2];
  StreamTimes times(timeline);

  timeline.begin("copy in");
  b.copy_from(problem.b<T>().data());

  timeline.begin("kernels");
  for (std::size_t top = 0, turn = 0; top < n; top += rows, turn = 1 - turn) {
    const View<T, 2> panel(buffers[turn].data(), {rows, std::min(top + rows, columns)});
    in.wait(read[turn]);
    times.of("panels", in, [&] { send(l, top, panel, in); });
    sent[turn].record(in);
    kernels.wait(sent[turn]);
    times.of("kernels", kernels, [&] { substitute<T>(panel, b, device_x, started, top, kernels); });
    read[turn].record(kernels);
  }
  check(cudaStreamSynchronize(kernels));

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  timeline.end();
  times.hand_over();
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Sliced",
                                         .idea = "Stream panels of L in while solving",
                                         .note = "The phase kernels contains the copies of L.",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
