/// \file
/// Changed: the update of y(i) needs y(k - 1 - i) and vice versa. The thread that has read both
///          elements also writes both, so the update has half as many threads, and works in place.
/// Legal:   no other thread reads the two elements; each result is computed as before.
/// Expect:  the update accesses an element twice instead of three times, in one row instead of two.
///          Launches still limit the time.
/// Run:     ./climb durbin_levinson --stages 08,09
/// Next:    10_graph launches 128 steps at once.

#include "../durbin_levinson.hpp"

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
/// Updates the solution of order k to order k + 1 in place. Every thread computes alpha and beta.
template <typename T>
__global__ void update(std::size_t k, View<const T, 1> r, View<const T, 1> parts, View<T, 1> alpha,
                       View<T, 1> beta, View<T, 1> y) {
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

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t n = problem.n;

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<T, 1> beta(n), parts(blocks(n));
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());

  timeline.begin("kernels");
  const View<const T, 1> r = device_r;
  const View<T, 1> y = device_solution.row(0), alpha = device_solution.row(1);
  for (std::size_t k = 0; k < n; ++k) {
    inner_product<T><<<blocks(k), block_size>>>(k, r, y, parts);
    check_launch();
    update<T><<<blocks(k / 2), block_size>>>(k, r, parts, alpha, beta, y);
    check_launch();
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
                                        .title = "In-place pairs",
                                        .idea = "Update pairs of elements in place",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
