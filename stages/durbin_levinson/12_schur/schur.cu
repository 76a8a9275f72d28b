/// \file
/// Changed: the Schur algorithm carries a second sequence of pairs, which starts as the
///          autocorrelations, through the same recursion as y. The reflection coefficient of a step
///          is the quotient -y / z of the leading pair (y, z). As y grows, this sequence shrinks,
///          so both share a row of n pairs. r is no longer stored.
/// Legal:   the two sequences never overlap: Schur's sequence begins at position k, after the end
///          of y. The warp that has the leading pair sends one element instead of a sum.
/// Expect:  the barrier is the limit; the two sums of stage 11 are no longer on the critical path.
/// Run:     ./climb durbin_levinson --stages 11,12
/// Next:    13_blocked_schur computes 64 reflection coefficients between two barriers.

#include "../shapes.hpp"

namespace durbin_levinson {

using staircase::check;
using staircase::Cluster;
using staircase::DeviceArray;
using staircase::View;

// [exchange]
/// The data that the warps of a cluster exchange, in the shared memory of each block. Even and odd
/// steps use separate buffers, so a thread can write one while another thread reads the other.
template <typename T, typename Shape>
struct Exchange {
  T leading[2];  // element y of the leading pair, for even and odd steps
  Left<T, Shape> left;

  /// If this warp has the element at position `step` of row y, sends this element to all blocks.
  __device__ void send(unsigned step, T number) {
    const unsigned lane = threadIdx.x % warp_size, owner = step / Shape::held;
    if (owner / warp_size != own_warp<Shape>()) return;
    number = __shfl_sync(all_lanes, number, owner % warp_size);
    if (lane < Shape::blocks) *Cluster::of_block(&leading[step % 2], lane) = number;
  }
};
// [exchange]

// [solve_on_chip]
/// The shared memory of a block.
template <typename T, typename Shape>
using Memory = Shared<Exchange<T, Shape>, T, Shape>;

/// Executes all steps on one cluster. In step k, pair i consists of y(i) and y(k - 1 - i) if i < k.
/// Otherwise, the pair belongs to Schur's sequence.
template <typename T, typename Shape>
__global__ void __launch_bounds__(Shape::threads)
    solve_on_chip(View<const T, 1> r, View<const T, 1> r_from_1, View<T, 2> solution) {
  constexpr unsigned held = Shape::held;
  extern __shared__ double memory[];
  auto& [exchange, shared] = *reinterpret_cast<Memory<T, Shape>*>(memory);
  const unsigned n = solution.extent(1);
  const unsigned first = Cluster::rank() * Shape::numbers;  // first element of the block

  T y[held], z[held];
  distribute(r_from_1, first, shared, y);
  distribute(r, first, shared, z);
  exchange.left.prepare();
  wait_for_all<Shape>();  // a block must have started before others write into its shared memory

  T alpha = 0, beta = 1;
  T leading = y[0];  // the next element of this thread that will lead
  for (unsigned k = 0; k < n; ++k) {
    exchange.send(k, leading);
    exchange.left.send(k, own_warp<Shape>(), {y[held - 1], z[held - 1]});
    Pair<T> left{__shfl_up_sync(all_lanes, y[held - 1], 1),
                 __shfl_up_sync(all_lanes, z[held - 1], 1)};
    beta *= 1 - alpha * alpha;
    const T reciprocal = here(1 / beta);
    wait_for_all<Shape>();

    if (threadIdx.x % warp_size == 0) left = exchange.left.of_warp[k % 2][threadIdx.x / warp_size];
    alpha = quotient(-exchange.leading[k % 2], beta, reciprocal);
    if (threadIdx.x == 0 && k - first < Shape::numbers) shared[k - first] = alpha;
    // Position k passes from Schur's sequence to y, which gets a new element there.
    const unsigned at = k - first - threadIdx.x * held;
    for (unsigned m = held; m-- > 0;) {
      const Pair<T> before = m > 0 ? Pair<T>{y[m - 1], z[m - 1]} : left;
      const T number = y[m] + alpha * z[m];
      y[m] = m == at ? alpha : number;
      z[m] = before.z + alpha * before.y;
      if (m == at + 1) leading = number;
    }
  }

  collect_all(shared, Shape::numbers, first, y, solution);
}
// [solve_on_chip]

// [launch]
/// Describes the launch of solve_on_chip() for a shape.
template <typename T, typename Shape>
auto on_chip() {
  return launch_of<Memory<T, Shape>, Shape>(solve_on_chip<T, Shape>);
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
  const View<const T, 1> r_from_1(device_r.data() + 1, {n});
  with_shape(n, [&](auto shape) {
    on_chip<T, decltype(shape)>().once(device_r, r_from_1, device_solution);
  });
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_solution.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Schur",
                                        .idea = "Replace inner products by Schur's recursion",
                                        .needs = staircase::needs_clusters,
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
