#include "types.hpp"

#include <algorithm>
#include <array>

#include "syntax.hpp"

namespace slicer {
namespace {

/// A property that is required of the types of all members of a class.
using Property = bool (*)(CXType);

bool is_in_system(CXCursor declaration) {
  return clang_Location_isInSystemHeader(clang_getCursorLocation(declaration));
}

/// Whether a class is declared in a header of the project, rather than being another class of the
/// same name.
bool is_of_project(CXCursor declaration, const std::string& name, const std::string& header) {
  if (qualified_name(declaration) != "staircase::" + name) return false;
  CXFile file = nullptr;
  clang_getExpansionLocation(clang_getCursorLocation(declaration), &file, nullptr, nullptr,
                             nullptr);
  return file && text_of(clang_getFileName(file)).ends_with("staircase/" + header);
}

CXCursor class_of(CXType type) { return clang_getTypeDeclaration(without_reference(type)); }

/// The definition of a class, or of the template of which it is an instance.
CXCursor definition_of(CXCursor declaration) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(declaration);
  CXCursor definition = clang_getCursorDefinition(declaration);
  if (clang_Cursor_isNull(definition) && !clang_Cursor_isNull(pattern))
    definition = clang_getCursorDefinition(pattern);
  return definition;
}

/// The type of a template argument of a class, such as the element type of a container.
CXType element_of(CXType type, unsigned which = 0) {
  return clang_Type_getTemplateArgumentAsType(without_reference(type), which);
}

/// Counts the parameters in an expression that only constructs objects from parameters and members.
/// The result is negative for any other expression.
int count_parameters(CXCursor cursor) {
  cursor = stripped(cursor);
  int count = 0;
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_DeclRefExpr:
      return clang_getCursorKind(clang_getCursorReferenced(cursor)) == CXCursor_ParmDecl ? 1 : -1;
    case CXCursor_MemberRefExpr:
      return expressions_of(cursor).empty() ? 0 : -1;
    case CXCursor_CallExpr:
      if (clang_getCursorKind(clang_getCursorReferenced(cursor)) != CXCursor_Constructor) return -1;
      break;
    case CXCursor_InitListExpr:
      break;
    default:
      return -1;
  }
  for (const CXCursor part : expressions_of(cursor)) {
    const int of_part = count_parameters(part);
    if (of_part < 0) return -1;
    count += of_part;
  }
  return count;
}

/// Whether objects of a class are proxies of numbers: a number can be read from a proxy and
/// assigned to it.
bool stands_for_number(CXType type) {
  bool converts = false, assigns = false;
  for (const CXCursor member : children_of(definition_of(class_of(type)))) {
    converts = converts || clang_getCursorKind(member) == CXCursor_ConversionFunction;
    assigns = assigns || (text_of(clang_getCursorSpelling(member)) == "operator=" &&
                          clang_CXXMethod_isConst(member) && !clang_CXXMethod_isDefaulted(member));
  }
  return converts && assigns;
}

/// Whether a(i, j) returns an object that is constructed from members and from each subscript once.
bool returns_proxies(CXCursor method) {
  int parameters = 0;
  Cursors statements;
  for (const CXCursor child : children_of(method)) {
    if (clang_getCursorKind(child) == CXCursor_ParmDecl) {
      if (!is_integer_type(clang_getCursorType(child))) return false;
      ++parameters;
    }
    if (clang_getCursorKind(child) == CXCursor_CompoundStmt) statements = children_of(child);
  }
  if (parameters == 0 || statements.size() != 1 || !clang_CXXMethod_isConst(method) ||
      clang_getCursorKind(statements.front()) != CXCursor_ReturnStmt ||
      !stands_for_number(clang_getCursorResultType(method)))
    return false;
  const Cursors returned = expressions_of(statements.front());
  return returned.size() == 1 && count_parameters(returned.front()) == parameters;
}

bool is_proxy_array(CXCursor declaration) {
  const Cursors members = children_of(definition_of(declaration));
  return std::any_of(members.begin(), members.end(), [](CXCursor member) {
    return clang_getCursorKind(member) == CXCursor_CXXMethod &&
           text_of(clang_getCursorSpelling(member)) == "operator()" && returns_proxies(member);
  });
}

bool are_memberwise(CXCursor definition, Property property) {
  const std::string name = text_of(clang_getCursorSpelling(definition));
  for (const CXCursor member : children_of(definition)) {
    switch (clang_getCursorKind(member)) {
      case CXCursor_FieldDecl:
        if (is_reference(clang_getCursorType(member)) || !property(clang_getCursorType(member)))
          return false;
        break;
      case CXCursor_CXXBaseSpecifier:
        if (!property(clang_getCursorType(member)) || clang_isVirtualBase(member)) return false;
        break;
      case CXCursor_Constructor:
        if (clang_CXXConstructor_isCopyConstructor(member) ||
            clang_CXXConstructor_isMoveConstructor(member))
          if (!clang_CXXMethod_isDefaulted(member)) return false;
        break;
      case CXCursor_Destructor:
        if (!clang_CXXMethod_isDefaulted(member)) return false;
        break;
      case CXCursor_CXXMethod:
        if (text_of(clang_getCursorSpelling(member)) == "operator=" &&
            !clang_CXXMethod_isDefaulted(member))
          return false;
        break;
      case CXCursor_FunctionTemplate:
        if (const std::string made = text_of(clang_getCursorSpelling(member));
            made == "operator=" || made.starts_with(name))
          return false;
        break;
      default:
        break;
    }
  }
  return true;
}

