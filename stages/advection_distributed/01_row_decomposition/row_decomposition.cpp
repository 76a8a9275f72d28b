/// \file
/// Changed: each of R processes owns some of the rows. The neighbours send the halo rows in
///          messages; the process copies the halo columns from its own cells, as before.
/// Legal:   a step reads the old array and writes the new one. A process writes only its own cells.
///          Before each step, it receives the fully updated edge rows of its neighbours.
/// Expect:  the time of one core is divided by the number of cores. The latency of two messages per
///          step is added.
/// Run:     ./climb advection_distributed --stages 00,01
/// Next:    02_block_decomposition distributes the columns as well.

#include "../advection_distributed.hpp"

#include <staircase/mpi.hpp>
#include <utility>

namespace advection_distributed {

namespace mpi = staircase::mpi;
using staircase::Array;
using staircase::View;

// [neighbours]
/// The ranks that own the rows above and below the rows of this rank.
struct Neighbours {
  int above, below;
};

inline Neighbours neighbours() {
  int rank = 0, ranks = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  return {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
}
// [neighbours]

// [refresh_halo]
/// Sends a row to one rank and receives the row of another rank into the halo.
template <typename T>
void exchange(const T* row, int to, T* halo, int from, std::size_t cols) {
  const int count = static_cast<int>(cols);
  mpi::check(MPI_Sendrecv(row, count, mpi::element<T>(), to, 0, halo, count, mpi::element<T>(),
                          from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/// Copies the opposite edges into the halo: rows first, then columns including the corners.
template <typename T>
void refresh_halo(const Neighbours& ranks, View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  exchange(&u(1, 1), ranks.above, &u(rows + 1, 1), ranks.below, cols);
  exchange(&u(rows, 1), ranks.below, &u(0, 1), ranks.above, cols);
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
  const Neighbours ranks = neighbours();
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    refresh_halo<T>(ranks, from);
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
  return advection_distributed::run_stage(argc, argv, Division::rows,
                                          {
                                              .title = "Row decomposition",
                                              .idea = "Distribute rows, send two rows per step",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
