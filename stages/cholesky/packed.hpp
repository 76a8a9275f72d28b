/// \file
/// L in panels: groups of rows that are stored column by column. A block of a panel is solved with
/// vector instructions.

#pragma once

#include <algorithm>
#include <cmath>
#include <staircase/array.hpp>
#include <staircase/simd.hpp>

#include "cholesky.hpp"

namespace cholesky {

using staircase::View;

// [pack]
template <typename T>
constexpr std::size_t width = 192 / sizeof(T);  // rows of a panel; rows and columns of a block

/// Allocates the panels of an n × n matrix, indexed by (panel, column, row within the panel).
template <typename T>
staircase::Array<T, 3> panels_for(std::size_t n) {
  const std::size_t panels = (n + width<T> - 1) / width<T>;
  return staircase::Array<T, 3>(panels, panels * width<T>, width<T>);
}

/// Copies rows into panels, in which the elements of a column are contiguous. The last panel is
/// padded with ones on the diagonal and zeros elsewhere.
template <typename T>
void pack(View<const T, 2> l, View<T, 3> panels) {
  const std::size_t n = l.extent(0);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t p = 0; p < panels.extent(0); ++p)
    for (std::size_t first = p * width<T>, j = 0; j < first + width<T>; ++j)
      for (std::size_t i = 0; i < width<T>; ++i)
        panels(p, j, i) = first + i < n && j <= first + i ? l(first + i, j)
                          : first + i == j                ? 1
                                                          : 0;
}

/// Copies the panels back to a matrix in row-major order.
template <typename T>
void unpack(View<const T, 3> panels, View<T, 2> l) {
#pragma omp parallel for schedule(dynamic)
  for (std::size_t p = 0; p < panels.extent(0); ++p) {
    const std::size_t first = p * width<T>, last = std::min(first + width<T>, l.extent(0));
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t j = 0; j <= i; ++j) l(i, j) = panels(p, j, i - first);
  }
}
// [pack]

// [solve_block]
/// Solves a block with the block on the diagonal, or factorises the block on the diagonal. The
/// order is left-looking: each column is updated with the columns to its left, in all rows at once.
/// The elements above the diagonal have no meaning.
template <typename T>
struct SolveBlock {
  template <int bytes>
  [[gnu::always_inline]] static void run(const T* diagonal, T* block) {
    using Vector [[gnu::vector_size(bytes), gnu::aligned(alignof(T))]] = T;
    constexpr std::size_t lanes = bytes / sizeof(T);
    constexpr std::size_t vectors = bytes == 16 ? 4 : 3;  // vectors that are updated concurrently
    for (std::size_t j = 0; j < width<T>; ++j) {
      T* const column = &block[j * width<T>];
      for (std::size_t i0 = 0; i0 < width<T>; i0 += vectors * lanes) {
        Vector left[vectors];
        for (std::size_t v = 0; v < vectors; ++v)
          left[v] = reinterpret_cast<const Vector&>(column[i0 + v * lanes]);
        for (std::size_t k = 0; k < j; ++k)
          for (std::size_t v = 0; v < vectors; ++v)
            left[v] -= diagonal[k * width<T> + j] *
                       reinterpret_cast<const Vector&>(block[k * width<T> + i0 + v * lanes]);
        for (std::size_t v = 0; v < vectors; ++v)
          reinterpret_cast<Vector&>(column[i0 + v * lanes]) = left[v];
      }
      if (block == diagonal) column[j] = std::sqrt(column[j]);
      const T pivot = diagonal[j * width<T> + j];
      for (std::size_t i = block == diagonal ? j + 1 : 0; i < width<T>; ++i) column[i] /= pivot;
    }
  }
};

/// Solves a block with the block on the diagonal, with the widest vectors of this processor.
template <typename T>
void solve_block(const T* diagonal, T* block) {
  static const auto run = staircase::ForWidestVectors<SolveBlock<T>, const T*, T*>::function();
  run(diagonal, block);
}
// [solve_block]

}  // namespace cholesky
