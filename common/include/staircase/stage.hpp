/// \file
/// What a stage tells the harness of itself. Every stage includes it, through its workload's
/// header.

#pragma once

#include <cstddef>

#include "array.hpp"
#include "timeline.hpp"
#ifdef __CUDACC__
#include "cuda.hpp"
#include "grid.hpp"
#endif

namespace staircase {

/// A stage of a workload whose solution is an array of `rank` dimensions.
template <typename Problem, std::size_t rank>
struct Stage {
  const char* title;
  const char* idea;
  const char* needs = "";  ///< the hardware that it needs beside a GPU
  const char* note = "";   ///< what else users should know of it
  /// One function per precision; null for a precision that the stage does not offer.
  Array<double, rank> (*solve_f64)(const Problem&, Timeline&) = nullptr;
  Array<float, rank> (*solve_f32)(const Problem&, Timeline&) = nullptr;
};

}  // namespace staircase
