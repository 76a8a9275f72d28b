/// \file
/// Loops and expressions that isl makes of sets, as C++.

#pragma once

#include <isl/cpp.h>

#include <functional>
#include <string>
#include <vector>

#include "lines.hpp"

namespace slicer {

/// Something to be done with each element of a set: a tree of loops, conditions and statements.
struct Walk {
  enum { block, loop, branch, statement } kind = block;
  std::string variable, first, condition, step;  ///< of a loop; of a branch, the condition
  std::vector<std::string> subscripts;           ///< of the element, of a statement
  std::vector<Walk> parts;
};

/// An expression over parameters, which have the names of variables of type `long`. Divisions that
/// round down are calls of `sliced::quotient`.
std::string text_of(const isl::ast_expr& expression);

/// Loops that meet each element of a set once.
/// \param context what is known of the parameters
Walk walk_over(const isl::set& set, const isl::set& context,
               const std::vector<std::string>& variables);

/// Writes such loops, with the statement that belongs to some subscripts.
using Statement = std::function<std::string(const std::vector<std::string>& subscripts)>;
void write(const Walk& walk, const Statement& statement, Lines& lines);

}  // namespace slicer
