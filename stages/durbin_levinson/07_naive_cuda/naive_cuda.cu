/// \file
/// From:    01_array_contraction
/// Changed: both loops over the row become kernels with a thread per element; the loop over the
///          steps stays on the host. The values that a step needs from the previous step, alpha and
///          beta, stay in GPU memory.
/// Legal:   kernels of one stream run one after the other; the order of the additions of a sum
///          changes only the rounding.
/// Expect:  launches limit the time: a step has two launches and hardly any work.
/// Run:     ./climb durbin_levinson --stages 00-07
/// Next:    08_warp_reduction adds without atomics and with fewer barriers.

#include "../durbin_levinson.hpp"

#include <utility>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned block_size = 256;  // threads per block

/// The number of thread blocks if each of the elements y(0) ... y(k) has one thread.
constexpr unsigned blocks(std::size_t k) { return k / block_size + 1; }

// [inner_product]
/// Adds r(k) y(0) + ... + r(1) y(k - 1) to sum(k), which must be zero before the launch.
template <typename T>
__global__ void inner_product(std::size_t k, View<const T, 1> r, View<const T, 1> y,
                              View<T, 1> sum) {
  __shared__ T products[block_size];
  const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
  products[threadIdx.x] = i < k ? r(k - i) * y(i) : 0;
  for (unsigned half = block_size / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) products[threadIdx.x] += products[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(&sum(k), products[0]);
}
// [inner_product]

// [update]
/// Computes the solution `next` of order k + 1 from y of order k. Every thread computes alpha and
/// beta.
template <typename T>
__global__ void update(std::size_t k, View<const T, 1> r, View<const T, 1> sum, View<T, 1> alpha,
                       View<T, 1> beta, View<const T, 1> y, View<T, 1> next) {
  const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
  const T beta_k = k == 0 ? 1 : (1 - alpha(k - 1) * alpha(k - 1)) * beta(k - 1);
  const T alpha_k = -(r(k + 1) + sum(k)) / beta_k;
  if (i < k) next(i) = y(i) + alpha_k * y(k - 1 - i);
  if (i == k) {
    beta(k) = beta_k;
    next(k) = alpha(k) = alpha_k;
  }
}
// [update]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t n = problem.n;

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<T, 1> beta(n), sum(n), other(n);
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());

  timeline.begin("kernels");
  check(cudaMemset(sum.data(), 0, n * sizeof(T)));
  const View<const T, 1> r = device_r;
  const View<T, 1> alpha = device_solution.row(1);
  View<T, 1> y = device_solution.row(0), next = other;
  if (n % 2 == 1) std::swap(y, next);  // so that the last of n steps writes to the solution
  for (std::size_t k = 0; k < n; ++k) {
    inner_product<T><<<blocks(k), block_size>>>(k, r, y, sum);
    check_launch();
    update<T><<<blocks(k), block_size>>>(k, r, sum, alpha, beta, y, next);
    check_launch();
    std::swap(y, next);
  }
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
                                        .title = "Naive CUDA",
                                        .idea = "Make each loop over the row a kernel",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
