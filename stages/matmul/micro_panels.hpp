/// \file
/// Micro-panels of A and B for stages 17 and 18, and the product of the micro-panels of a block of
/// C.

#pragma once

#include <algorithm>
#include <cstddef>
#include <staircase/micro_kernel.hpp>
#include <staircase/simd.hpp>

#include "matmul.hpp"

namespace matmul {

using staircase::View;

// [sizes]
inline constexpr std::size_t depth = 256;  // columns of A and rows of B in a chunk
inline constexpr std::size_t unit = 48;    // rows or columns of C; a multiple of each tile's sides
inline constexpr std::size_t most_rows = 144;     // rows of a block of C; at most 288 KB of A
inline constexpr std::size_t most_cols = 480;     // maximum number of columns of a block of C
inline constexpr std::size_t rows_at_a_time = 4;  // rows of B to pack; more rows touch more pages
// [sizes]

/// The indices from `begin` up to, but not including, `end`.
struct Range {
  std::size_t begin, end;
};

// [Packed]
/// The micro-panels of a chunk. Micro-panels of A are `narrow` and have as many rows of A as a
/// tile; micro-panels of B are `wide` and have as many columns of B as a tile. MultiplyBlock
/// prefetches beyond the last wide micro-panel, so there is memory for one more unit.
template <typename T>
struct Packed {
  Packed(std::size_t rows, std::size_t cols)
      : narrow((rows + unit - 1) / unit * unit, depth),
        wide((cols + unit - 1) / unit * unit + unit, depth) {}
  staircase::MicroPanels<T> narrow, wide;
};
// [Packed]

// [Pack]
/// Copies `unit` rows of A, beginning at row i0, into narrow micro-panels, column by column. Rows
/// beyond the last row of A are zero.
template <typename T>
struct PackA {
  template <int bytes>
  [[gnu::always_inline]] static void run(View<const T, 2> a, Range chunk, std::size_t i0,
                                         Packed<T>& packed) {
    constexpr std::size_t height = staircase::MicroTile<T, bytes>::rows;
    const std::size_t steps = chunk.end - chunk.begin, stride = a.extent(1);
    for (std::size_t i = i0; i < std::min(i0 + unit, a.extent(0)); i += height) {
      const T* const from = &a(i, chunk.begin);
      T* const panel = &packed.narrow(i, 0);
      const std::size_t rows = std::min(height, a.extent(0) - i);
      if (rows == height) {
        for (std::size_t k = 0; k < steps; ++k)
#pragma GCC unroll 8
          for (std::size_t r = 0; r < height; ++r) panel[k * height + r] = from[r * stride + k];
      } else {
        for (std::size_t k = 0; k < steps; ++k)
          for (std::size_t r = 0; r < height; ++r)
            panel[k * height + r] = r < rows ? from[r * stride + k] : 0;
      }
    }
  }
};

/// Copies rows of B into all wide micro-panels. The chunk begins at row `first`. Columns beyond the
/// last column of B are zero.
template <typename T>
struct PackB {
  template <int bytes>
  [[gnu::always_inline]] static void run(View<const T, 2> b, std::size_t first, Range rows,
                                         Packed<T>& packed) {
    constexpr std::size_t width = staircase::MicroTile<T, bytes>::cols;
    for (std::size_t j = 0; j < b.extent(1); j += width) {
      const std::size_t cols = std::min(width, b.extent(1) - j);
      T* panel = &packed.wide(j, (rows.begin - first) * width);
      for (std::size_t k = rows.begin; k < rows.end; ++k, panel += width) {
        const T* const row = &b(k, j);
        if (cols == width)
          for (std::size_t n = 0; n < width; ++n) panel[n] = row[n];
        else
          for (std::size_t n = 0; n < width; ++n) panel[n] = n < cols ? row[n] : 0;
      }
    }
  }
};
// [Pack]

// [MultiplyBlock]
/// Computes a block of C from micro-panels of `steps` columns of A and rows of B; adds it to C if
/// `is_added`. A tile that extends beyond C is computed in a buffer, and only its valid part is
/// stored. With each tile, a part of the next wide micro-panel is prefetched into the L2 cache.
template <typename T>
struct MultiplyBlock {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Packed<T>& packed, Range rows, Range cols,
                                         std::size_t steps, bool is_added, View<T, 2> c) {
    using Tile = staircase::MicroTile<T, bytes>;
    const std::size_t l = c.extent(0), n = c.extent(1);
    const std::size_t tiles = (rows.end - rows.begin + Tile::rows - 1) / Tile::rows;
    const std::size_t part = steps * Tile::cols / tiles;  // elements to prefetch with each tile
    for (std::size_t j = cols.begin; j < cols.end; j += Tile::cols)
      for (std::size_t i = rows.begin; i < rows.end; i += Tile::rows) {
        const T *x = &packed.narrow(i, 0), *y = &packed.wide(j, 0);
        const T* const next = &packed.wide(j + Tile::cols, (i - rows.begin) / Tile::rows * part);
        for (std::size_t e = 0; e < part; e += 64 / sizeof(T)) __builtin_prefetch(next + e, 0, 2);
        if (i + Tile::rows <= l && j + Tile::cols <= n) {
          staircase::multiply_micro_panels<bytes>(x, y, steps, &c(i, j), n, is_added);
        } else {
          T tile[Tile::rows * Tile::cols];
          staircase::multiply_micro_panels<bytes>(x, y, steps, tile, Tile::cols, false);
          for (std::size_t r = 0; r < std::min(Tile::rows, l - i); ++r)
            for (std::size_t s = 0; s < std::min(Tile::cols, n - j); ++s)
              c(i + r, j + s) = tile[r * Tile::cols + s] + (is_added ? c(i + r, j + s) : 0);
        }
      }
  }
};
// [MultiplyBlock]

/// The functions above, compiled for the widest vectors of the processor.
// [functions]
template <typename T>
inline const auto pack_a = staircase::ForWidestVectors<PackA<T>, View<const T, 2>, Range,
                                                       std::size_t, Packed<T>&>::function();
template <typename T>
inline const auto pack_b = staircase::ForWidestVectors<PackB<T>, View<const T, 2>, std::size_t,
                                                       Range, Packed<T>&>::function();
template <typename T>
inline const auto multiply_block = staircase::ForWidestVectors<
    MultiplyBlock<T>, const Packed<T>&, Range, Range, std::size_t, bool, View<T, 2>>::function();
// [functions]

}  // namespace matmul
