/// \file
/// The accesses of a loop to memory that its iterations share.

#pragma once

#include <string>
#include <vector>

#include "names.hpp"

namespace slicer {

/// The accesses within a loop, except those to memory of which each iteration has its own copy.
std::vector<const Access*> accesses_of(const Function& function, const Loop& loop);

/// The reason why a part of a function cannot be analysed; empty if there is none.
/// \param with_output whether output of the program also counts as a reason
std::string trouble_in(const Function& function, const Frame& frame,
                       const std::vector<const Access*>& accesses, bool with_output = true);

/// The reason why the program may need the final value of a variable after a loop; empty if the
/// program does not need this value.
std::string need_after(const Function& function, const Loop& loop, const Variable& variable);

/// Whether each iteration writes a variable before reading it, so that the variable can be private.
bool is_written_first(const std::vector<const Access*>& accesses, const Variable* variable);

}  // namespace slicer
