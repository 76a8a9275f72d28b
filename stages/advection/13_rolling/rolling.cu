/// \file
/// From:    11_coalesced
/// Changed: a thread computes 64 cells of a column from top to bottom, with the sums of three rows in
///          registers; four rows are loaded before the first of them is used.
/// Legal:   the sum of a row is the same number for the cells above, at and below it.
/// Expect:  3 loads per cell where 9 were, all but one of them from the first-level cache, and each
///          cell once from memory: the time of a copy of the field.
/// Run:     ./climb advection --stages 11,13
/// Next:    14_time_tiled_cuda takes several steps on the way down.

#include "../advection.hpp"

#include <utility>

namespace advection {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

// [update]
/// The weighted sum of three neighbours in a row.
template <typename T>
__device__ T row_sum(const Weights<T>& w, View<const T, 1> u, unsigned left, unsigned j,
                     unsigned right) {
  return w.x[0] * u(left) + w.x[1] * u(j) + w.x[2] * u(right);
}

constexpr unsigned block_size = 128;  // columns of a block, a thread for each
constexpr unsigned height = 64;       // rows of a block
constexpr unsigned ahead = 4;         // rows that are loaded before any of them is used

/// A step: every cell becomes the weighted sum of its nine neighbours, in another array. A thread
/// goes down its column with the sums of three rows.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const unsigned rows = u.extent(0), cols = u.extent(1), j = column();
  if (j >= cols) return;
  const unsigned left = j > 0 ? j - 1 : cols - 1, right = j + 1 < cols ? j + 1 : 0;
  const unsigned top = blockIdx.y * height, bottom = min(top + height, rows);
  T above = row_sum(w, u.row(top > 0 ? top - 1 : rows - 1), left, j, right);
  T here = row_sum(w, u.row(top), left, j, right);
  for (unsigned i = top; i < bottom; i += ahead) {
    T below[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r)
      below[r] = row_sum(w, u.row(i + r + 1 < rows ? i + r + 1 : 0), left, j, right);
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      if (i + r < bottom) next(i + r, j) = w.y[0] * above + w.y[1] * here + w.y[2] * below[r];
      above = here;
      here = below[r];
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
  const dim3 grid(pieces(problem.cols, block_size), pieces(problem.rows, height));
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    update<T><<<grid, block_size>>>(w, from, to);
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
                                  .title = "Rolling",
                                  .idea = "Down a column with three sums in registers",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
