/// \file
/// Baseline: cuSOLVER solves the equations with a Cholesky factorisation, as for any positive
/// definite matrix.
///
/// The CUDA libraries have no solver for Toeplitz matrices. A kernel stores the lower triangle of T
/// in column-major order, for which cuSOLVER is fastest. A separate phase on the host computes the
/// reflection coefficients from y.

#include "../step_down.hpp"

#include <algorithm>
#include <cmath>
#include <staircase/cusolver.hpp>
#include <utility>

namespace durbin_levinson {

using staircase::Array;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::rows;

// [fill]
/// Sets the lower triangle of T, stored by columns: row j of `columns_of_t` is column j of T.
__global__ void fill(View<const double, 1> r, View<double, 2> columns_of_t) {
  const unsigned n = columns_of_t.extent(0);
  for (unsigned j = row(); j < n; j += rows())
    for (unsigned i = j + column(); i < n; i += columns()) columns_of_t(j, i) = r(i - j);
}
// [fill]

// [factorise]
/// Calls cuSOLVER for one matrix size, and owns the workspace of the calls.
class Solver {
 public:
  explicit Solver(const DeviceArray<double, 2>& t)
      : t_(t), device_room_(bytes(t).first), host_room_(bytes(t).second), info_(1) {}

  /// Solves T y = -r for the leading `order` unknowns; `y` contains -r before the call. Returns the
  /// order of the largest leading submatrix of T that is positive definite.
  std::size_t solve(const DeviceArray<double, 1>& r, const DeviceArray<double, 1>& y,
                    std::int64_t order) {
    const std::int64_t stride = t_.extent(0);
    fill<<<staircase::blocks({32, 8}, stride, stride), dim3(32, 8)>>>(r, t_);
    check_launch();
    check(cusolverDnXpotrf(handle_, parameters_, part, order, CUDA_R_64F, t_.data(), stride,
                           CUDA_R_64F, device_room_.data(), device_room_.extent(0),
                           host_room_.data(), host_room_.size(), info_.data()));
    int failed = 0;  // index of the first pivot that is not positive, counted from 1
    info_.copy_to(&failed);
    if (failed > 0) return failed - 1;
    check(cusolverDnXpotrs(handle_, parameters_, part, order, 1, CUDA_R_64F, t_.data(), stride,
                           CUDA_R_64F, y.data(), order, info_.data()));
    check(cudaDeviceSynchronize());
    return order;
  }

 private:
  static constexpr cublasFillMode_t part = CUBLAS_FILL_MODE_LOWER;

  /// The sizes in bytes of the workspaces that cuSOLVER needs on the device and on the host.
  std::pair<std::size_t, std::size_t> bytes(const DeviceArray<double, 2>& t) const {
    std::pair<std::size_t, std::size_t> sizes;
    const std::int64_t n = t.extent(0);
    check(cusolverDnXpotrf_bufferSize(handle_, parameters_, part, n, CUDA_R_64F, t.data(), n,
                                      CUDA_R_64F, &sizes.first, &sizes.second));
    return sizes;
  }

  staircase::CusolverHandle handle_;
  staircase::CusolverParameters parameters_;
  const DeviceArray<double, 2>& t_;
  DeviceArray<unsigned char, 1> device_room_;
  staircase::Elements<unsigned char> host_room_;
  DeviceArray<int, 1> info_;
};
// [factorise]

// [solve]
Solution<double> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const std::int64_t n = problem.n;
  Solution<double> solution(2, n);
  Array<double, 1> y(n);
  DeviceArray<double, 2> t(n, n);
  DeviceArray<double, 1> r(n + 1), device_y(n);
  Solver solver(t);

  timeline.begin("copy in");
  r.copy_from(problem.r.data());
  for (std::int64_t i = 0; i < n; ++i) y(i) = -problem.r[i + 1];
  device_y.copy_from(y.data());

  timeline.begin("kernels");
  std::size_t order = solver.solve(r, device_y, n);

  timeline.begin("copy out");
  device_y.copy_to(solution.data());

  timeline.begin("step down");
  std::copy_n(solution.data(), n, y.data());
  if (order < y.extent(0) || !(std::abs(y(order - 1)) < 1)) {
    // The coefficient of this order is the first that is too large, and its step cannot be undone.
    // The coefficient stays NaN, its initial value, and the harness reports it.
    --order;
    for (std::size_t i = 0; i < order; ++i) y(i) = -problem.r[i + 1];
    device_y.copy_from(y.data());
    if (order > 0) solver.solve(r, device_y, order);
    device_y.copy_to(y.data());
  }
  step_down({y.data(), {order}}, solution.row(1));
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "cusolverDnXpotrf, Xpotrs",
                                        .idea = "Factorise the dense matrix with cuSOLVER",
                                        .solve_f64 = durbin_levinson::solve,
                                    });
}
