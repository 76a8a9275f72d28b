/// \file
/// The order in which blocks and threads begin. CUDA guarantees no order, so a program whose result
/// depends on the order is wrong. Runs with different orders reveal such programs.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cuda_on_cpu {

struct Schedule {
  enum class Order { ascending, descending, random } order = Order::ascending;
  std::uint64_t seed = 0;

  /// Reads "ascending", "descending" or "random:SEED".
  /// \returns whether the text has one of these forms
  bool read(std::string_view text);

  /// The index in the grid of the block that begins after `i` other blocks.
  unsigned block(unsigned i, unsigned blocks) const;

  /// The ranks of a block's threads in the order in which they begin.
  std::vector<unsigned> threads(unsigned threads, unsigned block) const;
};

}  // namespace cuda_on_cpu
