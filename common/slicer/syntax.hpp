/// \file
/// What libclang's cursors say of the syntax of an expression, and tokens where its C interface is
/// blind.

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
/// An expression without parentheses and implicit casts around it.
CXCursor stripped(CXCursor cursor);

Cursors arguments_of(CXCursor call);
Cursors operands_of(CXCursor cursor);

/// The name of a member, or of what is called.
std::string last_word(const Source& source, CXCursor cursor);
/// The operator of an expression with one or two operands.
std::string operator_of(const Source& source, CXCursor cursor);
/// The operator of an expression, or the one of a class that it calls.
std::string operation_of(const Source& source, CXCursor cursor);
/// What a variable is made with.
Cursors initialiser(const Source& source, CXCursor declaration);

/// What stands in a loop's parentheses, and behind them.
struct Parts {
  std::optional<CXCursor> first, condition, step, body;
};
Parts parts_of(const Source& source, CXCursor cursor);

}  // namespace slicer
