/// \file
/// Reads loops and accesses to memory from the cursors of a function.

#pragma once

#include <list>

#include "nest.hpp"

namespace slicer {

/// Reads all functions of a file that contain loops.
std::list<Function> read_functions(const Source& source);

}  // namespace slicer
