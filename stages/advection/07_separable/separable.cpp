/// \file
/// Changed: the sum over nine cells becomes a sum of three row sums. A vector of neighbouring
///          columns moves down eight rows and keeps three row sums in registers.
/// Legal:   the nine weights are products, so the sum of a row is the same for the cells above, at
///          and below it. The sum is computed once and kept.
/// Expect:  a cell needs 10 operations instead of 20, executed with wide vectors. This stage is
///          faster than stage 06 if the fields are in caches, but not if they come from memory.
/// Run:     ./climb advection --stages 06,07
/// Next:    08_time_tiled computes several steps of a tile while it is in a cache.

#include "../advection.hpp"

#include <omp.h>

#include <algorithm>
#include <staircase/simd.hpp>
#include <utility>

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
constexpr std::size_t height = 8;  // rows that a vector moves down at a time

/// The arguments of an update: weights, source and destination.
template <typename T>
struct Update {
  Weights<T> w;
  View<const T, 2> u;
  View<T, 2> next;
};

/// Updates the columns of a vector row by row, with the last three row sums in registers.
template <typename T>
struct UpdateColumn {
  template <int bytes>
  [[gnu::always_inline]] static void column(const Update<T>& at, std::size_t top,
                                            std::size_t bottom, std::size_t j) {
    using Vector [[gnu::vector_size(bytes)]] = T;
    using InMemory [[gnu::vector_size(bytes), gnu::aligned(alignof(T))]] = T;
    const auto [w, u, next] = at;
    Vector above{}, here{};
    for (std::size_t i = top - 1; i <= bottom; ++i) {
      const T* const row = &u(i, j);
      const Vector below = w.x[0] * reinterpret_cast<const InMemory&>(row[-1]) +
                           w.x[1] * reinterpret_cast<const InMemory&>(row[0]) +
                           w.x[2] * reinterpret_cast<const InMemory&>(row[1]);
      if (i > top)
        reinterpret_cast<InMemory&>(next(i - 1, j)) =
            w.y[0] * above + w.y[1] * here + w.y[2] * below;
      above = here;
      here = below;
    }
  }

  /// Updates columns `begin` to `end` - 1 in rows `top` to `bottom` - 1.
  template <int bytes>
  [[gnu::always_inline]] static void run(const Update<T>& at, std::size_t top, std::size_t bottom,
                                         std::size_t begin, std::size_t end) {
    constexpr std::size_t lanes = bytes / sizeof(T);
    std::size_t j = begin;
    for (; j + lanes <= end; j += lanes) column<bytes>(at, top, bottom, j);
    for (; j < end; ++j) column<sizeof(T)>(at, top, bottom, j);
  }
};

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it.
template <typename T>
void update(Weights<T> w, Range of_rows, Range of_cols, View<const T, 2> u, View<T, 2> next) {
  const auto update_columns =
      staircase::ForWidestVectors<UpdateColumn<T>, const Update<T>&, std::size_t, std::size_t,
                                  std::size_t, std::size_t>::function();
  for (std::size_t i = of_rows.begin; i < of_rows.end; i += height)
    update_columns({w, u, next}, i, std::min(i + height, of_rows.end), of_cols.begin, of_cols.end);
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
    View<T, 2> from = u, to = next;
    for (std::int64_t step = 0; step < problem.steps; ++step) {
      refresh_halo<T>(of_rows, of_cols, from);
#pragma omp barrier
      update<T>(w, of_rows, of_cols, from, to);
#pragma omp barrier
      std::swap(from, to);
    }
  }
  timeline.begin("copy out");
  return inside<T>(problem.steps % 2 == 0 ? u : next);
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Separable",
                                  .idea = "Compute each row sum once, in registers",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
