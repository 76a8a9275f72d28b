/// \file
/// Micro-panels of A for stages 14 and 15, and the product of the micro-panels of a block of C.

#pragma once

#include <algorithm>
#include <cstddef>
#include <staircase/micro_kernel.hpp>

#include "ata.hpp"

namespace ata {

using staircase::View;

// [sizes]
inline constexpr std::size_t depth = 256;      // rows of A in a chunk
inline constexpr std::size_t unit = 24;        // columns of A; a multiple of the sides of each tile
inline constexpr std::size_t most_rows = 96;   // rows of a block of C; at most 192 KB of A
inline constexpr std::size_t most_cols = 480;  // maximum number of columns of a block of C
// [sizes]

/// The indices from `begin` up to, but not including, `end`.
struct Range {
  std::size_t begin, end;
};

// [Panels]
/// The micro-panels of a chunk of rows of A, in two forms. Micro-panels of `narrow` have as many
/// columns as a tile has rows, and micro-panels of `wide` have as many columns as a tile.
struct Panels {
  explicit Panels(std::size_t cols)
      : narrow((cols + unit - 1) / unit * unit, depth),
        wide((cols + unit - 1) / unit * unit, depth) {}
  staircase::MicroPanels<double> narrow, wide;
};
// [Panels]

// [Pack]
/// Copies `width` columns of A, from column j on, to a micro-panel: the given rows, one after the
/// other. Columns beyond the last column of A become zeros.
template <std::size_t width>
[[gnu::always_inline]] inline void pack(View<const double, 2> a, Range rows, std::size_t j,
                                        double* panel) {
  const std::size_t cols = j < a.extent(1) ? std::min(width, a.extent(1) - j) : 0;
  for (std::size_t k = rows.begin; k < rows.end; ++k, panel += width) {
    const double* const row = &a(k, 0) + j;
    if (cols == width)
      for (std::size_t n = 0; n < width; ++n) panel[n] = row[n];
    else
      for (std::size_t n = 0; n < width; ++n) panel[n] = n < cols ? row[n] : 0;
  }
}

/// Copies a chunk of rows of `unit` columns of A into micro-panels of both forms.
struct Pack {
  template <int bytes>
  [[gnu::always_inline]] static void run(View<const double, 2> a, Range rows, std::size_t j,
                                         Panels& panels) {
    using Tile = staircase::MicroTile<double, bytes>;
    for (std::size_t n = j; n < j + unit; n += Tile::rows)
      pack<Tile::rows>(a, rows, n, &panels.narrow(n, 0));
    for (std::size_t n = j; n < j + unit; n += Tile::cols)
      pack<Tile::cols>(a, rows, n, &panels.wide(n, 0));
  }
};
// [Pack]

// [MultiplyBlock]
/// Computes a block of C from micro-panels that are `chunk` rows long; adds it to C if `is_added`.
/// A tile that extends beyond C is computed in a buffer, and only its valid part is stored.
struct MultiplyBlock {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Panels& panels, Range rows, Range cols,
                                         std::size_t chunk, bool is_added, View<double, 2> c) {
    using Tile = staircase::MicroTile<double, bytes>;
    const std::size_t n = c.extent(0);
    for (std::size_t j = cols.begin; j < cols.end; j += Tile::cols)
      for (std::size_t i = rows.begin; i < rows.end; i += Tile::rows) {
        const double *x = &panels.narrow(i, 0), *y = &panels.wide(j, 0);
        if (i + Tile::rows <= n && j + Tile::cols <= n) {
          staircase::multiply_micro_panels<bytes>(x, y, chunk, &c(i, j), n, is_added);
        } else {
          double tile[Tile::rows * Tile::cols];
          staircase::multiply_micro_panels<bytes>(x, y, chunk, tile, Tile::cols, false);
          for (std::size_t r = 0; r < std::min(Tile::rows, n - i); ++r)
            for (std::size_t s = 0; s < std::min(Tile::cols, n - j); ++s)
              c(i + r, j + s) = tile[r * Tile::cols + s] + (is_added ? c(i + r, j + s) : 0);
        }
      }
  }
};
// [MultiplyBlock]

// [rows_of_block]
/// Number of rows of a block of C: smaller for a small C, so that each thread gets several blocks.
inline std::size_t rows_of_block(std::size_t cols, std::size_t threads) {
  return std::clamp(cols / (4 * threads) / unit * unit, unit, most_rows);
}
// [rows_of_block]

}  // namespace ata
