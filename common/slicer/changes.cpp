#include "changes.hpp"

#include <algorithm>
#include <set>

#include "types.hpp"

namespace slicer {
namespace {

/// Whether a function may change the argument that is passed for a parameter.
bool may_change(CXType parameter) {
  return is_reference(parameter) && !is_constant_type(parameter);
}

/// Whether an object of this type may refer to the objects that initialise it.
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
  declaration = clang_getCanonicalCursor(declaration);
  return std::any_of(cursors.begin(), cursors.end(),
                     [&](CXCursor each) { return clang_equalCursors(each, declaration); });
}

/// Whether a method of arrays and views does not change the object itself. The method may give
/// access to the elements.
bool only_looks(const std::string& method) {
  static const std::set<std::string> methods{"extent", "size",  "row",  "data", "begin",
                                             "end",    "front", "back", "at",   "empty"};
  return methods.contains(method);
}

}  // namespace

void Changes::note(CXCursor cursor) { note(cursor, Use::value); }

void Changes::note(CXCursor cursor, Use use) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  switch (kind) {
    case CXCursor_DeclRefExpr:
      return note_root(cursor, use);
    case CXCursor_CXXThisExpr:
      return note_this(use);
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
      return note_parts(cursor, expressions_of(cursor).size() == 1 ? use : Use::name);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
      return note_binary(cursor, use);
    case CXCursor_UnaryOperator:
      return note_unary(cursor, use);
    case CXCursor_ArraySubscriptExpr:
      return note_parts(cursor, Use::value);
    case CXCursor_MemberRefExpr:
      return note_member(cursor, use);
    case CXCursor_CallExpr:
      return note_call(cursor, use);
    case CXCursor_ConditionalOperator: {
      const Cursors parts = expressions_of(cursor);
      for (std::size_t p = 0; p < parts.size(); ++p) note(parts[p], p == 0 ? Use::value : use);
      return;
    }
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
      return note_parts(cursor, is_reference(clang_getCursorType(cursor)) ? Use::name : use);
    case CXCursor_InitListExpr:
      return note_parts(cursor, has_reference(clang_getCursorType(cursor)) ? Use::name : use);
    case CXCursor_VarDecl:
      return note_declaration(cursor);
    case CXCursor_UnaryExpr:  // sizeof and similar operators
    case CXCursor_CompoundStmt:
    case CXCursor_DeclStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_IfStmt:
    case CXCursor_ReturnStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
    case CXCursor_UnexposedStmt:
    case CXCursor_CXXTryStmt:
    case CXCursor_CXXCatchStmt:
    case CXCursor_CXXThrowExpr:
      return note_parts(cursor, Use::value);
    case CXCursor_CXXForRangeStmt: {
      const Cursors parts = children_of(cursor);
      const bool is_name = std::any_of(parts.begin(), parts.end(), [](CXCursor part) {
        return clang_getCursorKind(part) == CXCursor_VarDecl &&
               may_change(clang_getCursorType(part));
      });
      for (const CXCursor part : parts)
        note(part,
             is_expression(part) && is_name && !is_array_type(clang_getCursorType(stripped(part)))
                 ? Use::name
                 : Use::value);
      return;
    }
    default:  // lambdas, assembler and all unknown constructs
      return note_parts(cursor, Use::name);
  }
}

void Changes::note_parts(CXCursor cursor, Use use) {
  for (const CXCursor child : children_of(cursor)) note(child, use);
}

void Changes::note_root(CXCursor cursor, Use use) {
  const CXCursor declaration = clang_getCanonicalCursor(clang_getCursorReferenced(cursor));
  if (use == Use::value) return;
  changed_.push_back(declaration);
  if (use == Use::name) addressed_.push_back(declaration);
}

void Changes::note_this(Use use) { changes_this_ = changes_this_ || use != Use::value; }

void Changes::note_declaration(CXCursor declaration) {
  const CXType type = clang_getCursorType(declaration);
  const bool is_name = may_change(type);
  Cursors made_with = initialiser(source_, declaration);
  // In a template, the initial values of a container form one list.
  if (made_with.size() == 1 && !is_name && (is_array_type(type) || is_value_type(type)) &&
      clang_getCursorKind(made_with.front()) == CXCursor_UnexposedExpr &&
      expressions_of(made_with.front()).size() > 1)
    return note_parts(made_with.front(), Use::value);
  for (const CXCursor child : children_of(declaration)) {
    const bool is_made_with = std::any_of(made_with.begin(), made_with.end(), [&](CXCursor part) {
      return clang_equalCursors(part, child);
    });
    note(child, is_made_with && is_name ? Use::name : Use::value);
  }
}

