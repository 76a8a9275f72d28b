#include "facts.hpp"

#include <algorithm>
#include <set>

#include "types.hpp"

namespace slicer {
namespace {

/// Whether the paths `one` and `other` lead to the same member, or one path leads to a part of the
/// member at the other path.
bool is_same_path(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  const std::size_t common = std::min(one.size(), other.size());
  return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(common), other.begin());
}

/// Whether a function of this name assigns new memory to a pointer, or exchanges two pointers.
bool keeps_apart(const std::string& name) {
  static const std::set<std::string> functions{
      "swap",           "posix_memalign", "cudaMalloc", "cudaMallocAsync", "cudaMallocManaged",
      "cudaMallocHost", "cudaHostAlloc"};
  return functions.contains(name);
}

/// Whether a type is a reference through which a pointer or a view may be set to other memory.
bool may_seat(CXType type) {
  return type.kind != CXType_Invalid && is_reference(type) && is_view_type(type) &&
         !is_constant_type(type);
}

}  // namespace

bool makes_memory(CXCursor expression) {
  static const std::set<std::string> functions{"malloc", "calloc", "aligned_alloc", "realloc"};
  CXCursor made = stripped(expression);
  const CXCursorKind cast = clang_getCursorKind(made);
  if (cast == CXCursor_CStyleCastExpr || cast == CXCursor_CXXStaticCastExpr ||
      cast == CXCursor_CXXReinterpretCastExpr) {
    const Cursors parts = expressions_of(made);
    return parts.size() == 1 && makes_memory(parts.front());
  }
  switch (clang_getCursorKind(made)) {
    case CXCursor_CXXNewExpr: {  // only with a type as operand: placement new allocates no memory
      const Cursors parts = expressions_of(made);
      return std::all_of(parts.begin(), parts.end(), [](CXCursor part) {
        return is_number_type(clang_getCursorType(part)) ||
               clang_getCursorKind(part) == CXCursor_InitListExpr ||
               clang_getCursorKind(part) == CXCursor_CallExpr;
      });
    }
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
    case CXCursor_IntegerLiteral:
      return true;
    case CXCursor_CallExpr:
      return functions.contains(text_of(clang_getCursorSpelling(made))) &&
             clang_Location_isInSystemHeader(
                 clang_getCursorLocation(clang_getCursorReferenced(made)));
    default:
      return false;
  }
}

CXCursor pattern_of(CXCursor function) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
  return clang_getCanonicalCursor(clang_Cursor_isNull(pattern) ? function : pattern);
}

Facts::Facts(const Source& source) : source_(source) {
  for (const CXCursor child : children_of(source.root()))
    if (source.can_see(child)) read(child);
}

void Facts::read(CXCursor cursor) {
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_VarDecl:
    case CXCursor_FieldDecl:
      if (const Cursors made_with = initialiser(source_, cursor); made_with.size() == 1) {
        read_assignment(cursor, made_with.front());
        if (may_seat(clang_getCursorType(cursor))) reseat_named(made_with.front());
      }
      break;
    case CXCursor_UnaryOperator:  // the address of a pointer
      if (const Cursors of = expressions_of(cursor);
          of.size() == 1 && operator_of(source_, cursor) == "&" && !makes_apart_)
        reseat_named(of.front());
      break;
    case CXCursor_Constructor:
      read_constructor(cursor);
      break;
    case CXCursor_BinaryOperator:
      if (const Cursors operands = expressions_of(cursor);
          operands.size() == 2 && operator_of(source_, cursor) == "=")
        read_assignment(clang_getCursorReferenced(stripped(operands[0])), operands[1]);
      break;
    case CXCursor_CallExpr:
      read_call(cursor);
      break;
    case CXCursor_InitListExpr:
      read_members(cursor, clang_getCursorType(cursor), expressions_of(cursor));
      break;
    default:
      break;
  }
  const bool makes_apart = makes_apart_;
  if (clang_getCursorKind(cursor) == CXCursor_CallExpr)
    makes_apart_ = keeps_apart(text_of(clang_getCursorSpelling(clang_getCursorReferenced(cursor))));
  for (const CXCursor child : children_of(cursor)) read(child);
  makes_apart_ = makes_apart;
}

/// Records the memory to which a constructor sets members. The memory of a parameter is not
/// recorded, because an assumption about parameters covers this case.
void Facts::read_constructor(CXCursor constructor) {
  CXCursor member = clang_getNullCursor();
  for (const CXCursor child : children_of(constructor)) {
    if (clang_getCursorKind(child) == CXCursor_MemberRef) {
      member = clang_getCursorReferenced(child);
    } else if (is_expression(child) && !clang_Cursor_isNull(member)) {
      const auto root = root_of(child);
      const bool is_given = root && root->members.empty() &&
                            clang_getCursorKind(root->declaration) == CXCursor_ParmDecl;
      if (!is_given) read_assignment(member, child);
      member = clang_getNullCursor();
    }
  }
}

void Facts::read_assignment(CXCursor target, CXCursor made_with) {
  if (clang_Cursor_isNull(target) || makes_memory(made_with)) return;
  const CXType type = clang_getCursorType(target);
  if (is_view_type(type) || is_reference(type)) reseat(target, source_.line(made_with));
  // The assignment of an entire object copies its pointers. The pointers of a local object may lead
  // to any memory anyway.
  const bool is_local = clang_getCursorKind(target) == CXCursor_VarDecl &&
                        clang_getCursorLinkage(target) == CXLinkage_NoLinkage;
  if (is_reference(type) || !is_local) reseat_members(type, source_.line(made_with));
}

