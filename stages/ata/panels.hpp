/// \file
/// Panels (copies of columns of A whose rows are contiguous), and the addition of tiles to C.

#pragma once

#include <algorithm>
#include <cstddef>

#include "ata.hpp"

namespace ata {

using staircase::View;

// [pack]
constexpr std::size_t width = 24;  // columns of a panel, and rows and columns of a tile of C

inline std::size_t panels_of(std::size_t cols) { return (cols + width - 1) / width; }

/// Copies panel p of A, so that its rows are contiguous; fills columns beyond A with zeros.
inline void pack(View<const double, 2> a, std::size_t p, View<double, 2> panel) {
  const std::size_t rows = a.extent(0), cols = a.extent(1);
  for (std::size_t k = 0; k < rows; ++k)
    for (std::size_t j = 0; j < width; ++j)
      panel(k, j) = p * width + j < cols ? a(k, p * width + j) : 0;
}
// [pack]

// [add]
/// Adds a tile to C, except for elements beyond the last row or column, which are padding.
inline void add(const double (*tile)[width], std::size_t p, std::size_t q, View<double, 2> c) {
  const std::size_t rows = std::min(width, c.extent(0) - p * width);
  const std::size_t cols = std::min(width, c.extent(1) - q * width);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) c(p * width + i, q * width + j) += tile[i][j];
}
// [add]

}  // namespace ata
