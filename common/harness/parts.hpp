/// \file
/// Parallel passes over large arrays.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace staircase {

/// Divides the indices 0 to `count` - 1 into ranges of 2^20 indices and calls `function(begin,
/// end)` for each range. Several ranges are processed in parallel.
/// \returns the results in the order of the ranges
template <typename Function>
auto by_parts(std::size_t count, Function function) {
  constexpr std::size_t part = std::size_t{1} << 20;
  std::vector<decltype(function(count, count))> found((count + part - 1) / part);
#pragma omp parallel for schedule(dynamic) if (found.size() > 1)
  for (std::size_t p = 0; p < found.size(); ++p)
    found[p] = function(p * part, std::min((p + 1) * part, count));
  return found;
}

/// The smallest index below `count` for which predicate(i) is true; `count` if there is no such
/// index.
template <typename Predicate>
std::size_t first_that(std::size_t count, Predicate predicate) {
  const auto firsts = by_parts(count, [&](std::size_t begin, std::size_t end) {
    while (begin < end && !predicate(begin)) ++begin;
    return begin < end ? begin : count;
  });
  return firsts.empty() ? count : *std::ranges::min_element(firsts);
}

}  // namespace staircase
