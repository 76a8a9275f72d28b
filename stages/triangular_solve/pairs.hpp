/// \file
/// Blocks of L with 64 rows and columns, and pairs of elements that one instruction reads. Four
/// threads share a row.

#pragma once

#include "triangular_solve.hpp"

namespace triangular_solve {

using staircase::View;

// [pairs]
constexpr unsigned block = 64;  // rows and columns
constexpr unsigned lanes = 4;   // threads per row
constexpr unsigned threads = block * lanes;
constexpr unsigned all_lanes = 0xFFFFFFFF;

/// Two neighbouring elements, which one instruction reads.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T of[2];
};

/// Returns the rows of a matrix as rows of pairs.
template <typename T>
__device__ View<const Pair<T>, 2> pairs_of(View<const T, 2> matrix) {
  return {reinterpret_cast<const Pair<T>*>(matrix.data()),
          {matrix.extent(0), matrix.extent(1) / 2}};
}
// [pairs]

}  // namespace triangular_solve
