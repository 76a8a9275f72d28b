#include "reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "types.hpp"

namespace slicer {
namespace {

void loosen(Place& place, const std::string& why) {
  place.unsure = why;
  place.is_loose = true;
}

/// Whether what is called is a member that is an array, as in s.a(i, j), by the class's
/// definition.
bool member_is_array(const Source& source, CXCursor callee) {
  const Cursors base = expressions_of(callee);
  if (base.size() != 1) return false;
  const CXCursor variable = clang_getCursorReferenced(stripped(base.front()));
  for (const CXCursor part : children_of(variable)) {
    if (clang_getCursorKind(part) != CXCursor_TemplateRef &&
        clang_getCursorKind(part) != CXCursor_TypeRef)
      continue;
    for (const CXCursor field : children_of(clang_getCursorReferenced(part)))
      if (clang_getCursorKind(field) == CXCursor_FieldDecl &&
          text_of(clang_getCursorSpelling(field)) == last_word(source, callee))
        return is_matrix_type(clang_getCursorType(field));
  }
  return false;
}

}  // namespace

std::optional<Place> Reader::place(CXCursor cursor) {
  cursor = stripped(cursor);
  if (source_.is_macro(cursor)) return {};
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_DeclRefExpr:
      return named(cursor);
    case CXCursor_CXXThisExpr:
      return Place{this_object(), {}, {}};
    case CXCursor_MemberRefExpr:
      return member(cursor);
    case CXCursor_ArraySubscriptExpr: {
      const Cursors operands = expressions_of(cursor);
      return element(operands[0], {operands[1]}, false);
    }
    case CXCursor_UnaryOperator: {
      if (operator_of(source_, cursor) != "*") return {};
      const CXCursor base = expressions_of(cursor).front();
      auto of = place(base);
      if (!of) return {};
      mind_rows(*of, base);
      of->steps.push_back({{}, constant(0), false});
      return of;
    }
    case CXCursor_CallExpr:
      return called_place(cursor);
    default:
      return {};
  }
}

std::optional<Place> Reader::named(CXCursor cursor) {
  const CXCursor declaration = clang_getCursorReferenced(cursor);
  switch (clang_getCursorKind(declaration)) {
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl:
    case CXCursor_UnexposedDecl:
    case CXCursor_NonTypeTemplateParameter:
      break;
    default:
      return {};
  }
  Variable* variable = find(declaration);
  return variable->alias ? *variable->alias : Place{variable, {}, {}};
}

std::optional<Place> Reader::member(CXCursor cursor) {
  const CXCursorKind referenced = clang_getCursorKind(clang_getCursorReferenced(cursor));
  if (referenced == CXCursor_CXXMethod || referenced == CXCursor_FunctionTemplate ||
      referenced == CXCursor_ConversionFunction)
    return {};
  const Cursors base = expressions_of(cursor);
  std::optional<Place> of = Place{this_object(), {}, {}};
  if (!base.empty()) of = place(base.front());
  if (!of) return {};
  if (!base.empty() && clang_getCursorKind(stripped(base.front())) != CXCursor_CXXThisExpr) {
    const Range behind{source_.range(base.front()).last, source_.range(cursor).last};
    const std::vector<Token> tokens = source_.tokens(behind);
    if (!tokens.empty() && tokens.front() == "->") {
      mind_rows(*of, base.front());
      of->steps.push_back({{}, constant(0), false});
    }
  }
  const CXCursor field = clang_getCursorReferenced(cursor);
  if (clang_getCursorKind(clang_getCursorSemanticParent(field)) == CXCursor_UnionDecl) {
    loosen(*of, "members of a union share memory");
    return of;
  }
  if (clang_Cursor_isBitField(field)) {
    loosen(*of, "fields of some bits share memory");
    return of;
  }
  of->steps.push_back({last_word(source_, cursor), {}, false});
  return of;
}

