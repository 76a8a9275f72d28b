/// \file
/// Changed: the launches of 128 steps are captured in a CUDA graph once, and the host launches the
///          graph once per 128 steps. All launches of the graph have the same arguments, so the
///          kernels read the index of the first step from GPU memory. Each grid is large enough for
///          the last step.
/// Legal:   the same kernels run in the same order; blocks without work return.
/// Expect:  the time of a graph node on the GPU is the limit instead of a launch by the host.
/// Run:     ./climb durbin_levinson --stages 09,10
/// Next:    11_persistent_kernel uses one kernel for all steps.

#include "../durbin_levinson.hpp"

#include <algorithm>
#include <staircase/graph.hpp>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned warp_size = 32;
constexpr unsigned block_size = 256;  // threads per block
constexpr std::size_t steps_of_graph = 128;

/// The number of thread blocks if each of the elements y(0) ... y(k) has one thread.
__host__ __device__ constexpr unsigned blocks(std::size_t k) { return k / block_size + 1; }

// [sums]
/// Returns the sum over the warp to every lane.
template <typename T>
__device__ T sum_of_warp(T value) {
  for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFF, value, distance);
  return value;
}

/// Returns the sum over the block to every thread.
template <typename T>
__device__ T sum_of_block(T value) {
  __shared__ T of_warp[block_size / warp_size];
  value = sum_of_warp(value);
  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = value;
  __syncthreads();
  T sum = 0;
  for (const T of_one : of_warp) sum += of_one;
  return sum;
}
// [sums]

// [inner_product]
/// Computes the partial sums of r(k) y(0) + ... + r(1) y(k - 1), one per block, with k = first(0) +
/// step.
template <typename T>
__global__ void inner_product(std::size_t step, View<const std::size_t, 1> first,
                              View<const T, 1> r, View<const T, 1> y, View<T, 1> parts) {
  const std::size_t k = first(0) + step;
  if (k >= y.extent(0) || blockIdx.x >= blocks(k)) return;
  const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
  const T part = sum_of_block(i < k ? r(k - i) * y(i) : T(0));
  if (threadIdx.x == 0) parts(blockIdx.x) = part;
}
// [inner_product]

// [update]
/// Updates the solution of order k to order k + 1 in place. Every thread computes alpha and beta.
template <typename T>
__global__ void update(std::size_t step, View<const std::size_t, 1> first, View<const T, 1> r,
                       View<const T, 1> parts, View<T, 1> alpha, View<T, 1> beta, View<T, 1> y) {
  const std::size_t k = first(0) + step;
  if (k >= y.extent(0) || blockIdx.x >= blocks(k / 2)) return;
  const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
  T sum = 0;
  for (unsigned b = threadIdx.x; b < blocks(k); b += block_size) sum += parts(b);
  sum = sum_of_block(sum);
  const T beta_k = k == 0 ? 1 : (1 - alpha(k - 1) * alpha(k - 1)) * beta(k - 1);
  const T alpha_k = -(r(k + 1) + sum) / beta_k;
  if (i < (k + 1) / 2) {
    const T front = y(i), back = y(k - 1 - i);  // in the middle, both are the same element
    y(i) = front + alpha_k * back;
    y(k - 1 - i) = back + alpha_k * front;
  }
  if (i == 0) {
    beta(k) = beta_k;
    y(k) = alpha(k) = alpha_k;
  }
}
// [update]

// [advance]
/// Adds the number of steps of the graph to first(0), in the last node of the graph.
__global__ void advance(View<std::size_t, 1> first, std::size_t steps) { first(0) += steps; }
// [advance]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t n = problem.n;

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<T, 1> beta(n), parts(blocks(n));
  DeviceArray<std::size_t, 1> first(1);
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());

  timeline.begin("graph");
  const std::size_t steps = std::min(n, steps_of_graph);
  const View<const T, 1> r = device_r;
  const View<T, 1> y = device_solution.row(0), alpha = device_solution.row(1);
  staircase::Graph graph;
  for (std::size_t step = 0; step < steps; ++step) {
    inner_product<T><<<blocks(n), block_size, 0, graph.stream()>>>(step, first, r, y, parts);
    check_launch();
    update<T>
        <<<blocks(n / 2), block_size, 0, graph.stream()>>>(step, first, r, parts, alpha, beta, y);
    check_launch();
  }
  advance<<<1, 1, 0, graph.stream()>>>(first, steps);
  check_launch();
  graph.instantiate();

  timeline.begin("kernels");
  check(cudaMemset(first.data(), 0, sizeof(std::size_t)));
  for (std::size_t k = 0; k < n; k += steps) graph.launch();
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
                                        .title = "Graph",
                                        .idea = "Capture 128 steps in a CUDA graph",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
