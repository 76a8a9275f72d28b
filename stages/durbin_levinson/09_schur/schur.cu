/// \file
/// Changed: instead of y alone, a second sequence of pairs goes through the same recursion, that of
///          Schur, which begins with the autocorrelations. The reflection coefficient of a step is
///          the quotient of one of its pairs. Behind it y grows, before it the autocorrelations
///          shrink, so that both share a row of n pairs. r is no longer kept.
/// Legal:   the two sequences never meet: where one ends the other begins. Instead of a sum one
///          number is sent, by the warp that has it.
/// Expect:  bound by the barrier; 08's two sums are gone from the chain of a step.
/// Run:     ./climb durbin_levinson --stages 08,09
/// Next:    10_blocked_schur finds many reflection coefficients between two barriers.

#include "../shapes.hpp"

#include <staircase/cluster.hpp>

namespace durbin_levinson {

using staircase::check;
using staircase::Cluster;
using staircase::DeviceArray;
using staircase::View;

// [exchange]
/// What the warps of a cluster tell each other, in each block's shared memory. There is a buffer
/// for even steps and one for odd ones: one is written while the other may still be read.
template <typename T, typename Shape>
struct Exchange {
  static constexpr unsigned warps = Shape::warps, parts = Shape::blocks * warps;

  T leading[2];            // the number at which the step has come
  Pair<T> left[2][warps];  // of each warp of the block

  /// Left of all numbers lies the 1 in front of y.
  __device__ void prepare() {
    if (Cluster::rank() == 0 && threadIdx.x < 2) left[threadIdx.x][0] = {1, 0};
  }

  /// Sends the number at position `step` of the row y to all blocks, if this warp has it.
  __device__ void send_leading(unsigned step, T number) {
    const unsigned lane = threadIdx.x % warp_size, owner = step / Shape::held;
    const unsigned warp = Cluster::rank() * warps + threadIdx.x / warp_size;
    if (owner / warp_size != warp) return;
    number = __shfl_sync(all_lanes, number, owner % warp_size);
    if (lane < Shape::blocks) *Cluster::of_block(&leading[step % 2], lane) = number;
  }

  /// Sends this warp's last numbers to the warp on its right.
  __device__ void send_last(unsigned step, Pair<T> last) {
    const unsigned right = Cluster::rank() * warps + threadIdx.x / warp_size + 1;
    if (threadIdx.x % warp_size == warp_size - 1 && right < parts)
      *Cluster::of_block(&left[step % 2][right % warps], right / warps) = last;
  }

  /// Waits until all warps have sent.
  __device__ static void wait() {
    if constexpr (Shape::blocks > 1)
      Cluster::sync();
    else
      __syncthreads();
  }
};
// [exchange]

// [solve_on_chip]
/// All steps on one cluster. In step k, element i of the rows belongs to the sequence of y if i <
/// k: y(i) and y(k - 1 - i); and to that of Schur if i >= k.
template <typename T, typename Shape>
__global__ void __launch_bounds__(Shape::threads)
    solve_on_chip(View<const T, 1> r, View<const T, 1> r_from_1, View<T, 2> solution) {
  constexpr unsigned held = Shape::held;
  extern __shared__ double memory[];
  auto& exchange = *reinterpret_cast<Exchange<T, Shape>*>(memory);
  T* const shared = reinterpret_cast<T*>(&exchange + 1);
  const unsigned n = solution.extent(1);
  const unsigned first = Cluster::rank() * Shape::numbers;  // of the block

  T y[held], z[held];
  deal_out(r_from_1, first, shared, y);
  deal_out(r, first, shared, z);
  exchange.prepare();
  exchange.wait();  // before others' shared memory is written, they must have started

  T alpha = 0, beta = 1;
  T leading = y[0];  // of this thread's numbers the one that the steps come to next
  for (unsigned k = 0; k < n; ++k) {
    exchange.send_leading(k, leading);
    exchange.send_last(k, {y[held - 1], z[held - 1]});
    Pair<T> left{__shfl_up_sync(all_lanes, y[held - 1], 1),
                 __shfl_up_sync(all_lanes, z[held - 1], 1)};
    beta *= 1 - alpha * alpha;
    const T reciprocal = here(1 / beta);
    exchange.wait();

    if (threadIdx.x % warp_size == 0) left = exchange.left[k % 2][threadIdx.x / warp_size];
    alpha = quotient(-exchange.leading[k % 2], beta, reciprocal);
    if (threadIdx.x == 0 && k - first < Shape::numbers) shared[k - first] = alpha;
    // Schur's sequence ends at position k, where y has a new number.
    const unsigned at = k - first - threadIdx.x * held;
    for (unsigned m = held; m-- > 0;) {
      const Pair<T> before = m > 0 ? Pair<T>{y[m - 1], z[m - 1]} : left;
      const T number = y[m] + alpha * z[m];
      y[m] = m == at ? alpha : number;
      z[m] = before.z + alpha * before.y;
      if (m == at + 1) leading = number;
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
using OnChip = staircase::ClusterLaunch<View<const T, 1>, View<const T, 1>, View<T, 2>>;

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
    launch(1, r, r_from_1, result);
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
          .title = "Schur",
          .idea = "A recursion without inner products",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = durbin_levinson::solve<double>,
          .solve_f32 = durbin_levinson::solve<float>,
      });
}
