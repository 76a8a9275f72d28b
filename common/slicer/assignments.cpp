#include "reading.hpp"

#include <algorithm>
#include <set>

#include "types.hpp"

namespace slicer {
namespace {

Update update_of(const std::string& operation) {
  if (operation == "+" || operation == "-") return Update::sum;
  if (operation == "*") return Update::product;
  if (operation == "&") return Update::conjunction;
  if (operation == "|") return Update::disjunction;
  if (operation == "^") return Update::parity;
  return Update::none;
}

/// Collects the added terms of a sum in `added` and its subtracted terms in `taken`, or the factors
/// of a product in `added`.
void flatten(const Source& source, CXCursor cursor, bool is_sum, bool is_taken,
             std::vector<CXCursor>& added, std::vector<CXCursor>& taken) {
  cursor = stripped(cursor);
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const bool may_be = kind == CXCursor_BinaryOperator || kind == CXCursor_CallExpr;
  const std::string operation = may_be ? operation_of(source, cursor) : "";
  const Cursors operands = operands_of(cursor);
  const bool goes_on =
      operands.size() == 2 && (is_sum ? operation == "+" || operation == "-" : operation == "*");
  if (!goes_on) {
    (is_taken ? taken : added).push_back(cursor);
    return;
  }
  flatten(source, operands[0], is_sum, is_taken, added, taken);
  flatten(source, operands[1], is_sum, is_taken != (operation == "-"), added, taken);
}

/// Whether a type is a floating-point type.
bool is_floating(CXType type) {
  type = without_reference(type);
  return type.kind == CXType_Float || type.kind == CXType_Double ||
         type.kind == CXType_LongDouble || type.kind == CXType_Float128 ||
         type.kind == CXType_Half || type.kind == CXType_Float16;
}

/// Whether the order of updates affects only the rounding. An integer variable must be updated with
/// integers only. Otherwise, each step would truncate the sum, and the result would depend on the
/// order.
bool may_commute(CXCursor left, CXCursor right) {
  const CXType type = clang_getCursorType(left);
  const CXType given = clang_getCursorType(stripped(right));
  if (is_dependent_type(type) || is_element_of_proxy(left)) return true;
  if (!is_number_type(type)) return false;
  const bool is_whole = !is_floating(type) && without_reference(type).kind <= CXType_LastBuiltin;
  return !is_whole || (is_number_type(given) && !is_floating(given)) || is_dependent_type(given);
}

/// Whether the type of `left` represents the computed minimum or maximum exactly. An integer type
/// that is too narrow would change the value.
bool may_compare(CXCursor left, CXCursor right) {
  const CXType type = clang_getCursorType(left), given = clang_getCursorType(stripped(right));
  const bool is_same = without_reference(type).kind == without_reference(given).kind;
  if (is_same || is_dependent_type(type) || is_element_of_proxy(left)) return true;
  return is_floating(type) || is_wide_integer_type(type) ||
         (is_integer_type(type) && is_integer_type(given) && holds(type, given));
}

bool is_bool(CXType type) { return without_reference(type).kind == CXType_Bool; }

/// Whether a variable can store a sum, a product or a parity. A bool stores only whether the result
/// is zero.
bool may_add_up(CXType type) { return !is_bool(type); }

}  // namespace

void Reader::assign(CXCursor cursor, bool is_statement) {
  std::string operation = operation_of(source_, cursor);
  const Cursors operands = operands_of(cursor);
  if (operands.size() != 2 || !operation.ends_with("=")) {
    trouble_with(cursor, "the assignment");
    return;
  }
  const CXCursor left = stripped(operands[0]);
  for (const CXCursor operand : operands)
    if (is_dependent_type(clang_getCursorType(operand))) assume_number(cursor);
  operation.pop_back();
  const bool is_of_bits = operation != "+" && operation != "-" && operation != "*";
  const bool is_of_bools = is_bool(clang_getCursorType(stripped(operands[1])));
  const bool keeps_bits = operation == "^" ? is_of_bools : is_of_bits;
  const bool commutes = is_statement && may_commute(left, operands[1]) &&
                        (keeps_bits || may_add_up(clang_getCursorType(left)));
  if (operation.empty() && commutes && update(left, operands[1])) return;
  if (!operation.empty()) value(operands[1]);
  const auto to = place(left);
  if (!to) {
    if (operation.empty()) value(operands[1]);
    trouble_with(left, "nothing is known of the location");
    value(left);
    return;
  }
  if (operation.empty()) {
    value(operands[1]);
  } else {
    access(left, *to, false, commutes ? update_of(operation) : Update::none);
  }
  access(left, *to, true, commutes ? update_of(operation) : Update::none);
  function_.accesses.back().is_input = operation.empty() && is_input(operands[1]);
}

bool Reader::is_input(CXCursor cursor) {
  static const std::set<std::string> functions{"atoi",    "atol",     "atoll", "strtol", "strtoul",
                                               "strtoll", "strtoull", "stoi",  "stol",   "stoll"};
  cursor = stripped(cursor);
  const Cursors parts = expressions_of(cursor);
  if (clang_getCursorKind(cursor) != CXCursor_CallExpr || parts.size() < 2) return false;
  const CXCursor called = clang_getCursorReferenced(stripped(parts[0]));
  if (!functions.contains(text_of(clang_getCursorSpelling(called))) ||
      !clang_Location_isInSystemHeader(clang_getCursorLocation(called)))
    return false;
  const auto from = place(parts[1]);
  return from && from->variable->parameter >= 0 && from->variable->is_fixed;
}

bool Reader::update(CXCursor left, CXCursor right) {
  const std::string name = source_.text(left);
  if (is_dependent_type(clang_getCursorType(right))) assume_number(right);
  const bool adds_up = may_add_up(clang_getCursorType(left));
  for (const Update kind : {Update::sum, Update::product}) {
    std::vector<CXCursor> added, taken;
    flatten(source_, right, kind == Update::sum, false, added, taken);
    if (adds_up && added.size() + taken.size() > 1 && updates(left, name, kind, added, taken))
      return true;
  }
  const CXCursor called = stripped(right);
  if (const Choice choice = chosen(called); choice.update != Update::none)
    return may_compare(left, right) &&
           updates(left, name, choice.update, {choice.one, choice.other}, {});
  if (clang_getCursorKind(called) == CXCursor_BinaryOperator) {
    const std::string operation = operator_of(source_, called);
    const Cursors operands = expressions_of(called);
    const bool is_both = operation == "&&" || operation == "and";
    if (is_both || operation == "||" || operation == "or")
      return updates(left, name, is_both ? Update::logical_and : Update::logical_or, operands, {});
    return false;
  }
  if (clang_getCursorKind(called) != CXCursor_CallExpr) return false;
  const Cursors parts = expressions_of(called);
  if (parts.size() != 3) return false;
  const std::string function = callee_name(stripped(parts[0]));
  if (function != "min" && function != "max") return false;
  if (!callees_.is_pure(stripped(parts[0]), function) || !may_compare(left, right)) return false;
  return updates(left, name, function == "min" ? Update::minimum : Update::maximum,
                 {parts[1], parts[2]}, {});
}

Reader::Choice Reader::compared(CXCursor condition) const {
  condition = stripped(condition);
  const Cursors sides = expressions_of(condition);
  if (clang_getCursorKind(condition) != CXCursor_BinaryOperator || sides.size() != 2) return {};
  const std::string comparison = operator_of(source_, condition);
  if (comparison == ">" || comparison == ">=") return {Update::maximum, sides[0], sides[1]};
  if (comparison == "<" || comparison == "<=") return {Update::minimum, sides[0], sides[1]};
  return {};
}

Reader::Choice Reader::chosen(CXCursor cursor) const {
  const Cursors parts = expressions_of(cursor);
  if (clang_getCursorKind(cursor) != CXCursor_ConditionalOperator || parts.size() != 3) return {};
  Choice choice = compared(parts[0]);
  if (choice.update == Update::none) return {};
  const auto is_same = [&](CXCursor one, CXCursor other) {
    return source_.text(stripped(one)) == source_.text(stripped(other));
  };
  if (is_same(choice.one, parts[1]) && is_same(choice.other, parts[2])) return choice;
  if (!is_same(choice.one, parts[2]) || !is_same(choice.other, parts[1])) return {};
  choice.update = choice.update == Update::maximum ? Update::minimum : Update::maximum;
  return choice;
}

bool Reader::updates_if(const Cursors& parts) {
  Choice choice = compared(parts[0]);
  CXCursor then = parts[1];
  if (clang_getCursorKind(then) == CXCursor_CompoundStmt) {
    const Cursors statements = children_of(then);
    if (statements.size() != 1) return false;
    then = statements.front();
  }
  then = stripped(then);
  if (choice.update == Update::none || clang_getCursorKind(then) != CXCursor_BinaryOperator ||
      operator_of(source_, then) != "=")
    return false;
  const Cursors operands = expressions_of(then);
  const CXCursor left = stripped(operands[0]);
  const std::string name = source_.text(left), other = source_.text(stripped(operands[1]));
  const std::string one = source_.text(stripped(choice.one));
  const std::string two = source_.text(stripped(choice.other));
  if (!may_commute(left, operands[1]) || !may_compare(left, operands[1])) return false;
  // if (m < x) m = x computes the maximum, whereas `choice` is the minimum of m and x.
  const bool is_turned = one == name && two == other;
  if (!is_turned && !(one == other && two == name)) return false;
  if (is_turned)
    choice.update = choice.update == Update::maximum ? Update::minimum : Update::maximum;
  return updates(left, name, choice.update, {choice.one, choice.other}, {});
}

bool Reader::updates(CXCursor left, const std::string& name, Update kind,
                     std::vector<CXCursor> added, const std::vector<CXCursor>& taken) {
  const auto is_left = [&](CXCursor part) { return source_.text(stripped(part)) == name; };
  if (name.ends_with("...") || std::count_if(added.begin(), added.end(), is_left) != 1 ||
      std::any_of(taken.begin(), taken.end(), is_left))
    return false;
  std::erase_if(added, is_left);
  for (const CXCursor part : added) value(part);
  for (const CXCursor part : taken) value(part);
  const auto to = place(left);
  if (!to) return false;
  access(left, *to, false, kind);
  access(left, *to, true, kind);
  return true;
}

Term Reader::count(CXCursor cursor, bool is_statement) {
  const CXCursor operand = stripped(expressions_of(cursor).front());
  if (is_dependent_type(clang_getCursorType(operand))) assume_number(cursor);
  const auto to = place(operand);
  if (to) {
    access(operand, *to, false, is_statement ? Update::sum : Update::none);
    access(operand, *to, true, is_statement ? Update::sum : Update::none);
  } else {
    trouble_with(cursor, "nothing is known of the location");
  }
  return unknown(source_.text(cursor));
}

}  // namespace slicer
