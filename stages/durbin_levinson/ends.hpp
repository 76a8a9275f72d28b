/// \file
/// How rows of pairs begin and end: in memory, and in the first and the last step.

#pragma once

#include <cstddef>
#include <cstdint>

#include "pairs.hpp"

namespace durbin_levinson {

using staircase::View;

// [ends]
/// The pair at a position: left of all lies the 1 in front of y, beyond the end there is nothing.
template <typename T>
__device__ Pair<T> pair_at(View<const Pair<T>, 1> row, std::int64_t i) {
  const std::int64_t n = row.extent(0);
  if (i < 0) return i == -1 ? Pair<T>{1, 0} : Pair<T>{0, 0};
  return i < n ? row(i) : Pair<T>{0, 0};
}

/// What the steps begin with: the autocorrelations, from the second and from the first on.
template <typename T>
__global__ void begin(View<const T, 1> r, View<Pair<T>, 1> row) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < row.extent(0)) row(i) = {r(i + 1), r(i)};
}

/// What they end with.
template <typename T>
__global__ void end(View<const Pair<T>, 1> row, View<T, 1> y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < row.extent(0)) y(i) = row(i).y;
}
// [ends]

}  // namespace durbin_levinson
