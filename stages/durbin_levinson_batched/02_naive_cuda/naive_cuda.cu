/// \file
/// From:    00_original
/// Changed: the loop over systems becomes the grid of threads; the arrays are in device memory.
/// Legal:   systems are independent, and the operations of each system keep their order.
/// Expect:  memory is the limit, because neighbouring threads access rows that are far apart.
/// Run:     ./climb durbin_levinson_batched --stages 00-02
/// Next:    03_register_resident keeps y in registers and r in shared memory.

#include "../durbin_levinson_batched.hpp"

namespace durbin_levinson_batched {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [solve_systems]
/// Solves one system per thread by Durbin's recursion. The solutions of all orders are computed in
/// place, in the row of the final solution.
template <typename T>
__global__ void solve_systems(View<const T, 2> r, View<T, 3> solution) {
  const unsigned s = blockIdx.x * blockDim.x + threadIdx.x, n = solution.extent(2);
  if (s >= solution.extent(0)) return;
  T beta = 1;
  for (unsigned k = 0; k < n; ++k) {
    T sum = r(s, k + 1);
    for (unsigned i = 0; i < k; ++i) sum += r(s, k - i) * solution(s, 0, i);
    const T alpha = -sum / beta;
    for (unsigned i = 0; 2 * i < k; ++i) {
      const T low = solution(s, 0, i), high = solution(s, 0, k - 1 - i);
      solution(s, 0, i) = low + alpha * high;
      solution(s, 0, k - 1 - i) = high + alpha * low;
    }
    solution(s, 0, k) = solution(s, 1, k) = alpha;
    beta *= 1 - alpha * alpha;
  }
}
// [solve_systems]

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
  constexpr unsigned threads = 128;
  const unsigned systems = problem.systems;
  solve_systems<T><<<(systems - 1) / threads + 1, threads>>>(r, y_and_alpha);
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
                                                .title = "Naive CUDA",
                                                .idea = "Give each system a thread",
                                                .solve_f64 = durbin_levinson_batched::solve<double>,
                                                .solve_f32 = durbin_levinson_batched::solve<float>,
                                            });
}
