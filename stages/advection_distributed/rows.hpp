/// \file
/// The update of the rows of a GPU: the kernel of advection 11, for stages that differ in the
/// communication between GPUs.

#pragma once

#include <algorithm>
#include <staircase/stream.hpp>

#include "advection_distributed.hpp"

namespace advection_distributed {

// [update]
/// Rows `begin`, `begin + stride`, ... before `end` of an array.
struct Rows {
  unsigned begin, end, stride;
};

/// Returns the weighted sum of three neighbouring cells of a row.
template <typename T>
__device__ T row_sum(const Weights<T>& w, staircase::View<const T, 1> u, unsigned left, unsigned j,
                     unsigned right) {
  return w.x[0] * u(left) + w.x[1] * u(j) + w.x[2] * u(right);
}

/// Updates some rows: writes the weighted sum of each cell and its eight neighbours into the other
/// array.
template <typename T>
__global__ void update(Weights<T> w, Rows of_rows, staircase::View<const T, 2> u,
                       staircase::View<T, 2> next) {
  const unsigned cols = u.extent(1), j = staircase::column(), step = of_rows.stride * gridDim.y;
  if (j >= cols) return;
  const unsigned left = j > 0 ? j - 1 : cols - 1, right = j + 1 < cols ? j + 1 : 0;
  for (unsigned i = of_rows.begin + of_rows.stride * blockIdx.y; i < of_rows.end; i += step)
    next(i, j) = w.y[0] * row_sum(w, u.row(i - 1), left, j, right) +
                 w.y[1] * row_sum(w, u.row(i), left, j, right) +
                 w.y[2] * row_sum(w, u.row(i + 1), left, j, right);
}

/// Enqueues the update of some rows in a stream.
template <typename T>
void update(const Weights<T>& w, Rows of_rows, staircase::View<const T, 2> from,
            staircase::View<T, 2> to, const staircase::Stream& stream) {
  if (of_rows.begin >= of_rows.end) return;
  constexpr unsigned threads = 128, most_rows = 65535;
  const unsigned count = staircase::ceil_div(of_rows.end - of_rows.begin, of_rows.stride);
  const dim3 grid(staircase::ceil_div(from.extent(1), threads), std::min(count, most_rows));
  update<T><<<grid, threads, 0, stream>>>(w, of_rows, from, to);
  staircase::check_launch();
}
// [update]

}  // namespace advection_distributed
