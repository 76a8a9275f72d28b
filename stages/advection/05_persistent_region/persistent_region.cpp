/// \file
/// From:    01_openmp
/// Changed: one parallel region contains all steps. Each of its P × Q threads has a block of cells
///          and refreshes the part of the halo next to this block.
/// Legal:   a barrier separates each write from the reads by other threads, and another barrier
///          separates these reads from the next write. Corners are copied from inside the field, so
///          no part of the halo depends on another part.
/// Expect:  a step has three barriers instead of two regions; blocks of full rows are the fastest.
/// Run:     ./climb advection --stages 01,05
/// Next:    06_double_buffered swaps the two fields instead of copying one back.

#include "../advection.hpp"

#include <omp.h>

namespace advection {

using staircase::Array;
using staircase::View;

// [refresh_halo]
/// Refreshes a thread's part of the halo. The corners are copied from the field, not from the halo.
template <typename T>
void refresh_halo(Range of_rows, Range of_cols, View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (std::size_t j = of_cols.begin; j < of_cols.end; ++j) {
    if (of_rows.first) u(0, j) = u(rows, j);
    if (of_rows.last) u(rows + 1, j) = u(1, j);
  }
  for (std::size_t i = of_rows.begin; i < of_rows.end; ++i) {
    if (of_cols.first) u(i, 0) = u(i, cols);
    if (of_cols.last) u(i, cols + 1) = u(i, 1);
  }
  if (of_rows.first && of_cols.first) u(0, 0) = u(rows, cols);
  if (of_rows.first && of_cols.last) u(0, cols + 1) = u(rows, 1);
  if (of_rows.last && of_cols.first) u(rows + 1, 0) = u(1, cols);
  if (of_rows.last && of_cols.last) u(rows + 1, cols + 1) = u(1, 1);
}
// [refresh_halo]

// [update]
/// The weighted sum of three neighbouring cells within a row.
template <typename T>
T row_sum(const Weights<T>& w, View<const T, 2> u, std::size_t i, std::size_t j) {
  return w.x[0] * u(i, j - 1) + w.x[1] * u(i, j) + w.x[2] * u(i, j + 1);
}

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it.
template <typename T>
void update(Weights<T> w, Range of_rows, Range of_cols, View<const T, 2> u, View<T, 2> next) {
  for (std::size_t i = of_rows.begin; i < of_rows.end; ++i)
    for (std::size_t j = of_cols.begin; j < of_cols.end; ++j)
      next(i, j) = w.y[0] * row_sum(w, u, i - 1, j) + w.y[1] * row_sum(w, u, i, j) +
                   w.y[2] * row_sum(w, u, i + 1, j);
}

template <typename T>
void copy_back(Range of_rows, Range of_cols, View<const T, 2> next, View<T, 2> u) {
  for (std::size_t i = of_rows.begin; i < of_rows.end; ++i)
    for (std::size_t j = of_cols.begin; j < of_cols.end; ++j) u(i, j) = next(i, j);
}
// [update]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Array<T, 2> u(problem.rows + 2, problem.cols + 2), next(problem.rows + 2, problem.cols + 2);
  timeline.begin("copy in");
  put_inside<T>(problem.field_at_first(), u);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const Team team = team_of(problem);
#pragma omp parallel num_threads(team.p* team.q)
  {
    const std::size_t thread = omp_get_thread_num();
    const Range of_rows = range_of(problem.rows, team.p, thread / team.q);
    const Range of_cols = range_of(problem.cols, team.q, thread % team.q);
    for (std::int64_t step = 0; step < problem.steps; ++step) {
      refresh_halo<T>(of_rows, of_cols, u);
#pragma omp barrier
      update<T>(w, of_rows, of_cols, u, next);
#pragma omp barrier
      copy_back<T>(of_rows, of_cols, next, u);
#pragma omp barrier
    }
  }
  timeline.begin("copy out");
  return inside<T>(u);
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Persistent region",
                                  .idea = "Run all steps in one parallel region",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
