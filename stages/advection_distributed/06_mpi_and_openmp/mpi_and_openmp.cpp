/// \file
/// From:    04_persistent_requests
/// Changed: each thread of a rank updates some of its rows, so a machine has fewer and larger
///          ranks. Only the first thread calls MPI, between parallel regions.
/// Legal:   iterations write disjoint rows of one array and read the other one. At the same time,
///          MPI writes the halo of the array that is read, but the interior's update reads no halo.
/// Expect:  fewer messages are sent, because the threads of a rank share its memory, at the price
///          of four parallel regions per step.
/// Run:     ./climb advection_distributed --stages 04,06 --ranks 1
/// Next:    07_shared_windows lets the ranks of a machine read each other's edges.

#include "../advection_distributed.hpp"

#include <algorithm>
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
/// The requests of two sends to the neighbours and of two receives from them.
using Exchange = mpi::Requests<4>;

/// Prepares the send of an edge to one rank and the receive of the edge of another rank into the
/// halo. Two ranks may be neighbours on both sides; the tag distinguishes their two messages.
template <typename T>
void exchange(const T* edge, int to, T* halo, int from, MPI_Datatype type, MPI_Comm grid, int tag,
              Exchange& requests) {
  mpi::check(MPI_Recv_init(halo, 1, type, from, tag, grid, requests[2 * tag]));
  mpi::check(MPI_Send_init(edge, 1, type, to, tag, grid, requests[2 * tag + 1]));
}

/// Prepares the exchange of rows, which must precede the exchange of columns.
template <typename T>
void prepare_rows(const Neighbours& ranks, View<T, 2> u, Exchange& rs) {
  const std::size_t rows = u.extent(0) - 2;
  exchange(&u(1, 1), ranks.above, &u(rows + 1, 1), ranks.below, ranks.row, ranks.grid, 0, rs);
  exchange(&u(rows, 1), ranks.below, &u(0, 1), ranks.above, ranks.row, ranks.grid, 1, rs);
}

/// Prepares the exchange of columns. They include the corners, so rows must be exchanged first.
template <typename T>
void prepare_columns(const Neighbours& ranks, View<T, 2> u, Exchange& rs) {
  const std::size_t cols = u.extent(1) - 2;
  exchange(&u(0, 1), ranks.left, &u(0, cols + 1), ranks.right, ranks.column, ranks.grid, 0, rs);
  exchange(&u(0, cols), ranks.right, &u(0, 0), ranks.left, ranks.column, ranks.grid, 1, rs);
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
#pragma omp parallel for if (of_rows.begin + 1 < of_rows.end)
  for (std::size_t i = of_rows.begin; i < of_rows.end; ++i)
    for (std::size_t j = of_cols.begin; j < of_cols.end; ++j)
      next(i, j) = w.y[0] * row_sum(w, u, i - 1, j) + w.y[1] * row_sum(w, u, i, j) +
                   w.y[2] * row_sum(w, u, i + 1, j);
}
// [update]

// [edges]
/// Updates the cells at the edge of the block. These updates read the halo.
template <typename T>
void update_edges(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const std::size_t rows = u.extent(0) - 2, cols = u.extent(1) - 2;
  update<T>(w, {1, 2}, {1, cols + 1}, u, next);
  update<T>(w, {std::max<std::size_t>(rows, 2), rows + 1}, {1, cols + 1}, u, next);
  update<T>(w, {2, rows}, {1, 2}, u, next);
  update<T>(w, {2, rows}, {std::max<std::size_t>(cols, 2), cols + 1}, u, next);
}
// [edges]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  set_threads(problem);
  const View<const double, 2> field = problem.field_at_first();
  const std::size_t rows = field.extent(0), cols = field.extent(1), middle = rows / 2 + 1;
  Array<T, 2> u(rows + 2, cols + 2), next(rows + 2, cols + 2);
  timeline.begin("copy in");
  put_inside<T>(field, u);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const Neighbours ranks = neighbours<T>(problem, u);
  Exchange rows_of_u, cols_of_u, rows_of_next, cols_of_next;
  prepare_rows<T>(ranks, u, rows_of_u);
  prepare_columns<T>(ranks, u, cols_of_u);
  prepare_rows<T>(ranks, next, rows_of_next);
  prepare_columns<T>(ranks, next, cols_of_next);
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    Exchange& of_rows = step % 2 == 0 ? rows_of_u : rows_of_next;
    Exchange& of_cols = step % 2 == 0 ? cols_of_u : cols_of_next;
    of_rows.start();
    update<T>(w, {2, middle}, {2, cols}, from, to);
    of_rows.wait();
    of_cols.start();
    update<T>(w, {std::max<std::size_t>(middle, 2), rows}, {2, cols}, from, to);
    of_cols.wait();
    update_edges<T>(w, from, to);
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
                                              .title = "MPI and OpenMP",
                                              .idea = "Update the rows of a rank by threads",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
