/// \file
/// The accesses to memory of a loop that its iterations have in common.

#pragma once

#include <string>
#include <vector>

#include "names.hpp"

namespace slicer {

/// What a loop reads and writes, but for what each iteration has to itself.
std::vector<const Access*> accesses_of(const Function& function, const Loop& loop);

/// Why nothing can be said of a part of a function, if so.
std::string trouble_in(const Function& function, const Frame& frame,
                       const std::vector<const Access*>& accesses);

/// Whether each iteration writes a variable before it reads it, so that each may have its own.
bool is_written_first(const std::vector<const Access*>& accesses, const Variable* variable);

}  // namespace slicer
