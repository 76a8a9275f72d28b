/// \file
/// Changed: the loops of both nests are interchanged, so columns are distributed cyclically.
/// Legal:   all cells of a step are independent, so the loops may be interchanged.
/// Expect:  this stage is far slower than stage 01. In f64, the eight cells of a cache line belong
///          to eight threads. With every write, a core takes the line from another core (false
///          sharing). In addition, each thread strides through memory.
/// Run:     ./climb advection --stages 01,03,04
/// Next:    05_persistent_region gives each thread its own block of rows and columns.

#include "../advection.hpp"

namespace advection {

using staircase::Array;
using staircase::View;

// [refresh_halo]
/// Copies the opposite edges into the halo: first rows, then columns including the corners.
template <typename T>
void refresh_halo(View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (std::size_t j = 1; j <= cols; ++j) {
    u(0, j) = u(rows, j);
    u(rows + 1, j) = u(1, j);
  }
  for (std::size_t i = 0; i <= rows + 1; ++i) {
    u(i, 0) = u(i, cols);
    u(i, cols + 1) = u(i, 1);
  }
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
void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
#pragma omp parallel for schedule(static, 1)
  for (std::size_t j = 1; j <= cols; ++j)
    for (std::size_t i = 1; i <= rows; ++i)
      next(i, j) = w.y[0] * row_sum(w, u, i - 1, j) + w.y[1] * row_sum(w, u, i, j) +
                   w.y[2] * row_sum(w, u, i + 1, j);
}

template <typename T>
void copy_back(View<const T, 2> next, View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
#pragma omp parallel for schedule(static, 1)
  for (std::size_t j = 1; j <= cols; ++j)
    for (std::size_t i = 1; i <= rows; ++i) u(i, j) = next(i, j);
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
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    refresh_halo<T>(u);
    update<T>(w, u, next);
    copy_back<T>(next, u);
  }
  timeline.begin("copy out");
  return inside<T>(u);
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Cyclic columns",
                                  .idea = "Distribute the columns cyclically",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
