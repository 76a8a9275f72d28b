/// \file
/// Reads loops and accesses to memory from the cursors of a function.

#pragma once

#include <list>

#include "nest.hpp"

namespace slicer {

/// What there is to know of the functions of a file that have loops.
std::list<Function> read_functions(const Source& source);

}  // namespace slicer
