/// \file
/// C++ loops and expressions that isl generates from sets.

#pragma once

#include <isl/cpp.h>

#include <functional>
#include <string>
#include <vector>

#include "lines.hpp"

namespace slicer {

/// A tree of loops, conditions and statements that visits the elements of a set.
struct Walk {
  enum { block, loop, branch, statement } kind = block;
  std::string variable, first, condition, step;  ///< of a loop; a branch has only `condition`
  std::vector<std::string> subscripts;           ///< of a statement: the subscripts of its element
  std::vector<Walk> parts;
};

/// An expression over parameters, which are variables of type `long`. A division that rounds down
/// becomes a call of `sliced::quotient`.
std::string text_of(const isl::ast_expr& expression);

/// Generates loops that visit each element of a set once.
/// \param context constraints on the parameters
Walk walk_over(const isl::set& set, const isl::set& context,
               const std::vector<std::string>& variables);

/// Writes the loops as C++. `Statement` returns the C++ statement for the element with the given
/// subscripts.
using Statement = std::function<std::string(const std::vector<std::string>& subscripts)>;
void write(const Walk& walk, const Statement& statement, Lines& lines);

}  // namespace slicer
