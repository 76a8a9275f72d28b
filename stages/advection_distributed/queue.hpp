/// \file
/// The tiles of all steps in the order in which blocks draw them.

#pragma once

#include <algorithm>
#include <cstddef>

#include "advection_distributed.hpp"

namespace advection_distributed {

// [queue]
constexpr unsigned block_size = 256;  // threads of a block, two columns for each
constexpr unsigned most_rows = 8;     // of a tile

using Count = unsigned long long;

/// Some rows of as many columns as a block has threads for, in a step.
struct Tile {
  unsigned step, band, strip;
};

/// How a GPU's rows are cut: height of bands, their number, that of their tiles, and of blocks.
struct Cut {
  unsigned height, bands, strips, blocks;

  __device__ Tile tile(Count number) const {
    const unsigned step = number / (bands * strips), in_step = number % (bands * strips);
    return {step, in_step / strips, in_step % strips};
  }
};

/// Cuts rows into bands, so low that there is a tile for each of so many blocks.
inline Cut cut_of(unsigned rows, std::size_t cols, unsigned blocks) {
  const unsigned strips = staircase::pieces(cols, 2 * block_size);
  const unsigned height = std::clamp(rows * strips / blocks, 1U, most_rows);
  const unsigned bands = staircase::pieces(rows, height);
  return {height, bands, strips, std::min(bands * strips, blocks)};
}
// [queue]

}  // namespace advection_distributed
