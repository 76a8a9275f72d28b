/// \file
/// From:    02_block_decomposition
/// Changed: the halo is w cells wide and refreshed every w steps. In between, a rank also updates
///          cells of its halo, one ring fewer in each step.
/// Legal:   a cell needs neighbours at a distance of one cell. Each step therefore makes only the
///          outermost correct ring of cells incorrect. A block has at least as many rows and
///          columns as its halo.
/// Expect:  1 / w of the messages remain, with nearly the same number of bytes in total, but some
///          cells are updated by two ranks. A wide halo pays off if a message takes more time than
///          updating the cells of an edge.
/// Run:     ./climb advection_distributed --stages 02,05

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
  mpi::Datatype rows, columns;  // rows: without corners; columns: with corners
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
          mpi::strided<T>(problem.halo, u.extent(1), u.extent(1) - 2 * problem.halo),
          mpi::strided<T>(u.extent(0), u.extent(1), problem.halo)};
}
// [neighbours]

// [refresh_halo]
/// Sends an edge to one rank and receives the edge of another rank into the halo.
template <typename T>
void exchange(const T* edge, int to, T* halo, int from, MPI_Datatype type, MPI_Comm grid) {
  mpi::check(MPI_Sendrecv(edge, 1, type, to, 0, halo, 1, type, from, 0, grid, MPI_STATUS_IGNORE));
}

/// Copies the opposite edges into the halo, which is h cells wide: rows first, then columns
/// including the corners.
template <typename T>
void refresh_halo(const Neighbours& ranks, std::size_t h, View<T, 2> u) {
  const std::size_t rows = u.extent(0) - 2 * h, cols = u.extent(1) - 2 * h;
  exchange(&u(h, h), ranks.above, &u(rows + h, h), ranks.below, ranks.rows, ranks.grid);
  exchange(&u(rows, h), ranks.below, &u(0, h), ranks.above, ranks.rows, ranks.grid);
  exchange(&u(0, h), ranks.left, &u(0, cols + h), ranks.right, ranks.columns, ranks.grid);
  exchange(&u(0, cols), ranks.right, &u(0, 0), ranks.left, ranks.columns, ranks.grid);
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
  const std::size_t halo = problem.halo;
  const std::size_t rows = field.extent(0) + 2 * halo, cols = field.extent(1) + 2 * halo;
  Array<T, 2> u(rows, cols), next(rows, cols);
  timeline.begin("copy in");
  put_inside<T>(field, u, halo);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const Neighbours ranks = neighbours<T>(problem, u);
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    const std::size_t ring = step % halo + 1;  // outermost ring whose neighbours are all correct
    if (ring == 1) refresh_halo<T>(ranks, halo, from);
    update<T>(w, {ring, rows - ring}, {ring, cols - ring}, from, to);
    std::swap(from, to);
  }
  timeline.begin("copy out");
  return inside<T>(from, halo);
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::wide_blocks,
                                          {
                                              .title = "Wide halo",
                                              .idea = "Exchange w halo cells every w steps",
                                              .note = "A block is no narrower than the halo.",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
