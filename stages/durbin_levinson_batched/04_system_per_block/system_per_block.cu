/// \file
/// From:    02_naive_cuda
/// Changed: each system has a thread block, and its rows are in shared memory if they fit. A thread
///          updates a pair of y and immediately adds the pair's terms to the sum of the next order.
/// Legal:   pairs of y are disjoint, and the thread that writes a pair also reads it for the sum;
///          the terms of the sum have another order.
/// Expect:  shared memory is the limit for high orders, and the dependency chain of an order for
///          low orders.
/// Run:     ./climb durbin_levinson_batched --stages 02,04
/// Next:    05_system_per_subwarp solves each system in the registers of a few lanes.

#include "../durbin_levinson_batched.hpp"

#include <algorithm>

namespace durbin_levinson_batched {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned warp = 32;
constexpr unsigned unknowns_of_thread = 16;
constexpr unsigned most_threads = 256;  // per block
constexpr unsigned sums_of_block = 2 * most_threads / warp;
// [sizes]

// [sum_over_block]
/// Returns the sum of `part` over all threads of the block to every thread. `sums` has one element
/// per warp.
template <typename T>
__device__ T sum_over_block(T part, T* sums) {
  for (unsigned distance = warp / 2; distance > 0; distance /= 2)
    part += __shfl_xor_sync(~0u, part, distance);
  if (threadIdx.x % warp == 0) sums[threadIdx.x / warp] = part;
  __syncthreads();
  T sum = 0;
  for (unsigned w = 0; w < blockDim.x / warp; ++w) sum += sums[w];
  return sum;
}
// [sum_over_block]

// [solve_in_block]
/// Solves one system per block by Durbin's recursion. A step computes y of order k and, in the same
/// pass, the sum for alpha_(k+1). r and y are in shared memory or, if they do not fit, in device
/// memory.
template <typename T, bool on_chip>
__global__ void solve_in_block(View<const T, 2> rows_of_r, View<T, 3> solution) {
  extern __shared__ double memory[];
  __shared__ T sums[sums_of_block];
  const unsigned n = solution.extent(2), s = blockIdx.x;
  const T* r = &rows_of_r(s, 0);
  T* y = &solution(s, 0, 0);
  if constexpr (on_chip) {
    T* r_on_chip = reinterpret_cast<T*>(memory);
    for (unsigned i = threadIdx.x; i <= n; i += blockDim.x) r_on_chip[i] = r[i];
    r = r_on_chip;
    y = r_on_chip + n + 1;
    __syncthreads();
  }

  T alpha = -r[1], beta = 1;
  for (unsigned k = 1; k <= n; ++k) {
    T part = 0;
    for (unsigned i = threadIdx.x; 2 * i + 1 < k; i += blockDim.x) {
      const unsigned j = k - 2 - i;
      const T low = y[i], high = y[j];
      y[i] = low + alpha * high;
      y[j] = high + alpha * low;
      part += r[k - i] * y[i];
      if (i != j) part += r[k - j] * y[j];
    }
    if (threadIdx.x == 0) {
      y[k - 1] = solution(s, 1, k - 1) = alpha;
      part += r[1] * alpha + (k < n ? r[k + 1] : 0);
    }
    beta *= 1 - alpha * alpha;
    alpha = -sum_over_block(part, sums + k % 2 * (sums_of_block / 2)) / beta;
  }

  if constexpr (on_chip)
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) solution(s, 0, i) = y[i];
}
// [solve_in_block]

// [launch]
/// Solves all systems, one block each; r and y of a system are in shared memory if they fit.
template <typename T>
void solve_all(unsigned systems, unsigned n, const DeviceArray<T, 2>& r,
               const DeviceArray<T, 3>& solution) {
  const std::size_t bytes = (2 * std::size_t{n} + 1) * sizeof(T);
  const unsigned threads = std::min((n / (warp * unknowns_of_thread) + 1) * warp, most_threads);
  if (bytes + sums_of_block * sizeof(T) <= shared_memory()) {
    staircase::allow_shared_memory(solve_in_block<T, true>, bytes);
    solve_in_block<T, true><<<systems, threads, bytes>>>(r, solution);
  } else {
    solve_in_block<T, false><<<systems, threads>>>(r, solution);
  }
}
// [launch]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<T, 2> r(problem.systems, problem.n + 1);
  DeviceArray<T, 3> y_and_alpha(problem.systems, 2, problem.n);
  Solution<T> solution(problem.systems, 2, problem.n);
  const staircase::Elements<T> numbers = rounded<T>(problem);

  timeline.begin("copy in");
  r.copy_from(numbers.data());

  timeline.begin("kernels");
  solve_all<T>(problem.systems, problem.n, r, y_and_alpha);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  y_and_alpha.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(argc, argv,
                                            {
                                                .title = "System per block",
                                                .idea = "Give each system a thread block",
                                                .solve_f64 = durbin_levinson_batched::solve<double>,
                                                .solve_f32 = durbin_levinson_batched::solve<float>,
                                            });
}
