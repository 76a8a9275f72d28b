/// \file
/// Changed: the loop over the rows below is a kernel with one thread per row, launched once per
///          column. The first thread also stores the unknown.
/// Legal:   a thread writes only its row's element of `rest`. Kernels of a stream run one after the
///          other, so element i is complete when kernel i divides it.
/// Expect:  the program takes the time of n launches, because each kernel is shorter than a launch.
/// From:    02_openmp
/// Run:     ./climb triangular_solve --stages 02,04
/// Next:    05_blocked_cuda launches two kernels for 64 columns.

#include "../triangular_solve.hpp"

namespace triangular_solve {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned threads = 256;  // per thread block

// [eliminate]
/// Computes unknown i and subtracts its contribution from all equations below.
template <typename T>
__global__ void eliminate(View<const T, 2> l, View<T, 1> rest, View<T, 1> x, std::size_t i) {
  const std::size_t n = l.extent(0), j = i + 1 + column();
  const T computed = rest(i) / l(i, i);
  if (column() == 0) x(i) = computed;
  if (j < n) rest(j) -= l(j, i) * computed;
}
// [eliminate]

// [substitute]
/// Forward substitution column by column: one launch per column.
template <typename T>
void substitute(View<const T, 2> l, View<T, 1> rest, View<T, 1> x) {
  const std::size_t n = l.extent(0);
  for (std::size_t i = 0; i < n; ++i) {
    eliminate<T><<<blocks(threads, n - i), threads>>>(l, rest, x, i);
    check_launch();
  }
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<T, 2> l(problem.n, problem.n);
  DeviceArray<T, 1> rest(problem.n), device_x(problem.n);
  Solution<T> x(problem.rhs, problem.n);

  timeline.begin("copy in");
  l.copy_from(problem.l<T>().data());
  rest.copy_from(problem.b<T>().data());

  timeline.begin("kernels");
  substitute<T>(l, rest, device_x);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "Naive CUDA",
                                         .idea = "Launch one kernel per column",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