void Reader::mind_rows(Place& of, CXCursor base) {
  const bool is_row = std::any_of(of.steps.begin(), of.steps.end(), [](const Step& step) {
    return step.member.empty() && !step.is_row;
  });
  if (is_row && !is_owner_type(clang_getCursorType(stripped(base))))
    loosen(of, fmt::format("rows of `{}` may be the same memory", of.variable->name));
}

std::optional<Place> Reader::element(CXCursor base, const Cursors& subscripts, bool in_call) {
  auto of = place(base);
  if (!of) return {};
  mind_rows(*of, base);
  if (is_packed_type(clang_getCursorType(stripped(base))))
    loosen(*of, fmt::format("elements of `{}` are bits that share memory", of->variable->name));
  for (const CXCursor subscript : subscripts) {
    Term index = value(subscript);
    if (index.text.empty()) index.text = source_.text(subscript);
    of->steps.push_back({{}, std::move(index), in_call});
  }
  return of;
}

std::optional<Place> Reader::called_place(CXCursor cursor) {
  const CXCursor called = clang_getCursorReferenced(cursor);
  const std::string name = text_of(clang_getCursorSpelling(called));
  const CXCursorKind kind = clang_getCursorKind(called);
  if (name == "operator[]" || name == "operator()" || name == "operator*") {
    const Cursors arguments = arguments_of(cursor);
    if (arguments.empty() || !is_array_type(clang_getCursorType(stripped(arguments.front()))))
      return {};
    return element(arguments.front(), {arguments.begin() + 1, arguments.end()},
                   name == "operator()");
  }
  if (kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction) {
    const Cursors arguments = kind == CXCursor_Constructor
                                  ? arguments_of(cursor)
                                  : expressions_of(expressions_of(cursor).front());
    if (arguments.size() != 1 || !is_view_type(clang_getCursorType(cursor))) return {};
    return is_array_type(clang_getCursorType(stripped(arguments.front())))
               ? place(arguments.front())
               : std::nullopt;
  }
  const Cursors parts = expressions_of(cursor);
  if (parts.empty()) return {};
  const CXCursor callee = stripped(parts.front());
  const Cursors arguments(parts.begin() + 1, parts.end());
  if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) {
    const Cursors base = expressions_of(callee);
    if (base.size() == 1 && last_word(source_, callee) == "row" &&
        is_matrix_type(clang_getCursorType(stripped(base.front())))) {
      auto row = element(base.front(), arguments, true);
      if (row)
        for (std::size_t a = 1; a <= arguments.size(); ++a)
          row->steps[row->steps.size() - a].is_row = true;
      return row;
    }
    return member_is_array(source_, callee) ? element(callee, arguments, true) : std::nullopt;
  }
  if (clang_getCursorKind(callee) != CXCursor_DeclRefExpr ||
      !is_matrix_type(clang_getCursorType(callee)))
    return {};
  return element(callee, arguments, true);
}

void Reader::access(CXCursor cursor, const Place& place, bool is_write, Update update) {
  const bool is_pointer = is_view_type(clang_getCursorType(stripped(cursor)));
  function_.accesses.push_back(
      {place, is_write, frame_, line(cursor), source_.text(cursor), update, guard_, is_pointer});
}

Term Reader::read(CXCursor cursor, const Place& place) {
  access(cursor, place, false);
  const bool is_integer = is_integer_type(clang_getCursorType(stripped(cursor)));
  const bool is_part = std::any_of(place.steps.begin(), place.steps.end(),
                                   [](const Step& step) { return step.member.empty(); });
  if (place.steps.empty() && place.variable->is_integer) return symbol(place.variable);
  if (!is_integer || is_part || !place.unsure.empty()) return unknown(source_.text(cursor));
  const bool is_natural = is_natural_type(clang_getCursorType(stripped(cursor)));
  return symbol(quantity(place, source_.text(cursor), is_natural));
}

}  // namespace slicer
