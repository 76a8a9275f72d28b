/// \file
/// Run:  ./climb advection_distributed --stages 00
/// Next: 01_row_decomposition distributes the rows among processes.

#include "../advection_distributed.hpp"

#include <utility>

namespace advection_distributed {

using staircase::Array;
using staircase::View;

// [refresh_halo]
/// Copies the opposite edges into the halo: rows first, then columns including the corners.
template <typename T>
void refresh_halo(View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (std::size_t j = 1; j <= cols; ++j) u(rows + 1, j) = u(1, j);
  for (std::size_t j = 1; j <= cols; ++j) u(0, j) = u(rows, j);
  for (std::size_t i = 0; i <= rows + 1; ++i) u(i, cols + 1) = u(i, 1);
  for (std::size_t i = 0; i <= rows + 1; ++i) u(i, 0) = u(i, cols);
}
// [refresh_halo]

// [update]
/// Returns the weighted sum of three neighbouring cells of a row.
template <typename T>
T row_sum(const Weights<T>& w, View<const T, 2> u, std::size_t i, std::size_t j) {
  return w.x[0] * u(i, j - 1) + w.x[1] * u(i, j) + w.x[2] * u(i, j + 1);
}

/// Updates a rectangle of cells: writes the weighted sum of each cell and its eight neighbours
/// into the other array.
template <typename T>
void update(Weights<T> w, Range of_rows, Range of_cols, View<const T, 2> u, View<T, 2> next) {
  for (std::size_t i = of_rows.begin; i < of_rows.end; ++i)
    for (std::size_t j = of_cols.begin; j < of_cols.end; ++j)
      next(i, j) = w.y[0] * row_sum(w, u, i - 1, j) + w.y[1] * row_sum(w, u, i, j) +
                   w.y[2] * row_sum(w, u, i + 1, j);
}
// [update]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> field = problem.field_at_first();
  const std::size_t rows = field.extent(0), cols = field.extent(1);
  Array<T, 2> u(rows + 2, cols + 2), next(rows + 2, cols + 2);
  timeline.begin("copy in");
  put_inside<T>(field, u);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    refresh_halo<T>(from);
    update<T>(w, {1, rows + 1}, {1, cols + 1}, from, to);
    std::swap(from, to);
  }
  timeline.begin("copy out");
  return inside<T>(from);
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::none,
                                          {
                                              .title = "Original",
                                              .idea = "Update the whole field in one process",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
