/// \file
/// Passes over gigabytes with all threads.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace staircase {

/// Calls `look(begin, end)` for parts of `count` things, with all threads if they are several
/// parts, and hands back what it returned, in the order of the parts.
template <typename Look>
auto by_parts(std::size_t count, Look look) {
  constexpr std::size_t part = std::size_t{1} << 20;
  std::vector<decltype(look(count, count))> found((count + part - 1) / part);
#pragma omp parallel for schedule(dynamic) if (found.size() > 1)
  for (std::size_t p = 0; p < found.size(); ++p)
    found[p] = look(p * part, std::min((p + 1) * part, count));
  return found;
}

/// The first of `count` things for which `is(i)` holds, or their number.
template <typename Is>
std::size_t first_that(std::size_t count, Is is) {
  const auto firsts = by_parts(count, [&](std::size_t begin, std::size_t end) {
    while (begin < end && !is(begin)) ++begin;
    return begin < end ? begin : count;
  });
  return firsts.empty() ? count : *std::ranges::min_element(firsts);
}

}  // namespace staircase
