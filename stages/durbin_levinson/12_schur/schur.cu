/// \file
/// Changed: instead of y alone, a second sequence of pairs goes through the same recursion, that of
///          Schur, which begins with the autocorrelations. The reflection coefficient of a step is
///          the quotient of one of its pairs. Behind it y grows, before it the autocorrelations
///          shrink, so that both share a row of n pairs. r is no longer kept.
/// Legal:   the two sequences never meet: where one ends the other begins. Instead of a sum one
///          number is sent, by the warp that has it.
/// Expect:  bound by the barrier; 11's two sums are gone from the chain of a step.
/// Run:     ./climb durbin_levinson --stages 11,12
/// Next:    13_blocked_schur finds many reflection coefficients between two barriers.

#include "../shapes.hpp"

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
  T leading[2];  // the number at which the step has come
  Left<T, Shape> left;

  /// Sends the number at position `step` of the row y to all blocks, if this warp has it.
  __device__ void send(unsigned step, T number) {
    const unsigned lane = threadIdx.x % warp_size, owner = step / Shape::held;
    if (owner / warp_size != own_warp<Shape>()) return;
    number = __shfl_sync(all_lanes, number, owner % warp_size);
    if (lane < Shape::blocks) *Cluster::of_block(&leading[step % 2], lane) = number;
  }
};
// [exchange]

// [solve_on_chip]
/// A block's shared memory.
template <typename T, typename Shape>
using Memory = Shared<Exchange<T, Shape>, T, Shape>;

/// All steps on one cluster. In step k, element i of the rows belongs to the sequence of y if i <
/// k: y(i) and y(k - 1 - i); and to that of Schur if i >= k.
template <typename T, typename Shape>
__global__ void __launch_bounds__(Shape::threads)
    solve_on_chip(View<const T, 1> r, View<const T, 1> r_from_1, View<T, 2> solution) {
  constexpr unsigned held = Shape::held;
  extern __shared__ double memory[];
  auto& [exchange, shared] = *reinterpret_cast<Memory<T, Shape>*>(memory);
  const unsigned n = solution.extent(1);
  const unsigned first = Cluster::rank() * Shape::numbers;  // of the block

  T y[held], z[held];
  deal_out(r_from_1, first, shared, y);
  deal_out(r, first, shared, z);
  exchange.left.prepare();
  wait_for_all<Shape>();  // before others' shared memory is written, they must have started

  T alpha = 0, beta = 1;
  T leading = y[0];  // of this thread's numbers the one that the steps come to next
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

  collect_all(shared, Shape::numbers, first, y, solution);
}
// [solve_on_chip]

// [launch]
/// The launch of solve_on_chip() for a shape.
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
                                        .idea = "A recursion without inner products",
                                        .needs = staircase::needs_clusters,
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