void Changes::note_binary(CXCursor cursor, Use use) {
  const Cursors operands = expressions_of(cursor);
  const std::string operation = operator_of(source_, cursor);
  const bool assigns =
      clang_getCursorKind(cursor) == CXCursor_CompoundAssignOperator || operation == "=";
  if (operands.size() != 2 ||
      (!assigns && operation != "," && !only_computes(operation) && source_.may_assign(cursor)))
    return note_parts(cursor, Use::name);
  note(operands[0], !assigns ? Use::value : use == Use::name ? Use::name : Use::target);
  note(operands[1], operation == "," ? use : Use::value);
}

void Changes::note_unary(CXCursor cursor, Use use) {
  const std::string operation = operator_of(source_, cursor);
  if (operation == "++" || operation == "--")
    return note_parts(cursor, use == Use::name ? Use::name : Use::target);
  const bool only_reads = operation == "-" || operation == "+" || operation == "!" ||
                          operation == "~" || operation == "*" || operation == "not";
  note_parts(cursor, only_reads ? Use::value : Use::name);
}

void Changes::note_member(CXCursor cursor, Use use) {
  const Cursors base = expressions_of(cursor);
  if (base.empty()) return note_this(use);
  const bool is_far =
      clang_getCanonicalType(clang_getCursorType(stripped(base.front()))).kind == CXType_Pointer &&
      clang_getCursorKind(stripped(base.front())) != CXCursor_CXXThisExpr;
  for (const CXCursor part : base) note(part, is_far ? Use::value : use);
}

void Changes::note_call(CXCursor call, Use use) {
  const CXCursor callee = clang_getCursorReferenced(call);
  const std::string name = text_of(clang_getCursorSpelling(callee));
  const CXCursorKind kind = clang_getCursorKind(callee);
  if (kind == CXCursor_Constructor) return note_given(callee, arguments_of(call));
  if (name.starts_with("operator") && kind != CXCursor_VarDecl) {
    Cursors given = arguments_of(call);
    if (given.empty()) return note_parts(call, Use::name);
    const bool is_element = (name == "operator[]" || name == "operator()" || name == "operator*") &&
                            is_array_type(clang_getCursorType(stripped(given.front())));
    if (kind == CXCursor_CXXMethod) {
      const bool looks = is_element || clang_CXXMethod_isConst(callee);
      Use of_object = Use::name;
      if (looks && (is_element || use != Use::name))
        of_object = Use::value;
      else if (name.ends_with("=") && use != Use::name)
        of_object = Use::target;
      note(given.front(), of_object);
      given.erase(given.begin());
    }
    if (!is_element) return note_given(callee, given);
    for (const CXCursor part : given) note(part, Use::value);
    return;
  }
  const Cursors operands = expressions_of(call);
  if (operands.empty()) return;
  const CXCursor first = stripped(operands.front());
  const Cursors given(operands.begin() + 1, operands.end());
  if (is_array_type(clang_getCursorType(first)) &&
      clang_getCursorKind(first) != CXCursor_CallExpr) {  // an element, in a template
    for (const CXCursor part : operands) note(part, Use::value);
    return;
  }
  if (clang_getCursorKind(first) == CXCursor_MemberRefExpr) {
    const Cursors base = expressions_of(first);
    const CXCursor method = clang_getCursorReferenced(first);
    const std::string word = last_word(source_, first);
    const bool looks =
        clang_CXXMethod_isConst(method) ||
        (!base.empty() && is_array_type(clang_getCursorType(stripped(base.front()))) &&
         only_looks(word));
    if (base.empty()) note_this(looks ? Use::value : Use::name);
    for (const CXCursor part : base) note(part, looks ? Use::value : Use::name);
  } else {
    note(first, Use::value);
  }
  const CXCursor declaration = callees_.declaration_of(first, given.size());
  if (callees_.is_pure(first, text_of(clang_getCursorSpelling(declaration))) && use != Use::name) {
    for (const CXCursor part : given) note(part, Use::value);
    return;
  }
  note_given(declaration, given);
}

/// Records the arguments of a call that the called function may change.
void Changes::note_given(CXCursor function, const Cursors& given) {
  Cursors parameters = children_of(function);
  std::erase_if(parameters,
                [](CXCursor child) { return clang_getCursorKind(child) != CXCursor_ParmDecl; });
  // A constructor that the compiler generates has no declared parameters, but its type lists them.
  const CXType type = clang_getCursorType(function);
  const auto declared = static_cast<std::size_t>(std::max(clang_getNumArgTypes(type), 0));
  const bool is_variadic = clang_isFunctionTypeVariadic(type) != 0;
  for (std::size_t g = 0; g < given.size(); ++g) {
    const bool is_name = g < parameters.size() ? may_change(clang_getCursorType(parameters[g]))
                         : g < declared
                             ? may_change(clang_getArgType(type, static_cast<unsigned>(g)))
                             : !is_variadic;
    note(given[g], is_name ? Use::name : Use::value);
  }
}

bool Changes::has(CXCursor declaration) const { return is_among(changed_, declaration); }

bool Changes::is_addressed(CXCursor declaration) const { return is_among(addressed_, declaration); }

}  // namespace slicer
