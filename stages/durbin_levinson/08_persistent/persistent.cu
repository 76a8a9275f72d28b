/// \file
/// Changed: blocks of a cluster stay for all steps. Beside y a thread keeps the row z that is y in
///          reverse order, so that it never needs what others hold but the one number to its left.
///          Update and next inner product are one pass, with one barrier behind it.
/// Legal:   z follows the same recursion; what is sent and what is read between two barriers lies
///          in different buffers.
/// Expect:  bound by the chain of operations in a step: sum of a warp, barrier, sum of the warps.
/// Run:     ./climb durbin_levinson --stages 07,08
/// Next:    09_schur has a recursion without an inner product.

#include "../shapes.hpp"

#include <algorithm>
#include <limits>
#include <staircase/cluster.hpp>

namespace durbin_levinson {

using staircase::check;
using staircase::Cluster;
using staircase::DeviceArray;
using staircase::View;

// [sums]
/// The sum of a number of each of so many neighbouring lanes, a power of two, for all of them.
template <unsigned lanes = warp_size, typename T>
__device__ T sum_of_lanes(T value) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}
// [sums]

// [exchange]
/// What the warps of a cluster tell each other, in each block's shared memory. There is a buffer
/// for even steps and one for odd ones: one is written while the other may still be read.
template <typename T, typename Shape>
struct Exchange {
  static constexpr unsigned warps = Shape::warps, parts = Shape::blocks * warps;

  T part[2][parts];        // of the sum, from all warps of the cluster
  Pair<T> left[2][warps];  // of each warp of the block

  /// Left of all numbers lies the 1 in front of y.
  __device__ void prepare() {
    if (Cluster::rank() == 0 && threadIdx.x < 2) left[threadIdx.x][0] = {1, 0};
  }

  /// Sends this warp's part of the sum to all blocks, and its last numbers to the warp on its
  /// right.
  __device__ void send(unsigned step, T sum, Pair<T> last) {
    const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    const unsigned rank = Cluster::rank(), right = rank * warps + warp + 1;
    if (lane < Shape::blocks) *Cluster::of_block(&part[step % 2][right - 1], lane) = sum;
    if (lane == warp_size - 1 && right < parts)
      *Cluster::of_block(&left[step % 2][right % warps], right / warps) = last;
  }

  /// Waits until all warps have sent.
  __device__ static void wait() {
    if constexpr (Shape::blocks > 1)
      Cluster::sync();
    else
      __syncthreads();
  }

  /// The sum of all parts, for all threads.
  __device__ T sum(unsigned step) const {
    constexpr unsigned lanes = std::min(parts, warp_size);
    const T* const own = part[step % 2] + threadIdx.x % lanes;
    T sum = own[0];
    for (unsigned i = lanes; i < parts; i += lanes) sum += own[i];
    return sum_of_lanes<lanes>(sum);
  }
};
// [exchange]

// [solve_on_chip]
/// All steps on one cluster. Element i of z is y(k - 1 - i) for i < k, and 1 for i = k: the row of
/// order k in reverse order, with the 1 in front of y behind it.
template <typename T, typename Shape>
__global__ void __launch_bounds__(Shape::threads)
    solve_on_chip(View<const T, 1> r_from_1, View<T, 2> solution) {
  constexpr unsigned held = Shape::held;
  extern __shared__ double memory[];
  auto& exchange = *reinterpret_cast<Exchange<T, Shape>*>(memory);
  T* const shared = reinterpret_cast<T*>(&exchange + 1);
  const unsigned n = solution.extent(1);
  const unsigned first = Cluster::rank() * Shape::numbers;  // of the block

  T r[held], y[held]{}, z[held]{};
  deal_out(r_from_1, first, shared, r);
  // An infinite number, which must fail in its own step, would make NaN of the zeros before that.
  constexpr T most = std::numeric_limits<T>::max();
  for (T& number : r) number = max(-most, min(number, most));
  if (first + threadIdx.x == 0) z[0] = 1;
  exchange.prepare();
  exchange.wait();  // before others' shared memory is written, they must have started

  T alpha = 0, beta = 1;
  for (unsigned k = 0; k < n; ++k) {
    T even = 0, odd = 0;
    for (unsigned m = 0; m < held; m += 2) {
      even += r[m] * z[m];
      odd += r[m + 1] * z[m + 1];
    }
    exchange.send(k, sum_of_lanes(even + odd), {y[held - 1], z[held - 1]});
    Pair<T> left{__shfl_up_sync(all_lanes, y[held - 1], 1),
                 __shfl_up_sync(all_lanes, z[held - 1], 1)};
    beta *= 1 - alpha * alpha;
    const T reciprocal = here(1 / beta);
    exchange.wait();

    if (threadIdx.x % warp_size == 0) left = exchange.left[k % 2][threadIdx.x / warp_size];
    alpha = quotient(-exchange.sum(k), beta, reciprocal);
    if (threadIdx.x == 0 && k - first < Shape::numbers) shared[k - first] = alpha;
    for (unsigned m = held; m-- > 0;) {
      const Pair<T> before = m > 0 ? Pair<T>{y[m - 1], z[m - 1]} : left;
      y[m] += alpha * z[m];
      z[m] = before.z + alpha * before.y;
    }
  }

  __syncthreads();
  collect(shared, Shape::numbers, first, solution.row(1));
  __syncthreads();
  for (unsigned m = 0; m < held; ++m) shared[threadIdx.x * held + m] = y[m];
  __syncthreads();
  collect(shared, Shape::numbers, first, solution.row(0));
}
// [solve_on_chip]

// [launch]
template <typename T>
using OnChip = staircase::ClusterLaunch<View<const T, 1>, View<T, 2>>;

/// The launch of solve_on_chip() for a shape.
template <typename T, typename Shape>
OnChip<T> on_chip() {
  const std::size_t bytes = sizeof(Exchange<T, Shape>) + Shape::numbers * sizeof(T);
  return {solve_on_chip<T, Shape>, Shape::blocks, Shape::threads, bytes};
}
// [launch]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t n = problem.n;
  staircase::require_clusters();

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());

  timeline.begin("kernels");
  View<const T, 1> r = device_r;
  View<T, 2> result = device_solution;
  const View<const T, 1> r_from_1(r.data() + 1, {n});
  with_shape(n, [&](auto shape) {
    OnChip<T> launch = on_chip<T, decltype(shape)>();
    launch.require_at_once();
    launch(1, r_from_1, result);
  });
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_solution.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(
      argc, argv,
      {
          .title = "Persistent",
          .idea = "One kernel for all steps, rows in registers",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = durbin_levinson::solve<double>,
          .solve_f32 = durbin_levinson::solve<float>,
      });
}
