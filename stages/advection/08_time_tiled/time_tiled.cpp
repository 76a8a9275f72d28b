/// \file
/// Changed: a tile is copied out of the field with a border of eight cells, advanced by eight
///          steps, and written to the other field. There is no halo to refresh.
/// Legal:   a cell after s steps depends on cells at most s away (its cone of dependences), and
///          these are in the tile. Tiles read one field and write disjoint cells of the other one.
/// Expect:  the memory traffic of stage 07 falls to an eighth, with one seventh more arithmetic.
/// Run:     ./climb advection --stages 06-08
/// Next:    09_serial_cuda starts again on the GPU, with one thread.

#include "../advection.hpp"

#include <algorithm>
#include <staircase/simd.hpp>
#include <utility>

namespace advection {

using staircase::Array;
using staircase::View;

// [load]
/// Maps an index before the first or after the last element into the periodic range.
inline std::size_t wrapped(std::ptrdiff_t index, std::ptrdiff_t count) {
  return (index % count + count) % count;
}

/// Copies a tile with its border out of the periodic field in contiguous runs.
template <typename T>
void load(View<const T, 2> u, std::ptrdiff_t top, std::ptrdiff_t left, std::size_t rows,
          std::size_t cols, View<T, 2> tile) {
  for (std::size_t i = 0; i < rows; ++i) {
    const View<const T, 1> row = u.row(wrapped(top + i, u.extent(0)));
    for (std::size_t j = 0; j < cols;) {
      const std::size_t from = wrapped(left + j, row.extent(0));
      const std::size_t run = std::min(cols - j, row.extent(0) - from);
      std::copy_n(&row(from), run, &tile(i, j));
      j += run;
    }
  }
}
// [load]

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

/// Does one step for a part of a tile: reads the array `u` and writes the array `next`.
template <typename T>
void update(Weights<T> w, Range of_rows, Range of_cols, View<const T, 2> u, View<T, 2> next) {
  const auto update_columns =
      staircase::ForWidestVectors<UpdateColumn<T>, const Update<T>&, std::size_t, std::size_t,
                                  std::size_t, std::size_t>::function();
  for (std::size_t i = of_rows.begin; i < of_rows.end; i += height)
    update_columns({w, u, next}, i, std::min(i + height, of_rows.end), of_cols.begin, of_cols.end);
}
// [update]

// [carry]
constexpr std::size_t tile_rows = 64, tile_cols = 256;
constexpr std::size_t most_steps = 8;  // steps of a tile between its load and its store

/// Advances a tile by several steps. With each step, the region of correct cells shrinks by one
/// cell on each side. After the last step, exactly the cells of the tile are correct.
template <typename T>
void carry(Weights<T> w, std::size_t steps, std::size_t top, std::size_t left, View<const T, 2> u,
           View<T, 2> tile, View<T, 2> other, View<T, 2> next) {
  const std::size_t rows = std::min(tile_rows, u.extent(0) - top);
  const std::size_t cols = std::min(tile_cols, u.extent(1) - left);
  load(u, top - steps, left - steps, rows + 2 * steps, cols + 2 * steps, tile);
  for (std::size_t step = 1; step <= steps; ++step) {
    update<T>(w, {step, rows + 2 * steps - step}, {step, cols + 2 * steps - step}, tile, other);
    std::swap(tile, other);
  }
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(&tile(steps + i, steps), cols, &next(top + i, left));
}
// [carry]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Field<T> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  std::copy(problem.initial.begin(), problem.initial.end(), u.data());
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
#pragma omp parallel
  {
    Array<T, 2> tile(tile_rows + 2 * most_steps, tile_cols + 2 * most_steps);
    Array<T, 2> other(tile_rows + 2 * most_steps, tile_cols + 2 * most_steps);
    View<T, 2> from = u, to = next;
    for (std::size_t left = problem.steps; left > 0;) {
      const std::size_t steps = std::min(most_steps, left);
#pragma omp for collapse(2) schedule(dynamic)
      for (std::size_t i = 0; i < from.extent(0); i += tile_rows)
        for (std::size_t j = 0; j < from.extent(1); j += tile_cols)
          carry<T>(w, steps, i, j, from, tile, other, to);
      std::swap(from, to);
      left -= steps;
    }
  }
  timeline.begin("copy out");
  return (problem.steps + most_steps - 1) / most_steps % 2 == 0 ? std::move(u) : std::move(next);
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Time-tiled",
                                  .idea = "Carry each tile through eight steps in cache",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
