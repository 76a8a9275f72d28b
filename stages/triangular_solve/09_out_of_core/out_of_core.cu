/// \file
/// Changed: L stays in host memory and is copied in panels of complete rows, up to the diagonal,
///          into two alternating buffers. The kernel is launched once per panel. Unknowns stay on
///          the GPU.
/// Legal:   a panel needs the unknowns above it, which the kernels of earlier panels have
///          published. Events protect a buffer from being overwritten until it has been read.
/// Expect:  the triangle is read at the rate of PCIe, because the kernel of a panel is shorter than
///          the copy of this panel.
/// Run:     ./climb triangular_solve --stages 08,09
/// Next:    10_multiple_right_hand_sides uses each element of L for many right-hand sides.

#include "../pairs.hpp"
#include "../panels.hpp"

#include <algorithm>
#include <cuda/atomic>
#include <limits>
#include <staircase/stream.hpp>

namespace triangular_solve {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Pinned;
using staircase::Stream;
using staircase::StreamTimes;
using staircase::View;

constexpr unsigned held = block / 2 / lanes;  // pairs of a row per thread

// [parts]
/// A thread's segment of a row of 64 elements: every fourth pair.
template <typename T>
struct Part {
  Pair<T> pairs[held];

  /// Loads the thread's segment of the 64 elements from pair `first` of `row` on. The __syncwarp()
  /// makes the compiler place all loads before the first use of a pair.
  __device__ void load(View<const Pair<T>, 2> matrix, unsigned row, unsigned first) {
    for (unsigned m = 0; m < held; ++m)
      pairs[m] = matrix(row, first + m * lanes + threadIdx.x % lanes);
    __syncwarp();
  }

  /// Returns the sum of the segment's products with `operand`, which has an element per column.
  __device__ T product(const Pair<T>* operand) const {
    T sum = 0;
    for (unsigned m = 0; m < held; ++m) {
      const Pair<T> factor = operand[m * lanes + threadIdx.x % lanes];
      sum += pairs[m].of[0] * factor.of[0] + pairs[m].of[1] * factor.of[1];
    }
    return sum;
  }
};

/// Returns the sum over the threads of a row to each of these threads.
template <typename T>
__device__ T sum_of_row(T sum) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance);
  return sum;
}
// [parts]

// [invert]
/// Inverts a block A on the diagonal in a panel that begins with row `top` of L: solves A Y = I row
/// by row. A thread has every fourth pair of a row of Y and subtracts multiples of the finished
/// rows above. Beyond the last row of L, diagonal elements are taken as 1.
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

/// Spins until another thread block has published an unknown; returns the unknown.
template <typename T>
__device__ T wait_for(T& unknown) {
  T value;
  do value = Shared<T>(unknown).load(cuda::memory_order_relaxed);
  while (isnan(value));
  return value;
}

/// Publishes an unknown to all thread blocks. NaN means "not yet published", so infinity is stored
/// for an unknown that is NaN.
template <typename T>
__device__ void publish(T& unknown, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(unknown).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}
// [flags]

// [substitute_rows]
/// Solves 64 equations of a panel: the block row that the thread block claims when it starts.
template <typename T>
__global__ void __launch_bounds__(threads)
    substitute_rows(View<const T, 2> l, View<const T, 1> b, View<T, 1> x, View<unsigned, 1> started,
                    unsigned top) {
  __shared__ unsigned claimed;
  __shared__ Pair<T> computed[2][block / 2], left[block / 2];
  if (threadIdx.x == 0) claimed = atomicAdd(&started(0), 1);
  __syncthreads();
  const unsigned number = claimed, own = threadIdx.x / lanes, row = number * block + own;
  const unsigned steps = top / block + number, i = top + row;
  const T right = i < x.extent(0) ? b(i) : 0;
  const Part<T> inverse = inverse_of(l, top, number * block, x.extent(0));
  Part<T> ahead;
  if (steps > 0) ahead.load(pairs_of(l), row, 0);
  T sum = 0;
  for (unsigned step = 0; step < steps; ++step) {
    if (threadIdx.x < block)
      computed[step % 2][threadIdx.x / 2].of[threadIdx.x % 2] =
          wait_for(x(step * block + threadIdx.x));
    __syncthreads();
    sum += ahead.product(computed[step % 2]);
    if (step + 1 < steps) ahead.load(pairs_of(l), row, (step + 1) * block / 2);
  }
  sum = sum_of_row(sum);
  if (threadIdx.x % lanes == 0) left[own / 2].of[own % 2] = i < x.extent(0) ? right - sum : 0;
  __syncthreads();
  const T solved = sum_of_row(inverse.product(left));
  if (threadIdx.x % lanes == 0 && i < x.extent(0)) publish(x(i), solved);
}
// [substitute_rows]

// [substitute]
/// Solves the equations of a panel, which begins with row `top` of L, asynchronously in a stream.
/// Unknowns that have not been computed yet are NaN.
template <typename T>
void substitute(View<const T, 2> panel, View<const T, 1> b, View<T, 1> x,
                DeviceArray<unsigned, 1>& started, unsigned top, const Stream& stream) {
  const unsigned steps = ceil_div(std::min(panel.extent(0), x.extent(0) - top), block);
  started.clear(stream);
  substitute_rows<T><<<steps, threads, 0, stream>>>(panel, b, x, started, top);
  check_launch();
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const std::size_t n = problem.n, columns = ceil_div(n, block) * std::size_t{block};
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
  for (std::size_t top = 0, buffer = 0; top < n; top += rows, buffer = 1 - buffer) {
    const View<T, 2> panel(buffers[buffer].data(), {rows, std::min(top + rows, columns)});
    in.wait(read[buffer]);
    times.of("panels", in, [&] { send(l, top, panel, in); });
    sent[buffer].record(in);
    kernels.wait(sent[buffer]);
    times.of("kernels", kernels, [&] { substitute<T>(panel, b, device_x, started, top, kernels); });
    read[buffer].record(kernels);
  }
  check(cudaStreamSynchronize(kernels));

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  timeline.end();
  times.add_to_timeline();
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Out of core",
                                         .idea = "Stream panels of L over PCIe while solving",
                                         .note = "The phase kernels contains the copies of L.",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
