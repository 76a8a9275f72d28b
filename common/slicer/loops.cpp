#include "reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace slicer {

Loop& Reader::add_loop(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
  function_.loops.push_back({});
  Loop& added = function_.loops.back();
  added.line = line(cursor);
  added.range = source_.range(cursor);
  added.pragmas = pragmas;
  added.is_inlined = scopes_.size() > 2;
  return added;
}

void Reader::counted(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
  const Parts parts = parts_of(source_, cursor);
  Frame* const outside = frame_;
  enter();
  Loop& read = add_loop(cursor, pragmas);
  if (source_.is_macro(cursor)) read.unknown = "a macro makes the loop";
  start(read, parts);
  enter()->loop = &read;
  read.frame = frame_;
  const std::size_t behind = function_.accesses.size();
  if (read.variable) limits(read, parts);
  if (!read.variable) {
    if (read.unknown.empty()) read.unknown = "the loop does not count by one variable";
    if (parts.condition && is_expression(*parts.condition)) value(*parts.condition);
    if (parts.step) effect(*parts.step);
  }
  if (parts.body) statement(*parts.body);
  for (std::size_t a = behind; a < function_.accesses.size(); ++a) {
    const Access& access = function_.accesses[a];
    if (access.is_write && access.place.variable == read.variable && access.place.steps.empty())
      read.unknown = fmt::format("line {} changes `{}`", access.line, read.variable->name);
  }
  if (parts.body) note_inside(read, *parts.body);
  frame_ = outside;
}

void Reader::start(Loop& read, const Parts& parts) {
  if (!parts.first) return;
  const CXCursor first = *parts.first;
  if (clang_getCursorKind(first) == CXCursor_DeclStmt) {
    const Cursors declared = children_of(first);
    for (const CXCursor each : declared) declaration(each);
    if (declared.size() != 1 || clang_getCursorKind(declared.front()) != CXCursor_VarDecl) return;
    Variable* variable = find(declared.front());
    const Cursors made_with = initialiser(source_, declared.front());
    if (!variable->is_integer || variable->alias || made_with.size() != 1) return;
    read.variable = variable;
    read.first = frozen(quietly(made_with.front()));
    return;
  }
  const CXCursor stripped_first = stripped(first);
  effect(first);
  if (clang_getCursorKind(stripped_first) != CXCursor_BinaryOperator ||
      operator_of(source_, stripped_first) != "=")
    return;
  const Cursors operands = expressions_of(stripped_first);
  const auto to = place(operands[0]);
  if (!to || !to->steps.empty() || !to->variable->is_integer) return;
  read.variable = to->variable;
  read.first = frozen(quietly(operands[1]));
}

void Reader::limits(Loop& read, const Parts& parts) {
  if (!parts.condition || !is_expression(*parts.condition)) {
    read.unknown = "the loop has no end that can be followed";
    return;
  }
  const CXCursor condition = stripped(*parts.condition);
  if (!parts.step && counts_down(read, condition)) return;
  read.step = parts.step ? step_of(stripped(*parts.step), read.variable) : 0;
  read.condition = value(condition);
  // What a loop that is not left by its count does not reach, != does not hold back.
  if (read.condition.operation == Operation::negation &&
      read.condition.operands[0].operation == Operation::equal && std::abs(read.step) == 1) {
    auto sides = read.condition.operands[0].operands;
    if (!mentions(sides[0], read.variable)) std::swap(sides[0], sides[1]);
    if (read.step < 0) std::swap(sides[0], sides[1]);
    read.condition = made(Operation::less, std::move(sides));
  }
  if (read.step == 0)
    read.unknown = fmt::format("`{}` does not count by a constant", read.variable->name);
  else if (!is_known(read.condition) || !bounds(read.condition, read.variable, read.step))
    read.unknown = fmt::format("the end `{}` is beyond affine", source_.text(condition));
  else if (!is_known(read.first))
    read.unknown = fmt::format("the beginning of `{}` is beyond affine", read.variable->name);
}

bool Reader::counts_down(Loop& read, CXCursor condition) {
  const Cursors operands = expressions_of(condition);
  if (clang_getCursorKind(condition) != CXCursor_BinaryOperator || operands.size() != 2)
    return false;
  const CXCursor left = stripped(operands[0]), right = stripped(operands[1]);
  if (clang_getCursorKind(left) != CXCursor_UnaryOperator || operator_of(source_, left) != "--" ||
      source_.text(left).starts_with("--") || source_.text(right) != "0")
    return false;
  const std::string comparison = operator_of(source_, condition);
  if (comparison != ">" && comparison != "!=") return false;
  const auto counted = place(expressions_of(left).front());
  if (!counted || counted->variable != read.variable) return false;
  read.step = -1;
  read.first = made(Operation::difference, {read.first, constant(1)});
  read.condition = made(Operation::at_most, {constant(0), symbol(read.variable)});
  return true;
}

long Reader::step_of(CXCursor cursor, const Variable* variable) {
  const Cursors operands = expressions_of(cursor);
  if (operands.empty()) return 0;
  const auto counted = place(operands.front());
  if (!counted || counted->variable != variable || !counted->steps.empty()) return 0;
  const std::string operation = operator_of(source_, cursor);
  if (operation == "++") return 1;
  if (operation == "--") return -1;
  if (operands.size() != 2) return 0;
  Term by = value(operands[1]);
  if (operation == "=" && by.operation == Operation::sum) {
    if (by.operands[1].operation == Operation::symbol) std::swap(by.operands[0], by.operands[1]);
    if (by.operands[0].symbol != variable) return 0;
    by = by.operands[1];
  } else if (operation != "+=" && operation != "-=") {
    return 0;
  }
  while (by.operation == Operation::symbol && by.symbol->value && by.symbol->is_fixed)
    by = Term(*by.symbol->value);
  if (by.operation != Operation::constant) return 0;
  return operation == "-=" ? -by.value : by.value;
}

void Reader::note_inside(Loop& read, CXCursor body) {
  if (clang_getCursorKind(body) == CXCursor_CompoundStmt) {
    const Cursors children = children_of(body);
    if (children.size() != 1) return;
    body = children.front();
  }
  if (clang_getCursorKind(body) != CXCursor_ForStmt) return;
  const int line = this->line(body);
  for (Loop& loop : function_.loops)
    if (loop.frame && loop.frame != read.frame && loop.frame->is_within(read.frame) &&
        loop.line == line && !read.inside)
      read.inside = &loop;
}

void Reader::uncounted(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
  Frame* const outside = frame_;
  Loop& read = add_loop(cursor, pragmas);
  read.unknown = "the loop does not count";
  enter()->loop = &read;
  read.frame = frame_;
  if (clang_getCursorKind(cursor) == CXCursor_CXXForRangeStmt)
    trouble(cursor, "a loop over a range");
  for (const CXCursor child : children_of(cursor)) {
    if (clang_getCursorKind(cursor) == CXCursor_CXXForRangeStmt && !is_statement(child)) continue;
    is_expression(child) ? effect(child) : statement(child);
  }
  frame_ = outside;
}

}  // namespace slicer
