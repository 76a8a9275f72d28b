/// \file
/// Changed: a step is one kernel. Periodic indices replace the halo and its two kernels, and two
///          fields are swapped instead of copied. The cells of a warp lie in one row, and a thread
///          computes four cells.
/// Legal:   the halo contains only copies of cells that the update can read directly; the update
///          writes one field and reads the other.
/// Expect:  a step moves two elements per cell instead of four, in one launch instead of four.
/// Run:     ./climb advection --stages 10,11
/// Next:    12_tiled shares cells and row sums within a thread block.

#include "../advection.hpp"

#include <utility>

namespace advection {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::View;

// [update]
/// The weighted sum of three neighbouring cells within a row.
template <typename T>
__device__ T row_sum(const Weights<T>& w, View<const T, 1> u, unsigned left, unsigned j,
                     unsigned right) {
  return w.x[0] * u(left) + w.x[1] * u(j) + w.x[2] * u(right);
}

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it. The
/// row after the last one is the first row; columns wrap around in the same way.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const unsigned rows = u.extent(0), cols = u.extent(1);
  for (unsigned i = row(); i < rows; i += staircase::rows()) {
    const auto above = u.row(i > 0 ? i - 1 : rows - 1), here = u.row(i);
    const auto below = u.row(i + 1 < rows ? i + 1 : 0);
    for (unsigned j = column(); j < cols; j += columns()) {
      const unsigned left = j > 0 ? j - 1 : cols - 1, right = j + 1 < cols ? j + 1 : 0;
      next(i, j) = w.y[0] * row_sum(w, above, left, j, right) +
                   w.y[1] * row_sum(w, here, left, j, right) +
                   w.y[2] * row_sum(w, below, left, j, right);
    }
  }
}
// [update]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Field<T> field(problem.rows, problem.cols);
  DeviceArray<T, 2> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const auto [grid, block] = shape_of(problem, {32, 4}, 4);
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    update<T><<<grid, block>>>(w, from, to);
    check_launch();
    std::swap(from, to);
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  (problem.steps % 2 == 0 ? u : next).copy_to(field.data());
  return field;
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Coalesced",
                                  .idea = "Fuse a step into one coalesced kernel",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
