/// \file
/// The interface between a stage and the harness. Every stage includes this file through the header
/// of its workload.

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
  const char* title;  ///< the name of the technique
  const char* idea;   ///< one line: verb, object, mechanism; at most 46 bytes
  /// Hardware that the stage needs in addition to a GPU of compute capability 7.5; empty if none.
  const char* needs = "";
  const char* note = "";  ///< a further remark for users; may be empty
  /// Functions that solve a problem and mark phases on the timeline. A pointer is null if the stage
  /// does not support the precision.
  Array<double, rank> (*solve_f64)(const Problem&, Timeline&) = nullptr;
  Array<float, rank> (*solve_f32)(const Problem&, Timeline&) = nullptr;
};

}  // namespace staircase
