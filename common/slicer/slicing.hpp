/// \file
/// Generates sliced programs from marked loops. A sliced program has the form of loop (3) or loop
/// (4) of the chapter on slicing.

#pragma once

#include <list>
#include <string>

#include "nest.hpp"

namespace slicer {

struct Form {
  int number = 4;            ///< 3: slices in place; 4: slices with buffers of their own
  bool is_template = false;  ///< whether the parts of loop (4) are left to the user
  bool is_cuda = false;      ///< whether a CUDA source is written
};

/// The text of a file with sliced versions of its marked nests.
/// \throws BadInput if a nest cannot be sliced in the requested form
std::string sliced(const Source& source, const std::list<Function>& functions, const Form& form);

}  // namespace slicer
