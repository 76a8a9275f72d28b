/// \file
/// Array expansion: whether each iteration of a loop may have its own copy of a variable.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dependence.hpp"

namespace slicer {

/// The result of checking the expansion of a variable to one element per iteration of a loop.
struct Expansion {
  bool is_sure = false;  ///< whether the tool could decide if the expansion is legal
  bool is_legal = false;
  std::optional<Pair> pair = {};  ///< two iterations, of which one reads a value that the
                                  ///< other one has written
  std::string reason = {};        ///< why the expansion is illegal or undecided, or whether the
                                  ///< last value is needed
};

/// The variable with this name that a loop writes; nullptr if there is none.
const Variable* find_written(const Function& function, const Loop& loop, const std::string& name);

/// Examines an expansion, which is legal if each iteration writes each element before reading it.
/// \throws isl::exception if the sets are too complicated
Expansion expand(const Function& function, const Loop& loop, const Variable& variable);

}  // namespace slicer
