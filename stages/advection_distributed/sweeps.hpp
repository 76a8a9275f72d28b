/// \file
/// The kernel of advection stage 14 for the rows of a GPU, which lie between halos. One sweep does
/// up to six steps.

#pragma once

#include <algorithm>
#include <staircase/stream.hpp>

#include "advection_distributed.hpp"

namespace advection_distributed {

/// Maps an index before the first or after the last element into the periodic range.
__device__ inline unsigned wrapped(int index, int count) {
  while (index < 0) index += count;
  while (index >= count) index -= count;
  return index;
}

constexpr unsigned warps = 4;       // warps of a block
constexpr unsigned resident = 20;   // warps of an SM, if there are enough rows
constexpr unsigned least = 8;       // minimum number of rows of a warp
constexpr unsigned ahead = 4;       // rows loaded before the first of them is used
constexpr unsigned most_steps = 6;  // steps of a sweep, and rows of a halo
constexpr unsigned width = 2 * 32;  // columns that a warp loads, two per lane
constexpr unsigned everyone = ~0u;

/// Number of incorrect columns at each edge of a warp after `steps` steps, rounded up to even.
constexpr int margin_of(unsigned steps) { return (steps + 1) / 2 * 2; }

/// The partial sums of a step that need the next row: `two` over a row and the row above it, `one`
/// over the row alone.
template <typename T>
struct Waiting {
  T two = 0, one = 0;
};

/// Adds the sum of a new row to the partial sums and returns the cell above, which is now complete.
template <typename T>
__device__ T next_cell(const Weights<T>& w, Waiting<T>& waiting, T left, T here, T right) {
  const T sum = w.x[0] * left + w.x[1] * here + w.x[2] * right;
  const T cell = waiting.two + w.y[2] * sum;
  waiting = {waiting.one + w.y[1] * sum, w.y[0] * sum};
  return cell;
}

// [carry]
/// Segments of `height` rows between `begin` and `end`. Each segment begins `stride` rows after the
/// previous one.
struct Rows {
  unsigned begin, end, height, stride;
};

/// Does several steps in one sweep. A warp goes down its columns, and the result of a step is
/// immediately the input of the next step, one row above. After each step, one more column at each
/// edge and one more row at each end are incorrect; other warps compute these cells.
template <unsigned steps, typename T>
__global__ void carry(Weights<T> w, Rows of_rows, staircase::View<const T, 2> u,
                      staircase::View<T, 2> next) {
  const int last = u.extent(0) - 1, cols = u.extent(1), lane = threadIdx.x;
  const int strip = blockIdx.x * warps + threadIdx.y;
  constexpr int margin = margin_of(steps);
  const int left = strip * int(width - 2 * margin) - margin + 2 * lane;
  const int j = wrapped(left, cols), second = j + 1 < cols ? 1 : 1 - cols;
  const int top = of_rows.begin + of_rows.stride * blockIdx.y;
  const int bottom = min(top + int(of_rows.height), int(of_rows.end));
  const bool inside = lane >= margin / 2 && lane < 32 - margin / 2 && left < cols;
  Waiting<T> waiting[steps][2];
  for (int i0 = top - int(steps); i0 < bottom + int(steps); i0 += ahead) {
    advection::Pair<T> cells[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r)
      cells[r] = advection::load(&u(min(i0 + int(r), last), j), second);
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      auto [a, b] = cells[r];
#pragma unroll
      for (unsigned step = 0; step < steps; ++step) {
        const T before = __shfl_up_sync(everyone, b, 1), behind = __shfl_down_sync(everyone, a, 1);
        const T first = next_cell(w, waiting[step][0], before, a, b);
        b = next_cell(w, waiting[step][1], a, b, behind);
        a = first;
      }
      const int i = i0 + int(r) - int(steps);
      if (i >= top && i < bottom && inside) advection::store(&next(i, j), second, {a, b});
    }
  }
}

/// Enqueues a sweep of `steps` steps over some rows in a stream.
template <unsigned most, typename T>
void carry(unsigned steps, const Weights<T>& w, Rows of_rows, staircase::View<const T, 2> from,
           staircase::View<T, 2> to, unsigned halo, const staircase::Stream& stream) {
  if constexpr (most > 1)
    if (steps < most) return carry<most - 1, T>(steps, w, of_rows, from, to, halo, stream);
  if (of_rows.begin >= of_rows.end) return;
  const unsigned strips = staircase::ceil_div(from.extent(1), width - 2 * margin_of(most));
  const dim3 grid(staircase::ceil_div(strips, warps),
                  staircase::ceil_div(of_rows.end - of_rows.begin, of_rows.stride));
  const staircase::View<const T, 2> read(from.data(), {of_rows.end + halo, from.extent(1)});
  carry<most, T><<<grid, dim3(32, warps), 0, stream>>>(w, of_rows, read, to);
  staircase::check_launch();
}
// [carry]

/// Number of rows per warp that gives every SM of the GPU enough warps.
inline unsigned height_of(unsigned rows, std::size_t cols) {
  const unsigned strips = staircase::ceil_div(cols, width - 2 * margin_of(most_steps));
  const unsigned of_strip = std::max(resident * staircase::processors() / strips, 1u);
  return std::max(staircase::ceil_div(rows, of_strip), least);
}

}  // namespace advection_distributed
