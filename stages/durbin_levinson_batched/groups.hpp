/// \file
/// Groups of systems with interleaved elements, and the transpositions to and from this layout.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "durbin_levinson_batched.hpp"

namespace durbin_levinson_batched {

using staircase::View;

// [groups]
constexpr std::size_t group = 64;  // systems that a thread solves together

/// Elements with the same index, one of each system of a group.
template <typename T>
struct alignas(64) Row {
  T of_system[group];
};
// [groups]

// [transpose]
/// Copies r_1 ... r_n of the group that begins at system s0 into rows; zeros pad the last group.
template <typename T>
void gather(View<const T, 2> r, std::size_t s0, std::span<Row<T>> rows) {
  for (std::size_t s = 0; s < group; ++s)
    for (std::size_t k = 0; k < rows.size(); ++k)
      rows[k].of_system[s] = s0 + s < r.extent(0) ? r(s0 + s, k + 1) : 0;
}

/// Copies rows to y (row 0) or the reflection coefficients (row 1) of the group that begins at s0.
template <typename T>
void scatter(std::span<const Row<T>> rows, std::size_t s0, std::size_t row, View<T, 3> solution) {
  const std::size_t systems = std::min(group, solution.extent(0) - s0);
  for (std::size_t s = 0; s < systems; ++s)
    for (std::size_t k = 0; k < rows.size(); ++k) solution(s0 + s, row, k) = rows[k].of_system[s];
}
// [transpose]

}  // namespace durbin_levinson_batched