/// Whether a class has the implicit copy operations and destructor, and all members have a
/// property.
bool is_memberwise(CXCursor declaration, Property property) {
  const CXCursor definition = definition_of(declaration);
  if (clang_Cursor_isNull(definition)) return false;
  // A class may contain a container of itself. The recursion ends there.
  static std::vector<CXCursor> asked;
  if (std::any_of(asked.begin(), asked.end(),
                  [&](CXCursor each) { return clang_equalCursors(each, definition); }))
    return true;
  asked.push_back(definition);
  const bool is_so = are_memberwise(definition, property);
  asked.pop_back();
  return is_so;
}

bool is_literal(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(stripped(cursor));
  return kind == CXCursor_IntegerLiteral || kind == CXCursor_FloatingLiteral;
}

/// Whether a class is an instance of a template for types that are not numbers.
bool has_other_arguments(CXType type) {
  const Holding holding = holding_of(type);
  const int all = clang_Type_getNumTemplateArguments(type);
  // For a container, only the element type matters, not the allocator.
  const bool is_container = holding == Holding::own || holding == Holding::others;
  for (int a = 0; a < (is_container ? std::min(all, 1) : all); ++a) {
    const CXType of = element_of(type, static_cast<unsigned>(a));
    if (of.kind != CXType_Invalid && !may_stand_for_number(of)) return true;
  }
  return false;
}

bool is_class(CXType type) {
  const CXCursorKind declared = clang_getCursorKind(class_of(type));
  return declared == CXCursor_StructDecl || declared == CXCursor_ClassDecl ||
         declared == CXCursor_ClassTemplate ||
         declared == CXCursor_ClassTemplatePartialSpecialization;
}

}  // namespace

std::string qualified_name(CXCursor declaration) {
  std::string name = text_of(clang_getCursorSpelling(declaration));
  for (CXCursor parent = clang_getCursorSemanticParent(declaration);
       !clang_Cursor_isNull(parent) && !clang_isTranslationUnit(clang_getCursorKind(parent));
       parent = clang_getCursorSemanticParent(parent))
    if (clang_getCursorKind(parent) != CXCursor_Namespace ||
        !clang_Cursor_isInlineNamespace(parent))
      name = text_of(clang_getCursorSpelling(parent)) + "::" + name;
  return name;
}

bool is_of_library(CXCursor declaration, const std::string& name) {
  return text_of(clang_getCursorSpelling(declaration)) == name && is_in_system(declaration) &&
         qualified_name(declaration) == "std::" + name;
}

Holding holding_of(CXType type) {
  const CXCursor declaration = class_of(type);
  const std::string name = text_of(clang_getCursorSpelling(declaration));
  if (name.empty()) return Holding::nothing;
  if (is_of_library(declaration, "vector") || is_of_library(declaration, "array") ||
      is_of_project(declaration, "Array", "array.hpp"))
    return Holding::own;
  if (is_of_library(declaration, "span") || is_of_project(declaration, "View", "view.hpp"))
    return Holding::others;
  return !is_in_system(declaration) && is_proxy_array(declaration) ? Holding::proxies
                                                                   : Holding::nothing;
}

bool is_packed_type(CXType type) {
  return is_of_library(class_of(type), "vector") &&
         element_of(clang_getCanonicalType(type)).kind == CXType_Bool;
}

bool is_matrix_type(CXType type) {
  const CXCursor declaration = class_of(type);
  return is_of_project(declaration, "View", "view.hpp") ||
         is_of_project(declaration, "Array", "array.hpp") || is_proxy_array_type(type);
}

bool is_dependent_type(CXType type) {
  type = without_reference(type);
  if (type.kind == CXType_Dependent || type.kind == CXType_Auto) return true;
  const CXCursorKind declared = clang_getCursorKind(clang_getTypeDeclaration(type));
  return type.kind == CXType_Unexposed &&
         (clang_isInvalid(declared) || declared == CXCursor_TemplateTypeParameter);
}

bool may_stand_for_number(CXType type) {
  type = without_reference(type);
  if (is_dependent_type(type)) return true;
  if (is_number_type(type)) return type.kind != CXType_Bool;
  if (type.kind == CXType_Enum || type.kind == CXType_NullPtr) return true;
  if (type.kind == CXType_Pointer) {
    const CXType pointee = clang_getPointeeType(type);
    return pointee.kind == CXType_Void || may_stand_for_number(pointee);
  }
  if (const CXType element = clang_getArrayElementType(type); element.kind != CXType_Invalid)
    return may_stand_for_number(element);
  const Holding holding = holding_of(type);
  return (holding == Holding::own || holding == Holding::others) &&
         (element_of(type).kind == CXType_Invalid || may_stand_for_number(element_of(type)));
}

