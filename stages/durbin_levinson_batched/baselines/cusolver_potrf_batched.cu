/// \file
/// Baseline: cuSOLVER's batched Cholesky factorisation of the dense matrices, and its batched
/// solve.
///
/// A factorisation takes n³ / 3 operations and n² elements of memory, whereas Durbin's recursion
/// takes 2 n² operations and n elements. A kernel stores the matrices before the factorisation, and
/// a separate phase computes the reflection coefficients from y.

#include "../durbin_levinson_batched.hpp"

#include <algorithm>
#include <staircase/cusolver.hpp>
#include <vector>

namespace durbin_levinson_batched {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr cublasFillMode_t part = CUBLAS_FILL_MODE_LOWER;

// [factorise]
inline void factorise(cusolverDnHandle_t handle, int n, double** matrices, int* failed, int count) {
  check(cusolverDnDpotrfBatched(handle, part, n, matrices, n, failed, count));
}
inline void factorise(cusolverDnHandle_t handle, int n, float** matrices, int* failed, int count) {
  check(cusolverDnSpotrfBatched(handle, part, n, matrices, n, failed, count));
}

inline void substitute(cusolverDnHandle_t handle, int n, double** matrices, double** sides,
                       int* status, int count) {
  check(cusolverDnDpotrsBatched(handle, part, n, 1, matrices, n, sides, n, status, count));
}
inline void substitute(cusolverDnHandle_t handle, int n, float** matrices, float** sides,
                       int* status, int count) {
  check(cusolverDnSpotrsBatched(handle, part, n, 1, matrices, n, sides, n, status, count));
}
// [factorise]

// [fill]
/// Stores the leading `n` equations of each system: the lower triangle of T by columns, -r in y,
/// and the addresses of both. A thread block stores one system.
template <typename T>
__global__ void fill(View<const T, 2> r, unsigned n, View<T, 2> matrices, View<T, 2> y,
                     View<T*, 1> matrix_of, View<T*, 1> y_of) {
  for (unsigned s = blockIdx.x; s < r.extent(0); s += gridDim.x) {
    for (unsigned k = threadIdx.x; k < n * n; k += blockDim.x)
      if (k % n >= k / n) matrices(s, k) = r(s, k % n - k / n);
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x) y(s, k) = -r(s, k + 1);
    if (threadIdx.x == 0) {
      matrix_of(s) = &matrices(s, 0);
      y_of(s) = &y(s, 0);
    }
  }
}
// [fill]

// [step_down]
/// Executes the recursion in reverse, one system per thread: alpha_k is the last element of y of
/// order k. Undoing the step to order k gives y of order k - 1. The steps run in f64, because their
/// rounding errors add up. `scratch` has the shape of `y`.
template <typename T>
__global__ void step_down(View<const T, 2> y, View<double, 2> scratch, View<T, 3> solution) {
  const unsigned s = blockIdx.x * blockDim.x + threadIdx.x, n = y.extent(1);
  if (s >= y.extent(0)) return;
  for (unsigned k = 0; k < n; ++k) {
    solution(s, 0, k) = y(s, k);
    scratch(s, k) = y(s, k);
  }
  for (unsigned k = n; k-- > 0;) {
    const double alpha = scratch(s, k), scale = 1 / (1 - alpha * alpha);
    solution(s, 1, k) = static_cast<T>(alpha);
    for (unsigned i = 0; 2 * i < k; ++i) {
      const double low = scratch(s, i), high = scratch(s, k - 1 - i);
      scratch(s, i) = (low - alpha * high) * scale;
      scratch(s, k - 1 - i) = (high - alpha * low) * scale;
    }
  }
}
// [step_down]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int systems = problem.systems, n = problem.n;
  const staircase::CusolverHandle handle;
  DeviceArray<T, 2> r(systems, n + 1), matrices(systems, std::size_t(n) * n), y(systems, n);
  DeviceArray<double, 2> scratch(systems, n);
  DeviceArray<T, 3> y_and_alpha(systems, 2, n);
  DeviceArray<T*, 1> matrix_of(systems), y_of(systems);
  DeviceArray<int, 1> device_failed(systems), status(1);
  std::vector<int> failed(systems);  // by system: first pivot that is not positive, counted from 1
  Solution<T> solution(systems, 2, n);
  const staircase::Elements<T> numbers = rounded<T>(problem);

  timeline.begin("copy in");
  r.copy_from(numbers.data());

  timeline.begin("kernels");
  constexpr unsigned threads = 128;
  fill<T><<<std::min(systems, 65535), threads>>>(r, n, matrices, y, matrix_of, y_of);
  check_launch();
  factorise(handle, n, matrix_of.data(), device_failed.data(), systems);
  substitute(handle, n, matrix_of.data(), y_of.data(), status.data(), systems);
  check(cudaDeviceSynchronize());

  timeline.begin("step down");
  step_down<T><<<staircase::ceil_div(systems, threads), threads>>>(y, scratch, y_and_alpha);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  y_and_alpha.copy_to(solution.data());
  device_failed.copy_to(failed.data());
  const auto first =
      std::find_if(failed.begin(), failed.end(), [](int index) { return index > 0; });
  if (first != failed.end()) {
    // The harness reports the first system that is not positive definite, and its first coefficient
    // that is too large. For order `*first` - 1, the matrix is still positive definite.
    Problem leading;
    leading.systems = 1;
    leading.n = *first - 1;
    const auto s = static_cast<std::size_t>(first - failed.begin());
    const double* const row = problem.r.data() + s * (n + 1);
    leading.r.assign(row, row + leading.n + 1);
    const Solution<T> coefficients = solve<T>(leading, timeline);
    for (int k = 0; k < leading.n; ++k) solution(s, 1, k) = coefficients(0, 1, k);
  }
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(
      argc, argv,
      {
          .title = "cusolverDnPotrfBatched, PotrsBatched",
          .idea = "Factorise dense matrices, batched cuSOLVER",
          .solve_f64 = durbin_levinson_batched::solve<double>,
          .solve_f32 = durbin_levinson_batched::solve<float>,
      });
}
