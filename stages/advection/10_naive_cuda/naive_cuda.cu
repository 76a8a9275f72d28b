/// \file
/// Changed: each loop begins at the thread's index in the grid and advances by the grid's extent.
/// Legal:   the cells of an update are independent, and so are the cells of a copy and of one halo
///          kernel. A kernel ends before the next kernel of the stream begins.
/// Expect:  memory limits the program if there are many threads and a warp's threads access one
///          row. The four kernel launches per step limit it if the field is small.
/// Run:     ./climb advection --stages 00,09,10
/// Next:    11_coalesced fuses the four kernels into one.

#include "../advection.hpp"

namespace advection {

using staircase::Array;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::View;

// [refresh_halo]
/// Copies the opposite edges into the halo: first rows, then columns including the corners.
template <typename T>
__global__ void refresh_rows(View<T, 2> u) {
  const unsigned rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (unsigned j = 1 + column(); j <= cols; j += columns()) {
    u(0, j) = u(rows, j);
    u(rows + 1, j) = u(1, j);
  }
}

template <typename T>
__global__ void refresh_columns(View<T, 2> u) {
  const unsigned rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (unsigned i = column(); i <= rows + 1; i += columns()) {
    u(i, 0) = u(i, cols);
    u(i, cols + 1) = u(i, 1);
  }
}
// [refresh_halo]

// [update]
/// The weighted sum of three neighbouring cells within a row.
template <typename T>
__device__ T row_sum(const Weights<T>& w, View<const T, 2> u, unsigned i, unsigned j) {
  return w.x[0] * u(i, j - 1) + w.x[1] * u(i, j) + w.x[2] * u(i, j + 1);
}

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const unsigned rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (unsigned i = 1 + row(); i <= rows; i += staircase::rows())
    for (unsigned j = 1 + column(); j <= cols; j += columns())
      next(i, j) = w.y[0] * row_sum(w, u, i - 1, j) + w.y[1] * row_sum(w, u, i, j) +
                   w.y[2] * row_sum(w, u, i + 1, j);
}

template <typename T>
__global__ void copy_back(View<const T, 2> next, View<T, 2> u) {
  const unsigned rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (unsigned i = 1 + row(); i <= rows; i += staircase::rows())
    for (unsigned j = 1 + column(); j <= cols; j += columns()) u(i, j) = next(i, j);
}
// [update]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Array<T, 2> field(problem.rows + 2, problem.cols + 2);
  DeviceArray<T, 2> u(problem.rows + 2, problem.cols + 2), next(problem.rows + 2, problem.cols + 2);
  timeline.begin("copy in");
  put_inside<T>(problem.field_at_first(), field);
  u.copy_from(field.data());
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const auto [grid, block] = shape_of(problem, {16, 16});
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    refresh_rows<T><<<grid.x, block.x>>>(u);
    check_launch();
    refresh_columns<T><<<grid.y, block.y>>>(u);
    check_launch();
    update<T><<<grid, block>>>(w, u, next);
    check_launch();
    copy_back<T><<<grid, block>>>(next, u);
    check_launch();
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  u.copy_to(field.data());
  return inside<T>(field);
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Naive CUDA",
                                  .idea = "Distribute the cells by grid-stride loops",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
