/// \file
/// Changed: the directives are in front of the inner loops.
/// Legal:   the iterations write disjoint cells of one array and read the other one, which no
///          iteration writes.
/// Expect:  this stage is slower than stage 01, because the threads synchronise twice for each row
///          instead of twice for each loop.
/// Run:     ./climb advection --stages 01,02
/// Next:    03_cyclic_rows returns to one region per loop and distributes the rows cyclically.

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
  for (std::size_t i = 1; i <= rows; ++i)
#pragma omp parallel for
    for (std::size_t j = 1; j <= cols; ++j)
      next(i, j) = w.y[0] * row_sum(w, u, i - 1, j) + w.y[1] * row_sum(w, u, i, j) +
                   w.y[2] * row_sum(w, u, i + 1, j);
}

template <typename T>
void copy_back(View<const T, 2> next, View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  for (std::size_t i = 1; i <= rows; ++i)
#pragma omp parallel for
    for (std::size_t j = 1; j <= cols; ++j) u(i, j) = next(i, j);
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
                                  .title = "Inner-loop regions",
                                  .idea = "Divide each row among threads, region per row",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
