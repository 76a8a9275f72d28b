/// \file
/// The nests of a file that are to be sliced, as their pragmas ask for it.

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
  std::string slices;    ///< how many, as the pragma says
  bool is_count = true;  ///< whether that is a number and not an expression
  Range first{};         ///< where the loop begins, in the text
  Range condition{};
  std::string last;       ///< what it ends before, where the condition says no more than that
  bool is_fixed = false;  ///< begins and ends the same in each iteration of the loops around it
  Range body{};
};

/// A nest to be sliced.
struct Marked {
  Directive directive;
  const Function* function = nullptr;
  Range nest{};           ///< where it is written
  std::vector<Cut> cuts;  ///< from the outermost loop inwards
  std::vector<std::size_t>
      digits;  ///< which of them each digit of e is about; the first is fastest
  int buffers = 1, threads = 1;
  bool is_on_device = false;

  const Loop& outermost() const { return *cuts.front().loop; }
};

/// The nests that `#pragma staircase slice(...)` marks; each is proved independent.
/// \throws BadInput if there is none, if one is not what can be sliced, or if a loop to be sliced
/// is not proved to have independent iterations, with the pair that refutes it
std::vector<Marked> marked_nests(const Source& source, const std::list<Function>& functions);

}  // namespace slicer
