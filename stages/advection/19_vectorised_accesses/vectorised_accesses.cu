/// \file
/// From:    11_coalesced
/// Changed: a thread computes two neighbouring cells per iteration and loads and stores them
///          together.
/// Legal:   the cells of a step do not depend on each other; at the ends of rows, cells are loaded
///          one by one, as in stage 11.
/// Expect:  two cells need 9 loads instead of 18, and half as many other instructions.
/// Run:     ./climb advection --stages 11,19
/// Next:    13_register_rolling also reuses row sums; 20_software_pipelined adds cache hints.

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
/// Returns the row sums of two adjacent cells; `left`, `second`, `right` are offsets from `cell`.
template <typename T>
__device__ Pair<T> row_sums(const Weights<T>& w, const T* cell, int left, int second, int right) {
  const auto [a, b] = load(cell, second);
  return {w.x[0] * cell[left] + w.x[1] * a + w.x[2] * b,
          w.x[0] * a + w.x[1] * b + w.x[2] * cell[right]};
}

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it. The
/// row after the last one is the first row; columns wrap around in the same way.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const int rows = u.extent(0), cols = u.extent(1);
  for (int i = row(); i < rows; i += staircase::rows()) {
    const int above = i > 0 ? i - 1 : rows - 1, below = i + 1 < rows ? i + 1 : 0;
    for (int j = 2 * column(); j < cols; j += 2 * columns()) {
      const int left = j > 0 ? -1 : cols - 1, second = j + 1 < cols ? 1 : 1 - cols;
      const int right = j + 2 < cols ? 2 : (j + 2) % cols - j;
      const Pair<T> over = row_sums(w, &u(above, j), left, second, right);
      const Pair<T> here = row_sums(w, &u(i, j), left, second, right);
      const Pair<T> under = row_sums(w, &u(below, j), left, second, right);
      store(&next(i, j), second,
            {w.y[0] * over.a + w.y[1] * here.a + w.y[2] * under.a,
             w.y[0] * over.b + w.y[1] * here.b + w.y[2] * under.b});
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
                                  .title = "Vectorised accesses",
                                  .idea = "Load and store two neighbouring cells at once",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
