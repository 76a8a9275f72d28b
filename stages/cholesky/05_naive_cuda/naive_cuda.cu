/// \file
/// Changed: the loop over rows and the nest over elements to the right are kernels, launched once
///          per column each; a thread has an element.
/// Legal:   a thread writes its own element only, and reads column k, which nobody writes then; the
///          root of a pivot is written by the second kernel, since all threads of the first one
///          read the pivot. Kernels of a stream run one after the other.
/// Expect:  everything to the right is read and written for each column: bound by memory.
/// From:    00_original
/// Run:     ./climb cholesky --stages 00,05
/// Next:    06_panel_and_update does so once for 256 columns.

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
/// Takes the products of column k off everything to its right, and the root of its pivot.
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
constexpr dim3 threads(32, 8);  // of a block

/// Column by column: once it is known, its products are taken off everything to its right.
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
                                 .idea = "Make each column two kernels",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
