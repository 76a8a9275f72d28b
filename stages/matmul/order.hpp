/// \file
/// The order of slices for several GPUs, whose buses are late at the beginning.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "matmul.hpp"

namespace matmul {

// [order]
/// The slices in an order in which each takes what the ones before it had: to the right along as
/// many rows as panels of A are kept, and back to the left along the next ones. The first two
/// columns go side by side, so `few` rows at a time: then each panel of A that comes is used twice.
inline std::vector<std::size_t> order_of(const Panels& panels, std::size_t few) {
  const Slices& slices = panels.slices;
  std::vector<std::size_t> order;
  const std::size_t two = std::min<std::size_t>(2, slices.sn);
  for (std::size_t i0 = 0; i0 < slices.sl; i0 += panels.kept) {
    const std::size_t end = std::min(i0 + panels.kept, slices.sl);
    const auto go_down = [&](std::size_t begin, std::size_t rows, std::size_t r) {
      const std::size_t j = i0 / panels.kept % 2 == 0 ? r : slices.sn - 1 - r;
      for (std::size_t i = begin; i < std::min(begin + rows, end); ++i)
        order.push_back(i + slices.sl * j);
    };
    for (std::size_t i = i0; i < end; i += few)
      for (std::size_t r = 0; r < two; ++r) go_down(i, few, r);
    for (std::size_t r = two; r < slices.sn; ++r) go_down(i0, panels.kept, r);
  }
  return order;
}
// [order]

}  // namespace matmul