void Facts::reseat_members(CXType type, int line) {
  if (is_array_type(type) || is_number_type(type)) return;
  const CXCursor declared = clang_getTypeDeclaration(without_reference(type));
  if (clang_Cursor_isNull(declared) ||
      clang_Location_isInSystemHeader(clang_getCursorLocation(declared)))
    return;
  for (const CXCursor field : children_of(declared)) {
    if (clang_getCursorKind(field) != CXCursor_FieldDecl) continue;
    const CXType of_field = clang_getCursorType(field);
    if (is_view_type(of_field) || is_reference(of_field))
      reseat(field, line);
    else
      reseat_members(of_field, line);
  }
}

void Facts::reseat_named(CXCursor name) {
  name = stripped(name);
  const CXCursor declaration = clang_getCursorReferenced(name);
  if (!clang_Cursor_isNull(declaration) && is_view_type(clang_getCursorType(name)))
    reseat(declaration, source_.line(name));
}

void Facts::reseat(CXCursor declaration, int line) {
  reseated_.push_back({clang_getCanonicalCursor(declaration), line});
}

void Facts::read_call(CXCursor call) {
  const CXCursor called = clang_getCursorReferenced(call);
  const std::string name = text_of(clang_getCursorSpelling(called));
  const Cursors arguments = arguments_of(call);
  if (name == "operator=" && arguments.size() == 2)
    read_assignment(clang_getCursorReferenced(stripped(arguments[0])), arguments[1]);
  if (clang_getCursorKind(called) == CXCursor_Constructor)
    read_members(call, clang_getCursorType(call), arguments);
  Call read{pattern_of(called), {}, true, source_.line(call)};
  const CXType type = clang_getCursorType(called);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    read.arguments.push_back(root_of(arguments[a]));
    if (!keeps_apart(name) && may_seat(clang_getArgType(type, static_cast<unsigned>(a))))
      reseat_named(arguments[a]);
  }
  read.is_of_numbers = !is_made_for_others(called);
  if (!clang_Cursor_isNull(called)) calls_.push_back(std::move(read));
}

/// Records members that share memory because they are initialised with the same memory.
void Facts::read_members(CXCursor made, CXType type, const Cursors& made_with) {
  const auto is_shared = [&](CXCursor one) {
    const auto root = root_of(one);
    return root && std::any_of(made_with.begin(), made_with.end(), [&](CXCursor other) {
             const auto of_other = root_of(other);
             return !clang_equalCursors(one, other) && of_other &&
                    clang_equalCursors(root->declaration, of_other->declaration) &&
                    is_same_path(root->members, of_other->members);
           });
  };
  const bool shares = std::any_of(made_with.begin(), made_with.end(), [&](CXCursor each) {
    return is_view_type(clang_getCursorType(stripped(each))) && is_shared(each);
  });
  if (!shares) return;
  for (const CXCursor field : children_of(clang_getTypeDeclaration(without_reference(type))))
    if (clang_getCursorKind(field) == CXCursor_FieldDecl &&
        (is_view_type(clang_getCursorType(field)) || is_reference(clang_getCursorType(field))))
      reseat(field, source_.line(made));
}

std::optional<Facts::Root> Facts::root_of(CXCursor cursor) const {
  cursor = stripped(cursor);
  const Cursors parts = expressions_of(cursor);
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_DeclRefExpr: {
      const CXCursor named = clang_getCursorReferenced(cursor);
      const CXCursorKind kind = clang_getCursorKind(named);
      if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return {};
      return Root{clang_getCanonicalCursor(named), {}};
    }
    case CXCursor_MemberRefExpr: {
      if (parts.empty()) return {};
      auto root = root_of(parts.front());
      const CXCursorKind kind = clang_getCursorKind(clang_getCursorReferenced(cursor));
      if (root && kind == CXCursor_FieldDecl) root->members.push_back(last_word(source_, cursor));
      return root;
    }
    case CXCursor_CallExpr:  // x.data(), x.begin() + 1, View(x, ...), move(x)
    case CXCursor_UnaryOperator:
    case CXCursor_BinaryOperator:
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
      for (const CXCursor part : parts)
        if (auto root = root_of(part)) return root;
      return {};
    default:
      return {};
  }
}

std::optional<int> Facts::reseated(CXCursor declaration) const {
  declaration = clang_getCanonicalCursor(declaration);
  for (const auto& [known, line] : reseated_)
    if (clang_equalCursors(known, declaration)) return line;
  return {};
}

std::optional<int> Facts::overlap(CXCursor function, std::size_t parameter,
                                  std::size_t other) const {
  for (const Call& call : calls_) {
    if (!clang_equalCursors(call.function, function)) continue;
    if (parameter >= call.arguments.size() || other >= call.arguments.size()) continue;
    const auto &one = call.arguments[parameter], &two = call.arguments[other];
    if (one && two && clang_equalCursors(one->declaration, two->declaration) &&
        is_same_path(one->members, two->members))
      return call.line;
  }
  return {};
}

std::optional<int> Facts::overlap(CXCursor function, std::size_t parameter, CXCursor global) const {
  for (const Call& call : calls_) {
    if (!clang_equalCursors(call.function, function) || parameter >= call.arguments.size())
      continue;
    const auto& root = call.arguments[parameter];
    if (root && clang_equalCursors(root->declaration, clang_getCanonicalCursor(global)))
      return call.line;
  }
  return {};
}

std::optional<int> Facts::made_for_others(CXCursor function) const {
  for (const Call& call : calls_)
    if (clang_equalCursors(call.function, function) && !call.is_of_numbers) return call.line;
  return {};
}

}  // namespace slicer
