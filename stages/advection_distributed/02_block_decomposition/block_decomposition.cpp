/// \file
/// Changed: the ranks form a grid, and each owns a block of the field. Messages also carry the halo
///          columns; a column is one element of a derived datatype with a stride of one row.
/// Legal:   columns are sent after the rows have arrived, and they include the halo rows. A corner
///          therefore arrives from the diagonal neighbour in two exchanges.
/// Expect:  on n × n cells and R ranks, a step sends four messages with 4 n / √R elements, not two
///          with 2 n. This stage is slower than stage 01 with few ranks, and faster with many.
/// Run:     ./climb advection_distributed --stages 01,02
/// Next:    03_overlapped_communication computes while the messages are in transit.

#include "../advection_distributed.hpp"

#include <staircase/mpi.hpp>
#include <utility>

namespace advection_distributed {

namespace mpi = staircase::mpi;
using staircase::Array;
using staircase::View;

// [neighbours]
/// The neighbouring ranks, and the datatypes of the edges that are sent to these ranks.
struct Neighbours {
  mpi::Communicator grid;
  int above, below, left, right;
  mpi::Datatype row, column;  // row: without corners; column: with corners
};

template <typename T>
Neighbours neighbours(const Problem& problem, View<T, 2> u) {
  mpi::Communicator grid = mpi::periodic_grid(problem.grid.p, problem.grid.q);
  const auto [above, below] = mpi::neighbours(grid, 0);
  const auto [left, right] = mpi::neighbours(grid, 1);
  return {std::move(grid),
          above,
          below,
          left,
          right,
          mpi::strided<T>(u.extent(1) - 2, 1),
          mpi::strided<T>(u.extent(0), u.extent(1))};
}
// [neighbours]

// [refresh_halo]
/// Sends an edge to one rank and receives the edge of another rank into the halo.
template <typename T>
void exchange(const T* edge, int to, T* halo, int from, MPI_Datatype type, MPI_Comm grid) {
  mpi::check(MPI_Sendrecv(edge, 1, type, to, 0, halo, 1, type, from, 0, grid, MPI_STATUS_IGNORE));
}

/// Copies the opposite edges into the halo: rows first, then columns including the corners.
template <typename T>
void refresh_halo(const Neighbours& ranks, View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  exchange(&u(1, 1), ranks.above, &u(rows + 1, 1), ranks.below, ranks.row, ranks.grid);
  exchange(&u(rows, 1), ranks.below, &u(0, 1), ranks.above, ranks.row, ranks.grid);
  exchange(&u(0, 1), ranks.left, &u(0, cols + 1), ranks.right, ranks.column, ranks.grid);
  exchange(&u(0, cols), ranks.right, &u(0, 0), ranks.left, ranks.column, ranks.grid);
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
  const Neighbours ranks = neighbours<T>(problem, u);
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
  return advection_distributed::run_stage(argc, argv, Division::blocks,
                                          {
                                              .title = "Block decomposition",
                                              .idea = "Distribute blocks, send four edges per step",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
