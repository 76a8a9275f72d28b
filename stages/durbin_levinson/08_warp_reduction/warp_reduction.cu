/// \file
/// Changed: a warp adds with shuffles, and a block adds one value per warp. Each block of the next
///          kernel adds one value per block of the grid, always in the same order.
/// Legal:   the order of the additions changes only the rounding. The sum no longer depends on the
///          order in which blocks finish.
/// Expect:  the dependency chain of a step is shorter, with two barriers instead of eight; there
///          are as many launches as before.
/// Run:     ./climb durbin_levinson --stages 07,08
/// Next:    09_in_place_pairs reads each pair of elements once and computes both results.

#include "../durbin_levinson.hpp"

#include <utility>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned warp_size = 32;
constexpr unsigned block_size = 256;  // threads per block

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
/// Computes the partial sums of r(k) y(0) + ... + r(1) y(k - 1), one per block.
template <typename T>
__global__ void inner_product(std::size_t k, View<const T, 1> r, View<const T, 1> y,
                              View<T, 1> parts) {
  const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
  const T part = sum_of_block(i < k ? r(k - i) * y(i) : T(0));
  if (threadIdx.x == 0) parts(blockIdx.x) = part;
}
// [inner_product]

// [update]
/// Computes the solution `next` of order k + 1 from y of order k. Every thread computes alpha and
/// beta.
template <typename T>
__global__ void update(std::size_t k, View<const T, 1> r, View<const T, 1> parts, View<T, 1> alpha,
                       View<T, 1> beta, View<const T, 1> y, View<T, 1> next) {
  const std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
  T sum = 0;
  for (unsigned b = threadIdx.x; b < blocks(k); b += block_size) sum += parts(b);
  sum = sum_of_block(sum);
  const T beta_k = k == 0 ? 1 : (1 - alpha(k - 1) * alpha(k - 1)) * beta(k - 1);
  const T alpha_k = -(r(k + 1) + sum) / beta_k;
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
  DeviceArray<T, 1> beta(n), parts(blocks(n)), other(n);
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());

  timeline.begin("kernels");
  const View<const T, 1> r = device_r;
  const View<T, 1> alpha = device_solution.row(1);
  View<T, 1> y = device_solution.row(0), next = other;
  if (n % 2 == 1) std::swap(y, next);  // so that the last of n steps writes to the solution
  for (std::size_t k = 0; k < n; ++k) {
    inner_product<T><<<blocks(k), block_size>>>(k, r, y, parts);
    check_launch();
    update<T><<<blocks(k), block_size>>>(k, r, parts, alpha, beta, y, next);
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
                                        .title = "Warp reduction",
                                        .idea = "Reduce with shuffles, in a fixed order",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
