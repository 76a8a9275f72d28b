/// \file
/// The order of slices for several GPUs. In this order, GPUs wait less for PCIe at the beginning.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "matmul.hpp"

namespace matmul {

// [order]
/// Returns an order of the slices in which slices reuse the panels of earlier slices. It goes from
/// left to right along a group of rows of slices, whose panels of A stay on the device, then from
/// right to left along the next group. The first two columns of a group are visited together, `few`
/// rows at a time, so that each panel of A that arrives is used for two slices.
inline std::vector<std::size_t> order_of(const Panels& panels, std::size_t few) {
  const Slices& slices = panels.slices;
  std::vector<std::size_t> order;
  const std::size_t two = std::min<std::size_t>(2, slices.sn);
  for (std::size_t i0 = 0; i0 < slices.sl; i0 += panels.kept) {
    const std::size_t end = std::min(i0 + panels.kept, slices.sl);
    const auto visit_rows = [&](std::size_t begin, std::size_t rows, std::size_t r) {
      const std::size_t j = i0 / panels.kept % 2 == 0 ? r : slices.sn - 1 - r;
      for (std::size_t i = begin; i < std::min(begin + rows, end); ++i)
        order.push_back(i + slices.sl * j);
    };
    for (std::size_t i = i0; i < end; i += few)
      for (std::size_t r = 0; r < two; ++r) visit_rows(i, few, r);
    for (std::size_t r = two; r < slices.sn; ++r) visit_rows(i0, panels.kept, r);
  }
  return order;
}
// [order]

}  // namespace matmul
