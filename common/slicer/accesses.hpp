/// \file
/// The accesses of a loop to memory that its iterations share.

#pragma once

#include <string>
#include <vector>

#include "names.hpp"

namespace slicer {

/// The accesses of a loop, without those to variables that each iteration declares itself.
std::vector<const Access*> accesses_of(const Function& function, const Loop& loop);

/// Why a part of a function cannot be analysed; empty if it can be.
std::string trouble_in(const Function& function, const Frame& frame,
                       const std::vector<const Access*>& accesses);

/// Whether each iteration writes a variable before reading it, so that the variable can be private.
bool is_written_first(const std::vector<const Access*>& accesses, const Variable* variable);

}  // namespace slicer
