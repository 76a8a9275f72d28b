/// \file
/// Changed: a panel of 256 columns is factorised first. Then the products of the panel are
///          subtracted from all elements to its right at once, in the trailing update. The panel is
///          factorised in groups of 64 columns. One thread block factorises the block of L on the
///          diagonal. A second kernel solves the rows below, and a third one subtracts the products
///          from the rest of the panel. A is padded with zeros to a multiple of 64.
/// Legal:   the products of all columns to the left of an element are subtracted, in any groups,
///          before the column of the element is divided.
/// Expect:  the elements to the right of a panel are read and written once per panel. The loads of
///          factors limit the update.
/// Run:     ./climb cholesky --stages 05,06
/// Next:    07_tiled_update loads each factor once for many elements.

#include "../panels.hpp"

#include <algorithm>

namespace cholesky {

using staircase::blocks;
using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::row;
using staircase::View;

// [update]
/// Subtracts the products of columns `k` from columns `j`, on and below the diagonal.
template <typename T>
__global__ void update(View<T, 2> l, Range k, Range j) {
  const unsigned to_i = j.first + row(), to_j = j.first + column();
  if (to_i >= l.extent(0) || to_j >= j.end || to_j > to_i) return;
  T rest = l(to_i, to_j);
  for (unsigned of_k = k.first; of_k < k.end; ++of_k) rest -= l(to_i, of_k) * l(to_j, of_k);
  l(to_i, to_j) = rest;
}

/// Launches `update` unless the range `j` is empty.
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

/// Right-looking: factorises each panel and subtracts its products from all columns to its right.
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
  const unsigned padded = ceil_div(problem.n, block) * block;
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
                                 .idea = "Delay updates for a panel of 256 columns",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
