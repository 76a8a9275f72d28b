/// \file
/// The update of two columns by a thread that goes down some rows, as in advection 13.

#pragma once

#include "advection_distributed.hpp"

namespace advection_distributed {

// [update]
constexpr unsigned ahead = 2;  // rows loaded before the first of them is used

/// Returns the weighted sums of two cells and their neighbours in a row. `left`, `second` and
/// `right` are offsets from the first cell.
template <typename T>
__device__ advection::Pair<T> row_sums(const Weights<T>& w, const T* cell, int left, int second,
                                       int right) {
  const auto [a, b] = advection::load(cell, second);
  return {w.x[0] * cell[left] + w.x[1] * a + w.x[2] * b,
          w.x[0] * a + w.x[1] * b + w.x[2] * cell[right]};
}

/// Updates some rows of two columns: writes the weighted sum of each cell and its eight neighbours
/// into the other array. A thread computes the row sums of `ahead` rows before it uses the first.
template <typename T>
__device__ void update(const Weights<T>& w, unsigned top, unsigned bottom, int j,
                       staircase::View<const T, 2> u, staircase::View<T, 2> next) {
  const int cols = u.extent(1);
  const int left = j > 0 ? -1 : cols - 1, second = j + 1 < cols ? 1 : 1 - cols;
  const int right = j + 2 < cols ? 2 : (j + 2) % cols - j;
  const T* cell = &u(top, j);
  T* next_cell = &next(top, j);
  advection::Pair<T> above = row_sums(w, cell - cols, left, second, right);
  advection::Pair<T> here = row_sums(w, cell, left, second, right);
  for (int rows = bottom - top; rows > 0; rows -= ahead) {
    advection::Pair<T> below[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      if (int(r) < rows) cell += cols;
      below[r] = row_sums(w, cell, left, second, right);
    }
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      if (int(r) < rows) {
        const T a = w.y[0] * above.a + w.y[1] * here.a + w.y[2] * below[r].a;
        const T b = w.y[0] * above.b + w.y[1] * here.b + w.y[2] * below[r].b;
        advection::store(next_cell, second, {a, b});
        next_cell += cols;
      }
      above = here;
      here = below[r];
    }
  }
}
// [update]

// [send]
/// Copies two cells of an edge that this thread has updated into the halo of a neighbour.
template <typename T>
__device__ void send(staircase::View<const T, 1> edge, staircase::View<T, 1> halo, int j) {
  const int second = j + 1 < int(edge.extent(0)) ? 1 : 0;
  advection::store(&halo(j), second, advection::load(&edge(j), second));
}
// [send]

}  // namespace advection_distributed
