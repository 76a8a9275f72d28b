/// \file
/// Changed: 256 columns at a time, a panel: its products are taken off everything to its right at
///          once. Within it, 64 columns at a time: one block of threads factorises the block on the
///          diagonal, then the rows below are solved, and the products taken off the rest of the
///          panel. A is filled up with zeros to whole blocks.
/// Legal:   an element is complete when the products of all columns before it have been taken off,
///          in whatever portions, and before its own column is divided.
/// Expect:  what lies to the right is read and written once for 256 columns; the update is bound by
///          its loads of factors.
/// Run:     ./climb cholesky --stages 05,06
/// Next:    07_tiled_update loads each factor once for many elements.

#include "../panels.hpp"

#include <algorithm>

namespace cholesky {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::row;
using staircase::View;

// [update]
/// Takes the products of columns k off columns j, from the diagonal down.
template <typename T>
__global__ void update(View<T, 2> l, Range k, Range j) {
  const unsigned to_i = j.first + row(), to_j = j.first + column();
  if (to_i >= l.extent(0) || to_j >= j.end || to_j > to_i) return;
  T rest = l(to_i, to_j);
  for (unsigned of_k = k.first; of_k < k.end; ++of_k) rest -= l(to_i, of_k) * l(to_j, of_k);
  l(to_i, to_j) = rest;
}

/// Launches it, if there are such columns.
template <typename T>
void launch_update(View<T, 2> l, Range k, Range j) {
  constexpr dim3 threads(8, 32);  // so that a warp reads 8 + 4 rows of factors
  if (j.first >= j.end) return;
  update<T><<<blocks(threads, j.end - j.first, l.extent(0) - j.first), threads>>>(l, k, j);
  check_launch();
}
// [update]

// [factorise]
/// Factorises the columns of a panel, 64 at a time.
template <typename T>
void factorise_panel(View<T, 2> l, unsigned first) {
  const unsigned n = l.extent(0), end = std::min(first + panel, n);
  for (unsigned k = first; k < end; k += block) {
    factorise_block<T><<<1, dim3(side, side)>>>(l, k);
    check_launch();
    if (k + block == n) return;
    solve_below<T><<<(n - k - block) / rows_at_once, dim3(lanes, rows_at_once)>>>(l, k);
    check_launch();
    launch_update(l, {k, k + block}, {k + block, end});
  }
}

/// Panel by panel: once it is known, its products are taken off everything to its right.
template <typename T>
void factorise(View<T, 2> l) {
  const unsigned n = l.extent(0);
  for (unsigned first = 0; first < n; first += panel) {
    factorise_panel(l, first);
    launch_update(l, {first, first + panel}, {first + panel, n});
  }
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const unsigned padded = pieces(problem.n, block) * block;
  DeviceArray<T, 2> device_l(padded, padded);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  device_l.copy_padded(problem.a<T>());

  timeline.begin("kernels");
  factorise<T>(device_l);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_l.copy_corner_to(l);
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Panel and update",
                                 .idea = "Take off the products of 256 columns at once",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
