/// \file
/// Changed: a persistent kernel executes all steps on one cluster. In addition to y, the threads
///          keep the row z, which is y in reverse order. A thread thus needs only one element of
///          each row from its left neighbour. The update and the next inner product are fused into
///          one pass with one barrier after it.
/// Legal:   z follows the same recursion. Between two barriers, data are sent to one buffer and
///          read from the other.
/// Expect:  the critical path of a step is the limit: sum of a warp, barrier, sum of the warps.
/// Run:     ./climb durbin_levinson --stages 10,11
/// Next:    12_schur uses a recursion without inner products.

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
  T part[2][Shape::blocks * Shape::warps];  // partial sums of all warps of the cluster
  Left<T, Shape> left;

  /// Sends the partial sum of this warp to all blocks, and this warp's last pair to the next warp.
  __device__ void send(unsigned step, T sum, Pair<T> last) {
    const unsigned lane = threadIdx.x % warp_size, warp = own_warp<Shape>();
    if (lane < Shape::blocks) *Cluster::of_block(&part[step % 2][warp], lane) = sum;
    left.send(step, warp, last);
  }
};
// [exchange]

// [solve_on_chip]
/// The shared memory of a block.
template <typename T, typename Shape>
using Memory = Shared<Exchange<T, Shape>, T, Shape>;

/// Executes all steps on one cluster. The row z is y of order k in reverse order, followed by the 1
/// that precedes y. Element i of z is therefore y(k - 1 - i) for i < k and 1 for i = k.
template <typename T, typename Shape>
__global__ void __launch_bounds__(Shape::threads)
    solve_on_chip(View<const T, 1> r_from_1, View<T, 2> solution) {
  constexpr unsigned held = Shape::held;
  extern __shared__ double memory[];
  auto& [exchange, shared] = *reinterpret_cast<Memory<T, Shape>*>(memory);
  const unsigned n = solution.extent(1);
  const unsigned first = Cluster::rank() * Shape::numbers;  // first element of the block

  T r[held], y[held]{}, z[held]{};
  distribute(r_from_1, first, shared, r);
  make_finite(r);
  if (first + threadIdx.x == 0) z[0] = 1;
  exchange.left.prepare();
  wait_for_all<Shape>();  // a block must have started before others write into its shared memory

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
    wait_for_all<Shape>();

    if (threadIdx.x % warp_size == 0) left = exchange.left.of_warp[k % 2][threadIdx.x / warp_size];
    alpha = quotient(-sum_of(exchange.part[k % 2]), beta, reciprocal);
    if (threadIdx.x == 0 && k - first < Shape::numbers) shared[k - first] = alpha;
    for (unsigned m = held; m-- > 0;) {
      const Pair<T> before = m > 0 ? Pair<T>{y[m - 1], z[m - 1]} : left;
      y[m] += alpha * z[m];
      z[m] = before.z + alpha * before.y;
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
  with_shape(n, [&](auto shape) { on_chip<T, decltype(shape)>().once(r_from_1, device_solution); });
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
                                        .title = "Persistent kernel",
                                        .idea = "Keep rows in registers of a persistent kernel",
                                        .needs = staircase::needs_clusters,
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