bool is_made_for_others(CXCursor function) {
  for (int a = 0; a < clang_Cursor_getNumTemplateArguments(function); ++a) {
    const auto which = static_cast<unsigned>(a);
    if (clang_Cursor_getTemplateArgumentKind(function, which) == CXTemplateArgumentKind_Type &&
        !may_stand_for_number(clang_Cursor_getTemplateArgumentType(function, which)))
      return true;
  }
  return has_other_arguments(clang_getCursorType(clang_getCursorSemanticParent(function)));
}

bool is_made_for_others(CXType parameter, CXType argument) {
  parameter = without_reference(parameter);
  argument = without_reference(argument);
  if (is_dependent_type(argument)) return false;
  if (is_dependent_type(parameter)) return !may_stand_for_number(argument);
  for (const auto part : {clang_getPointeeType, clang_getArrayElementType}) {
    const CXType of_parameter = part(parameter), of_argument = part(argument);
    if (of_parameter.kind == CXType_Invalid) continue;
    return of_argument.kind != CXType_Invalid && is_made_for_others(of_parameter, of_argument);
  }
  return has_other_arguments(argument);
}

bool is_number_type(CXType type) {
  type = without_reference(type);
  if (type.kind >= CXType_FirstBuiltin && type.kind <= CXType_LastBuiltin)
    return type.kind != CXType_Void && type.kind != CXType_Dependent &&
           type.kind != CXType_Overload && type.kind != CXType_NullPtr;
  if (type.kind == CXType_Complex || type.kind == CXType_Vector || type.kind == CXType_ExtVector)
    return true;
  return is_of_library(class_of(type), "complex");
}

bool is_plain_type(CXType type) {
  type = without_reference(type);
  if (is_number_type(type) || is_dependent_type(type)) return true;
  switch (type.kind) {
    case CXType_Enum:
    case CXType_Pointer:
    case CXType_NullPtr:
    case CXType_MemberPointer:
      return true;
    case CXType_ConstantArray:
    case CXType_DependentSizedArray:
    case CXType_VariableArray:
    case CXType_IncompleteArray:
      return is_plain_type(clang_getArrayElementType(type));
    default:
      break;
  }
  const CXCursor declaration = class_of(type);
  if (holding_of(type) == Holding::others) return true;
  if (is_of_library(declaration, "array")) return is_plain_type(element_of(type));
  if (is_of_library(declaration, "pair"))
    return is_plain_type(element_of(type)) && is_plain_type(element_of(type, 1));
  return is_class(type) && !is_in_system(declaration) && is_memberwise(declaration, &is_plain_type);
}

bool is_value_type(CXType type) {
  if (is_plain_type(type)) return true;
  type = without_reference(type);
  const CXCursor declaration = class_of(type);
  if (is_of_library(declaration, "basic_string")) return true;
  for (const char* container : {"vector", "array", "optional"})
    if (is_of_library(declaration, container))
      return element_of(type).kind == CXType_Invalid || is_value_type(element_of(type));
  if (is_of_library(declaration, "pair"))
    return is_value_type(element_of(type)) && is_value_type(element_of(type, 1));
  return is_of_project(declaration, "Array", "array.hpp") ||
         (is_class(type) && !is_in_system(declaration) &&
          is_memberwise(declaration, &is_value_type));
}

bool makes_plainly(CXType type) {
  const CXCursor definition = definition_of(class_of(type));
  if (clang_Cursor_isNull(definition) || is_in_system(definition)) return true;
  const Cursors members = children_of(definition);
  return std::all_of(members.begin(), members.end(), [](CXCursor member) {
    if (clang_getCursorKind(member) != CXCursor_FieldDecl) return true;
    const Cursors made_with = expressions_of(member);
    return std::all_of(made_with.begin(), made_with.end(), [](CXCursor part) {
      part = stripped(part);
      const CXCursorKind kind = clang_getCursorKind(part);
      return kind == CXCursor_IntegerLiteral || kind == CXCursor_FloatingLiteral ||
             kind == CXCursor_CXXBoolLiteralExpr || kind == CXCursor_CXXNullPtrLiteralExpr ||
             kind == CXCursor_CharacterLiteral || kind == CXCursor_DeclRefExpr ||
             kind == CXCursor_StringLiteral ||
             (kind == CXCursor_UnaryOperator && is_literal(expressions_of(part).front())) ||
             (kind == CXCursor_InitListExpr && expressions_of(part).empty());
    });
  });
}

bool is_element_of_proxy(CXCursor expression) {
  const CXCursor called = stripped(expression);
  if (clang_getCursorKind(called) != CXCursor_CallExpr) return false;
  const Cursors arguments = arguments_of(called);
  return !arguments.empty() &&
         text_of(clang_getCursorSpelling(clang_getCursorReferenced(called))) == "operator()" &&
         is_proxy_array_type(clang_getCursorType(stripped(arguments.front())));
}

}  // namespace slicer
