/// \file
/// Whether each iteration of a loop may have a variable of its own.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dependence.hpp"

namespace slicer {

/// What becomes of a variable that gets an element for each iteration of a loop.
struct Expansion {
  bool is_sure = false;  ///< whether it is known if it may be done
  bool is_legal = false;
  std::optional<Pair> pair = {};  ///< an iteration that reads what another one writes
  std::string reason = {};        ///< why not, or what is known of the last value
};

/// The variable of a name that a loop writes; nullptr if there is none.
const Variable* find_written(const Function& function, const Loop& loop, const std::string& name);

/// Each iteration has to write each element before it reads it.
/// \throws isl::exception if the sets are too complicated
Expansion expand(const Function& function, const Loop& loop, const Variable& variable);

}  // namespace slicer
