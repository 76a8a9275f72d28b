/// \file
/// Changed: the loop over rows and the nest over the elements to the right become two kernels,
///          which are launched once per column. A thread computes one element.
/// Legal:   a thread writes only its own element. The second kernel also reads column k below the
///          pivot, which it does not write. It stores the root of the pivot, because all threads of
///          the first kernel read the pivot. Kernels of a stream run one after the other.
/// Expect:  memory is the limit: for each column, all elements to its right are read and written.
/// From:    00_original
/// Run:     ./climb cholesky --stages 00,05
/// Next:    06_panel_and_update reads and writes these elements once per 256 columns.

#include "../cholesky.hpp"

namespace cholesky {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::row;
using staircase::View;

// [divide]
/// Divides column k by the root of its pivot.
template <typename T>
__global__ void divide(View<T, 2> l, unsigned k) {
  const unsigned i = k + 1 + column();
  if (i < l.extent(0)) l(i, k) /= sqrt(l(k, k));
}
// [divide]

// [update]
/// Subtracts the products of column k from all elements to its right, and stores the root of the
/// pivot.
template <typename T>
__global__ void update(View<T, 2> l, unsigned k) {
  const unsigned i = k + row(), j = k + column();
  if (i >= l.extent(0) || j > i) return;
  if (j > k)
    l(i, j) -= l(i, k) * l(j, k);
  else if (i == k)
    l(k, k) = sqrt(l(k, k));
}
// [update]

// [factorise]
constexpr dim3 threads(32, 8);  // per thread block

/// Right-looking: finishes each column and subtracts its products from all columns to its right.
template <typename T>
void factorise(View<T, 2> l) {
  const unsigned n = l.extent(0);
  for (unsigned k = 0; k < n; ++k) {
    divide<T><<<blocks(threads.x * threads.y, n - k), threads.x * threads.y>>>(l, k);
    check_launch();
    update<T><<<blocks(threads, n - k, n - k), threads>>>(l, k);
    check_launch();
  }
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<T, 2> device_l(problem.n, problem.n);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_from(problem.a<T>().data());

  timeline.begin("kernels");
  factorise<T>(device_l);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_l.copy_to(l.data());
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Naive CUDA",
                                 .idea = "Launch two kernels for each column",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
