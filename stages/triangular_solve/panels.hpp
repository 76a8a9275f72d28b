/// \file
/// Panels of complete rows of L, which the host copies to a GPU whose memory is too small for L.

#pragma once

#include <algorithm>
#include <cstddef>
#include <staircase/error.hpp>
#include <staircase/stream.hpp>
#include <string>

#include "pairs.hpp"

namespace triangular_solve {

// [panels]
/// Number of rows of a panel, such that two panels fit into the budget. This number is a multiple
/// of 64, and at most 1024, so that the first copy and the last kernels are short.
template <typename T>
std::size_t rows_of_panel(const Problem& problem) {
  constexpr std::size_t most = 1024;
  const std::size_t columns = staircase::ceil_div(problem.n, block) * std::size_t{block};
  if (problem.budget == 0) return std::min(most, columns);
  const double of_block = 2. * block * columns * sizeof(T);
  if (problem.budget < of_block)
    throw staircase::NotEnoughMemory(
        "the budget is " + std::to_string(static_cast<std::size_t>(problem.budget)) +
        " bytes; two panels of 64 rows take " + std::to_string(static_cast<std::size_t>(of_block)));
  const double blocks = std::min<double>(problem.budget / of_block, most / block);
  return std::min(static_cast<std::size_t>(blocks) * block, columns);
}

/// Starts an asynchronous copy of the rows of a panel to the GPU, beginning at row `top` of L, up
/// to the diagonal of the panel's last row.
template <typename T>
void send(View<const T, 2> l, std::size_t top, View<T, 2> panel, const staircase::Stream& stream) {
  const std::size_t n = l.extent(0), pitch = panel.extent(1);
  staircase::check(cudaMemcpy2DAsync(
      panel.data(), pitch * sizeof(T), &l(top, 0), n * sizeof(T), std::min(pitch, n) * sizeof(T),
      std::min(panel.extent(0), n - top), cudaMemcpyHostToDevice, stream));
}
// [panels]

}  // namespace triangular_solve
