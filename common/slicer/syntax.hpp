/// \file
/// The syntax of expressions, from libclang's cursors, and from tokens where the C interface of
/// libclang offers no cursor.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "source.hpp"

namespace slicer {

using Cursors = std::vector<CXCursor>;

bool is_expression(CXCursor cursor);
bool is_statement(CXCursor cursor);
Cursors expressions_of(CXCursor cursor);
/// An expression without the parentheses and the implicit casts around it.
CXCursor stripped(CXCursor cursor);

Cursors arguments_of(CXCursor call);
Cursors operands_of(CXCursor cursor);

/// The name of a member or of a called function.
std::string last_word(const Source& source, CXCursor cursor);
/// The operator of an expression with one or two operands.
std::string operator_of(const Source& source, CXCursor cursor);
/// The operator of an expression, whether it is built in or belongs to a class.
std::string operation_of(const Source& source, CXCursor cursor);
/// Whether a binary operator on numbers only reads its operands.
bool only_computes(const std::string& operation);
/// The initial value of a variable.
Cursors initialiser(const Source& source, CXCursor declaration);

/// The three parts of a loop's header, and the body of the loop.
struct Parts {
  std::optional<CXCursor> first, condition, step, body;
  bool is_whole = true;  ///< whether the position of each part is known; a macro may hide it
};
Parts parts_of(const Source& source, CXCursor cursor);

}  // namespace slicer
