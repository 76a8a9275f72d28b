#include "reading.hpp"

#include <algorithm>

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

/// The terms of a sum or the factors of a product, with what is subtracted told apart.
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

}  // namespace

void Reader::assign(CXCursor cursor, bool is_statement) {
  std::string operation = operation_of(source_, cursor);
  const Cursors operands = operands_of(cursor);
  if (operands.size() != 2 || !operation.ends_with("=")) {
    trouble_with(cursor, "the assignment");
    return;
  }
  const CXCursor left = stripped(operands[0]);
  operation.pop_back();
  if (operation.empty() && is_statement && update(left, operands[1])) return;
  if (!operation.empty()) value(operands[1]);
  const auto to = place(left);
  if (!to) {
    if (operation.empty()) value(operands[1]);
    trouble_with(left, "nothing is known of the place");
    value(left);
    return;
  }
  if (operation.empty()) {
    value(operands[1]);
  } else {
    access(left, *to, false, is_statement ? update_of(operation) : Update::none);
  }
  access(left, *to, true, is_statement ? update_of(operation) : Update::none);
}

bool Reader::update(CXCursor left, CXCursor right) {
  const std::string name = source_.text(left);
  for (const Update kind : {Update::sum, Update::product}) {
    std::vector<CXCursor> added, taken;
    flatten(source_, right, kind == Update::sum, false, added, taken);
    if (added.size() + taken.size() > 1 && updates(left, name, kind, added, taken)) return true;
  }
  const CXCursor called = stripped(right);
  if (clang_getCursorKind(called) != CXCursor_CallExpr) return false;
  const Cursors parts = expressions_of(called);
  if (parts.size() != 3) return false;
  const std::string function = callee_name(stripped(parts[0]));
  if (function != "min" && function != "max") return false;
  if (!callees_.is_pure(stripped(parts[0]), function)) return false;
  return updates(left, name, function == "min" ? Update::minimum : Update::maximum,
                 {parts[1], parts[2]}, {});
}

bool Reader::updates(CXCursor left, const std::string& name, Update kind,
                     std::vector<CXCursor> added, const std::vector<CXCursor>& taken) {
  const auto is_left = [&](CXCursor part) { return source_.text(part) == name; };
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
  const auto to = place(operand);
  if (to) {
    access(operand, *to, false, is_statement ? Update::sum : Update::none);
    access(operand, *to, true, is_statement ? Update::sum : Update::none);
  } else {
    trouble_with(cursor, "nothing is known of the place");
  }
  return unknown(source_.text(cursor));
}

}  // namespace slicer
