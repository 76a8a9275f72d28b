#include "clauses.hpp"
#include "names.hpp"
#include "reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "types.hpp"

namespace slicer {

Loop& Reader::add_loop(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
  function_.loops.push_back({});
  Loop& added = function_.loops.back();
  added.line = line(cursor);
  added.range = source_.range(cursor);
  added.pragmas = pragmas;
  for (const Pragma* pragma : pragmas)
    if (makes_parallel(*pragma)) added.doubt = doubt_of(*pragma, source_);
  added.is_inlined = scopes_.size() > 2;
  return added;
}

void Reader::counted(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
  const Parts parts = parts_of(source_, cursor);
  Frame* const outside = frame_;
  if (!parts.is_whole) {
    trouble(cursor, "the head of the loop");
    return uncounted(cursor, pragmas);
  }
  enter();
  Loop& read = add_loop(cursor, pragmas);
  if (source_.is_macro(cursor)) read.unknown = "the loop comes from a macro";
  start(read, parts);
  enter()->loop = &read;
  read.frame = frame_;
  const std::size_t behind = function_.accesses.size();
  if (read.variable) limits(read, parts);
  if (read.variable && read.step == 0 && parts.step) effect(*parts.step);
  if (!read.variable) {
    if (read.unknown.empty()) read.unknown = "the loop does not count by one variable";
    if (parts.condition && is_expression(*parts.condition)) value(*parts.condition);
    if (parts.step) effect(*parts.step);
  }
  if (parts.body) {
    const std::vector<Linear> linear = begin_linear(read, *parts.body);
    statement(*parts.body);
    end_linear(read, *parts.body, linear, behind);
  }
  for (std::size_t a = behind; a < function_.accesses.size(); ++a) {
    const Access& access = function_.accesses[a];
    if (access.is_write && read.variable && !read.variable->is_apart &&
        !read.variable->is_constant && Names::is_elsewhere(access))
      read.unknown =
          fmt::format("line {} may change `{}` by another name", access.line, read.variable->name);
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
    if (!is_wide_integer_type(clang_getCursorType(declared.front())) || variable->alias ||
        made_with.size() != 1)
      return;
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
  if (!to || !to->steps.empty() || !to->variable->is_integer || !to->unsure.empty() ||
      !is_wide_integer_type(clang_getCursorType(stripped(operands[0]))))
    return;
  read.variable = to->variable;
  read.first = frozen(quietly(operands[1]));
}

void Reader::limits(Loop& read, const Parts& parts) {
  if (!parts.condition || !is_expression(*parts.condition)) {
    read.unknown = "the end of the loop cannot be analysed";
    return;
  }
  const CXCursor condition = stripped(*parts.condition);
  if (!parts.step && counts_down(read, condition)) return;
  read.step = parts.step ? step_of(stripped(*parts.step), read.variable) : 0;
  read.condition = value(condition);
  // With a step of 1, the condition i != n gives the same iterations as i < n if the loop ends at i
  // = n.
  if (read.condition.operation == Operation::negation &&
      read.condition.operands[0].operation == Operation::equal && std::abs(read.step) == 1) {
    auto sides = read.condition.operands[0].operands;
    if (!mentions(sides[0], read.variable)) std::swap(sides[0], sides[1]);
    if (read.step < 0) std::swap(sides[0], sides[1]);
    read.condition = made(Operation::less, std::move(sides));
  }
  if (read.step < 0 && counts_below_zero(read, condition))
    read.condition =
        made(Operation::both, {made(Operation::at_most, {constant(0), symbol(read.variable)}),
                               std::move(read.condition)});
  else if (read.step == 0)
    read.unknown = fmt::format("`{}` does not count by a constant", read.variable->name);
  else if (!is_known(read.condition) || !bounds(read.condition, read.variable, read.step))
    read.unknown = fmt::format("the end `{}` is beyond affine", source_.text(condition));
  else if (!is_known(read.first))
    read.unknown = fmt::format("the beginning of `{}` is beyond affine", read.variable->name);
}

bool Reader::counts_below_zero(const Loop& read, CXCursor condition) {
  const Cursors sides = expressions_of(condition);
  if (!read.variable->is_natural || read.step != -1 || sides.size() != 2 ||
      read.condition.operation != Operation::less || !is_known(read.condition) ||
      !is_known(read.first))
    return false;
  // The largest value of the counter has to be at least the largest value of the end.
  const auto& operands = read.condition.operands;
  const CXType counter = clang_getCursorType(stripped(sides[0]));
  const CXType end = clang_getCursorType(stripped(sides[1]));
  return operands[0].operation == Operation::symbol && operands[0].symbol == read.variable &&
         !mentions(operands[1], read.variable) && is_natural_type(end) &&
         bits_of(end) <= bits_of(counter) && bits_of(counter) >= 32;
}

std::vector<Reader::Linear> Reader::begin_linear(Loop& read, CXCursor body) {
  std::vector<Linear> linear;
  const Pragma* pragma = parallel_pragma(read);
  if (!pragma || !read.variable || read.step == 0 || !read.unknown.empty() ||
      clang_getCursorKind(body) != CXCursor_CompoundStmt || children_of(body).empty())
    return linear;
  const CXCursor last = stripped(children_of(body).back());
  const Cursors operands = expressions_of(last);
  if (operands.empty()) return linear;
  const std::string operation = operator_of(source_, last);
  for (const std::vector<std::string>& clause : pragma->clauses("linear")) {
    const bool has_step = clause.size() == 3 && clause[1] == ":";
    if (clause.size() != 1 && !has_step) continue;
    const long step = has_step ? std::strtol(clause[2].c_str(), nullptr, 10) : 1;
    const CXCursor counted = stripped(operands[0]);
    if (clang_getCursorKind(counted) != CXCursor_DeclRefExpr ||
        text_of(clang_getCursorSpelling(counted)) != clause[0] || step == 0)
      continue;
    Variable* variable = find(clang_getCursorReferenced(counted));
    const bool by_one = operation == "++" && step == 1;
    const bool by_step = operation == "+=" && operands.size() == 2 &&
                         source_.text(stripped(operands[1])) == std::to_string(step);
    if ((!by_one && !by_step) || variable->alias || !variable->is_apart ||
        !is_wide_integer_type(clang_getCursorType(counted)))
      continue;
    Variable* start = add(variable->name);
    Variable* within = add(variable->name);
    for (Variable* each : {start, within})
      each->is_integer = each->is_fixed = each->is_apart = true;
    start->frame = read.frame->parent;
    within->frame = read.frame;
    Term run = made(Operation::difference, {symbol(read.variable), read.first});
    if (read.step != 1) run = made(Operation::quotient, {std::move(run), constant(read.step)});
    within->value =
        made(Operation::sum,
             {symbol(start), made(Operation::product, {constant(step), std::move(run)})});
    rename(variable, within);
    linear.push_back({variable, within});
  }
  return linear;
}

void Reader::end_linear(Loop& read, CXCursor body, const std::vector<Linear>& linear,
                        std::size_t behind) {
  for (const auto& [variable, within] : linear) {
    rename(within, variable);
    int writes = 0;
    for (std::size_t a = behind; a < function_.accesses.size(); ++a)
      writes += function_.accesses[a].is_write && function_.accesses[a].place.variable == within;
    if (writes != 1)
      read.unknown = fmt::format("the loop does not update `{}` exactly once", variable->name);
    for (const bool is_write : {false, true}) {
      access(body, {variable, {}, {}}, is_write);
      function_.accesses.back().text = variable->name;
    }
    read.linear.push_back(variable);
  }
}

void Reader::rename(const Variable* from, Variable* to) {
  for (auto& scope : scopes_)
    for (auto& [declaration, variable] : scope)
      if (variable == from) variable = to;
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
