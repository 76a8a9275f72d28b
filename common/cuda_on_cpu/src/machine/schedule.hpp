/// \file
/// The order in which blocks and threads begin. CUDA guarantees no order: a result that depends on
/// the order is wrong, and it changes as soon as the order changes.

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

  /// The block that is the i-th to begin.
  unsigned block(unsigned i, unsigned blocks) const;

  /// The ranks of a block's threads in the order in which they begin.
  std::vector<unsigned> threads(unsigned threads, unsigned block) const;
};

}  // namespace cuda_on_cpu
