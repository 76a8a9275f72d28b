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

/// Whether an object may have a second name for what it is made with.
bool has_reference(CXType type) {
  bool found = false;
  clang_Type_visitFields(
      clang_getCanonicalType(type),
      [](CXCursor field, CXClientData data) {
        *static_cast<bool*>(data) =
            *static_cast<bool*>(data) || is_reference(clang_getCursorType(field));
        return CXVisit_Continue;
      },
      &found);
  return found;
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
    if (kind == CXCursor_CallExpr) note_call(child, name, operands);
    if (kind == CXCursor_LambdaExpr) note_all(child);
    if (kind == CXCursor_InitListExpr && has_reference(clang_getCursorType(child)))
      for (const CXCursor operand : operands) note_root(operand);
    if (kind == CXCursor_VarDecl &&
        is_reference(clang_getCursorType(child)))  // may be a second name that changes it
      for (const CXCursor made_with : initialiser(source_, child)) note_name(made_with);
    note(child);
  }
}

/// What has a second name may be reached by it.
void Changes::note_name(CXCursor cursor) {
  const std::size_t before = changed_.size();
  note_root(cursor);
  addressed_.insert(addressed_.end(), changed_.begin() + static_cast<std::ptrdiff_t>(before),
                    changed_.end());
}

void Changes::note_call(CXCursor call, const std::string& name, const Cursors& operands) {
  const CXCursor callee = clang_getCursorReferenced(call);
  const bool is_method = clang_getCursorKind(callee) == CXCursor_CXXMethod;
  if (clang_getCursorKind(callee) == CXCursor_Constructor)
    return note_given(callee, arguments_of(call));
  if (!name.starts_with("operator")) return note_arguments(operands);
  Cursors given = arguments_of(call);
  if (given.empty() || name == "operator[]" || is_array_type(clang_getCursorType(given.front())))
    return;
  if (is_method) given.erase(given.begin());  // the object itself
  note_given(callee, given);
}

/// Notes what a function may change of what it is given.
void Changes::note_given(CXCursor function, const Cursors& given) {
  Cursors parameters = children_of(function);
  std::erase_if(parameters,
                [](CXCursor child) { return clang_getCursorKind(child) != CXCursor_ParmDecl; });
  const bool is_declared = parameters.size() == given.size();
  for (std::size_t g = 0; g < given.size(); ++g)
    if (!is_declared || may_change(clang_getCursorType(parameters[g]))) note_root(given[g]);
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
  note_given(declaration, {operands.begin() + 1, operands.end()});
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
