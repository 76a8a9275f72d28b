#include "changes.hpp"

#include <algorithm>

#include "types.hpp"

namespace slicer {
namespace {

bool is_plain_unary(const Source& source, CXCursor cursor) {
  if (clang_getCursorKind(cursor) != CXCursor_UnaryOperator) return false;
  const std::string operation = operator_of(source, cursor);
  return operation == "-" || operation == "+" || operation == "!" || operation == "~" ||
         operation == "*";
}

/// Whether a function may change what is given for a parameter.
bool may_change(CXType parameter) {
  return is_reference(parameter) && !is_constant_type(parameter);
}

bool is_among(const Cursors& cursors, CXCursor declaration) {
  return std::any_of(cursors.begin(), cursors.end(),
                     [&](CXCursor each) { return clang_equalCursors(each, declaration); });
}

}  // namespace

void Changes::note(CXCursor cursor) {
  for (const CXCursor child : children_of(cursor)) {
    const CXCursorKind kind = clang_getCursorKind(child);
    const std::string name = text_of(clang_getCursorSpelling(child));
    const bool assigns =
        kind == CXCursor_CompoundAssignOperator || kind == CXCursor_UnaryOperator ||
        (kind == CXCursor_BinaryOperator && operator_of(source_, child) == "=") ||
        (kind == CXCursor_CallExpr && name.starts_with("operator") && name.ends_with("="));
    const Cursors operands = expressions_of(child);
    if (assigns && !operands.empty() && !is_plain_unary(source_, child))
      note_root(operands.front());
    if (kind == CXCursor_UnaryOperator && operator_of(source_, child) == "&")
      if (const CXCursor of = stripped(operands.front());
          clang_getCursorKind(of) == CXCursor_DeclRefExpr)
        addressed_.push_back(clang_getCursorReferenced(of));
    if (kind == CXCursor_CallExpr && !name.starts_with("operator")) note_arguments(operands);
    if (kind == CXCursor_LambdaExpr) note_all(child);
    if (kind == CXCursor_VarDecl &&
        is_reference(clang_getCursorType(child)))  // may be a second name that changes it
      for (const CXCursor made_with : initialiser(source_, child)) note_root(made_with);
    note(child);
  }
}

void Changes::note_arguments(const Cursors& operands) {
  if (operands.empty()) return;
  const CXCursor callee = stripped(operands.front());
  if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) {
    const std::string method = last_word(source_, callee);
    const bool looks = method == "extent" || method == "size" || method == "row";
    if (!looks) note_root(callee);
  } else if (is_array_type(clang_getCursorType(callee))) {
    return;  // an element
  }
  const CXCursor declaration = callees_.declaration_of(callee, operands.size() - 1);
  if (callees_.is_pure(callee, text_of(clang_getCursorSpelling(declaration)))) return;
  Cursors parameters = children_of(declaration);
  std::erase_if(parameters,
                [](CXCursor child) { return clang_getCursorKind(child) != CXCursor_ParmDecl; });
  for (std::size_t a = 1; a < operands.size(); ++a) {
    const bool is_declared = parameters.size() + 1 == operands.size();
    if (!is_declared || may_change(clang_getCursorType(parameters[a - 1]))) note_root(operands[a]);
  }
}

void Changes::note_root(CXCursor cursor) {
  cursor = stripped(cursor);
  const CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind == CXCursor_DeclRefExpr)
    changed_.push_back(clang_getCursorReferenced(cursor));
  else if (kind == CXCursor_MemberRefExpr || kind == CXCursor_UnaryOperator ||
           kind == CXCursor_ConditionalOperator)
    for (const CXCursor child : expressions_of(cursor)) note_root(child);
}

void Changes::note_all(CXCursor cursor) {
  for (const CXCursor child : children_of(cursor)) {
    note_root(child);
    note_all(child);
  }
}

bool Changes::has(CXCursor declaration) const { return is_among(changed_, declaration); }

bool Changes::is_addressed(CXCursor declaration) const { return is_among(addressed_, declaration); }

}  // namespace slicer
