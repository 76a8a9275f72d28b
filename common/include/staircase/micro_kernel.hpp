/// \file
/// The micro-kernel of a matrix product (Goto and van de Geijn 2008; Van Zee and van de Geijn
/// 2015). The micro-kernel computes a tile of the product in vector registers. It reads the factors
/// from packed copies, which are called micro-panels.

#pragma once

#include <cstddef>
#include <cstdint>

#include "array.hpp"

namespace staircase {

// [MicroTile]
/// The numbers of rows and columns of a tile, for vectors of `bytes` bytes. The vector registers
/// store the sums of a tile, a row of the second factor and one element of the first factor. There
/// are 32 registers with AVX-512, and at least 16 on other processors.
template <typename T, int bytes>
struct MicroTile {
  static constexpr std::size_t lanes = bytes / sizeof(T);
  static constexpr std::size_t rows = bytes == 64 ? 8 : 4;
  static constexpr std::size_t vectors = bytes == 16 ? 2 : 3;  // per row
  static constexpr std::size_t cols = vectors * lanes;
};
// [MicroTile]

// [MicroPanels]
/// Memory for micro-panels of `lines` rows or columns of a factor, with `depth` elements each. The
/// micro-panel whose first line is n begins at element (n, 0). The memory is aligned to cache lines
/// of 64 bytes, so that no vector of a panel crosses the border of a cache line.
template <typename T>
class MicroPanels {
 public:
  MicroPanels(std::size_t lines, std::size_t depth)
      : memory_(lines * depth + 64 / sizeof(T)),
        first_(memory_.data() + -reinterpret_cast<std::uintptr_t>(memory_.data()) % 64 / sizeof(T)),
        depth_(depth) {}

  T& operator()(std::size_t line, std::size_t k) const { return first_[line * depth_ + k]; }

 private:
  Array<T, 1> memory_;
  T* first_;
  std::size_t depth_;
};
// [MicroPanels]

// [multiply_micro_panels]
/// Computes a tile of c: the sum of the products of `depth` columns of a with `depth` rows of b.
/// Both a and b are micro-panels: the elements of column k of a, and of row k of b, are contiguous,
/// and the next column or row follows. The sums are added to c if `is_added` is true, and stored in
/// c otherwise. Rows of c are `stride` elements apart.
template <int bytes, typename T>
[[gnu::always_inline]] inline void multiply_micro_panels(const T* a, const T* b, std::size_t depth,
                                                         T* c, std::size_t stride, bool is_added) {
  using Tile = MicroTile<T, bytes>;
  using Vector [[gnu::vector_size(bytes)]] = T;
  using InMemory [[gnu::vector_size(bytes), gnu::aligned(alignof(T))]] = T;
  // Prefetches the tile of c into the L1 cache while the sums are computed.
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Tile::rows; ++i)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Tile::vectors; ++v)
      __builtin_prefetch(&c[i * stride + v * Tile::lanes]);
  Vector sum[Tile::rows][Tile::vectors] = {};
#pragma GCC unroll 4
  for (std::size_t k = 0; k < depth; ++k, a += Tile::rows, b += Tile::cols) {
    Vector row[Tile::vectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Tile::vectors; ++v)
      row[v] = reinterpret_cast<const InMemory&>(b[v * Tile::lanes]);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Tile::rows; ++i)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < Tile::vectors; ++v) sum[i][v] += a[i] * row[v];
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Tile::rows; ++i)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < Tile::vectors; ++v) {
      InMemory& stored = reinterpret_cast<InMemory&>(c[i * stride + v * Tile::lanes]);
      stored = is_added ? stored + sum[i][v] : sum[i][v];
    }
}
// [multiply_micro_panels]

}  // namespace staircase
