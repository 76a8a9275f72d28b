/// \file
/// The loop nests of a file that pragmas mark for slicing.

#pragma once

#include <list>
#include <string>
#include <vector>

#include "directives.hpp"
#include "nest.hpp"

namespace slicer {

/// A loop to be sliced, as it is written: `for (type name = first; condition; step)`.
struct Cut {
  const Loop* loop = nullptr;
  std::string name, type;
  std::string slices;    ///< the number of slices, as written in the pragma
  bool is_count = true;  ///< whether `slices` is a literal
  Range first{};         ///< the initial value, as a range of the text
  Range condition{};
  std::string last;       ///< the end (exclusive), if the condition is a simple bound
  bool is_fixed = false;  ///< whether its bounds are independent of the loops around it
  Range body{};
};

/// A nest to be sliced.
struct Marked {
  Directive directive;
  const Function* function = nullptr;
  Range nest{};           ///< the range of the nest in the text
  std::vector<Cut> cuts;  ///< one per sliced loop, outermost first
  std::vector<std::size_t>
      digits;  ///< the cut of each digit of the slice index e in mixed radix, fastest digit first
  int buffers = 1, threads = 1;
  bool is_on_device = false;

  const Loop& outermost() const { return *cuts.front().loop; }
};

/// The nests that `#pragma staircase slice(...)` marks. The iterations of each nest are proved
/// independent.
/// \throws BadInput if there is no marked nest, or if a nest cannot be sliced or is not proved
/// independent; in the latter case, the message names a pair of iterations
std::vector<Marked> marked_nests(const Source& source, const std::list<Function>& functions);

}  // namespace slicer
