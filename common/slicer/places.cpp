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

Place whole(Variable* variable) {
  Place place{variable, {}, {}};
  place.is_view = variable->is_view;
  return place;
}

/// Whether the callee is a member that is an array, as in s.a(i, j), according to the definition of
/// the class.
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
      return own_object();
    case CXCursor_MemberRefExpr:
      return member(cursor);
    case CXCursor_ArraySubscriptExpr: {
      const Cursors operands = expressions_of(cursor);
      return element(operands[0], {operands[1]}, false, clang_getCursorType(cursor));
    }
    case CXCursor_UnaryOperator: {
      if (operator_of(source_, cursor) != "*") return {};
      const CXCursor base = expressions_of(cursor).front();
      auto of = led_to(base);
      if (!of || clang_getCursorKind(stripped(base)) == CXCursor_CXXThisExpr) return of;
      if (!is_view_type(clang_getCursorType(stripped(base))) &&
          !is_c_array_type(clang_getCursorType(stripped(base))))
        return {};
      mind_rows(*of, base);
      Term index = constant(0);
      index.text = "0";
      add_element(*of, std::move(index));
      of->is_view = is_view_type(clang_getCursorType(cursor));
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
  return variable->alias ? *variable->alias : whole(variable);
}

std::optional<Place> Reader::led_to(CXCursor pointer) {
  pointer = stripped(pointer);
  const auto is_pointer = [](CXCursor cursor) {
    const CXType type = without_reference(clang_getCursorType(cursor));
    return type.kind == CXType_Pointer || is_c_array_type(type);
  };
  const CXCursorKind kind = clang_getCursorKind(pointer);
  if (source_.is_macro(pointer) || !is_pointer(pointer)) return place(pointer);
  const Cursors operands = expressions_of(pointer);
  const std::string operation = kind == CXCursor_BinaryOperator || kind == CXCursor_UnaryOperator
                                    ? operator_of(source_, pointer)
                                    : "";
  if (kind == CXCursor_UnaryOperator && operation == "&") {
    auto of = place(operands.front());
    if (!of || of->offset || of->steps.empty()) return {};
    const Step last = of->steps.back();
    const bool is_element = last.member.empty() && !last.in_call && !last.is_row;
    if (!is_element || !is_known(last.index)) return {};
    of->steps.pop_back();
    of->offset = last.index;
    of->is_view = last.leaves;
    return of;
  }
  if (kind != CXCursor_BinaryOperator || operands.size() != 2 ||
      (operation != "+" && operation != "-"))
    return place(pointer);
  CXCursor base = stripped(operands[0]), offset = stripped(operands[1]);
  if (operation == "+" && is_pointer(offset)) std::swap(base, offset);
  if (!is_pointer(base) || !is_integer_type(clang_getCursorType(offset))) return {};
  auto of = led_to(base);
  if (!of) return {};
  Term by = value(offset);
  if (operation == "-") by = made(Operation::difference, {constant(0), std::move(by)});
  of->offset = of->offset ? made(Operation::sum, {*of->offset, std::move(by)}) : std::move(by);
  return of;
}

void Reader::add_element(Place& of, Term index, bool in_call) {
  if (of.offset) {
    std::string text = index.text;
    index = made(Operation::sum, {std::move(*of.offset), std::move(index)});
    index.text = std::move(text);
    of.offset.reset();
  }
  of.steps.push_back({{}, std::move(index), in_call});
  of.steps.back().leaves = of.is_view;
}

Place Reader::own_object() { return object_ ? *object_ : whole(this_object()); }

std::optional<Place> Reader::member(CXCursor cursor) {
  const CXCursor field = clang_getCursorReferenced(cursor);
  const CXCursorKind referenced = clang_getCursorKind(field);
  const Cursors base = expressions_of(cursor);
  if (referenced == CXCursor_VarDecl) {  // a static member: one for all objects
    for (const CXCursor part : base) value(part);
    Variable* variable = find(field);
    return variable->alias ? *variable->alias : whole(variable);
  }
  // In a template, the member of an object may not be resolved yet.
  const bool is_dependent = clang_Cursor_isNull(field) && base.size() == 1 &&
                            is_dependent_type(clang_getCursorType(cursor));
  if (referenced != CXCursor_FieldDecl && !is_dependent) return {};
  std::optional<Place> of = own_object();
  if (!base.empty()) of = led_to(base.front());
  if (!of) return {};
  if (!base.empty() && clang_getCursorKind(stripped(base.front())) != CXCursor_CXXThisExpr) {
    const Range behind{source_.range(base.front()).last, source_.range(cursor).last};
    const std::vector<Token> tokens = source_.tokens(behind);
    if (!tokens.empty() && tokens.front() == "->") {
      if (!is_view_type(clang_getCursorType(stripped(base.front())))) return {};
      mind_rows(*of, base.front());
      add_element(*of, constant(0));
      of->steps.back().leaves = true;
    }
  }
  if (clang_getCursorKind(clang_getCursorSemanticParent(field)) == CXCursor_UnionDecl) {
    loosen(*of, "members of a union share memory");
    return of;
  }
  if (clang_Cursor_isBitField(field)) {
    loosen(*of, "bit-fields share memory");
    return of;
  }
  of->steps.push_back({last_word(source_, cursor), {}});
  const CXType type = clang_getCursorType(field);
  of->steps.back().leaves = is_reference(type);
  of->is_view = is_view_type(type);
  const bool leads = is_view_type(type) || is_reference(type);
  if (const auto line = leads ? facts_.reseated(field) : std::nullopt) {
    loosen(*of, fmt::format("line {} lets `{}` refer to memory that has another name", *line,
                            last_word(source_, cursor)));
    of->is_elsewhere = true;
  }
  return of;
}

void Reader::mind_rows(Place& of, CXCursor base) {
  const bool is_row = std::any_of(of.steps.begin(), of.steps.end(), [](const Step& step) {
    return step.member.empty() && !step.is_row;
  });
  if (is_row && !is_owner_type(clang_getCursorType(stripped(base))))
    loosen(of, fmt::format("rows of `{}` may be the same memory", of.variable->name));
}

std::optional<Place> Reader::element(CXCursor base, const Cursors& subscripts, bool in_call,
                                     CXType type_of_element) {
  auto of = led_to(base);
  if (!of || (of->offset && subscripts.size() != 1)) return {};
  mind_rows(*of, base);
  const CXType type = clang_getCursorType(stripped(base));
  const long extent = clang_getCanonicalType(type).kind == CXType_ConstantArray
                          ? static_cast<long>(clang_getArraySize(clang_getCanonicalType(type)))
                      : clang_getCanonicalType(type).kind == CXType_VariableArray ? -1
                                                                                  : 0;
  if (is_dependent_type(type_of_element)) assume_number(base);
  if (is_packed_type(clang_getCursorType(stripped(base))))
    loosen(*of, fmt::format("elements of `{}` are bits, which share memory", of->variable->name));
  for (const CXCursor subscript : subscripts) {
    Term index = value(subscript);
    if (index.text.empty()) index.text = source_.text(subscript);
    add_element(*of, std::move(index), in_call);
    of->steps.back().extent = extent;
    of->is_view = false;
  }
  of->is_view = is_view_type(type_of_element);
  return of;
}

std::optional<Place> Reader::called_place(CXCursor cursor) {
  const CXCursor called = clang_getCursorReferenced(cursor);
  const std::string name = text_of(clang_getCursorSpelling(called));
  const CXCursorKind kind = clang_getCursorKind(called);
  if (name == "operator[]" || name == "operator()" || name == "operator*") {
    const Cursors arguments = arguments_of(cursor);
    if (arguments.empty() || !is_array_type(clang_getCursorType(stripped(arguments.front()))))
      return returned_by(cursor);
    return element(arguments.front(), {arguments.begin() + 1, arguments.end()},
                   name == "operator()", clang_getCursorType(cursor));
  }
  if (kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction) {
    const Cursors arguments = kind == CXCursor_Constructor
                                  ? arguments_of(cursor)
                                  : expressions_of(expressions_of(cursor).front());
    if (arguments.size() != 1 || !is_view_type(clang_getCursorType(cursor))) return {};
    if (!is_array_type(clang_getCursorType(stripped(arguments.front())))) return {};
    auto of = place(arguments.front());
    return of && of->offset ? std::nullopt : of;
  }
  if (name.starts_with("operator") && kind == CXCursor_CXXMethod) return returned_by(cursor);
  const CXType type = clang_getCursorType(cursor);
  const Cursors parts = expressions_of(cursor);
  if (parts.empty()) return {};
  const CXCursor callee = stripped(parts.front());
  const Cursors arguments(parts.begin() + 1, parts.end());
  if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) {
    const Cursors base = expressions_of(callee);
    if (base.size() == 1 && last_word(source_, callee) == "row" &&
        is_matrix_type(clang_getCursorType(stripped(base.front())))) {
      auto row = element(base.front(), arguments, true, CXType{});
      if (row)
        for (std::size_t a = 1; a <= arguments.size(); ++a)
          row->steps[row->steps.size() - a].is_row = true;
      return row;
    }
    return member_is_array(source_, callee) ? element(callee, arguments, true, type)
                                            : returned_by(cursor);
  }
  if (clang_getCursorKind(callee) != CXCursor_DeclRefExpr) return {};
  if (!is_matrix_type(clang_getCursorType(callee))) return returned_by(cursor);
  return element(callee, arguments, true, type);
}

void Reader::access(CXCursor cursor, const Place& place, bool is_write, Update update) {
  const bool is_pointer = is_view_type(clang_getCursorType(stripped(cursor)));
  const CXType type = without_reference(clang_getCursorType(stripped(cursor)));
  // In a template, the type of an element may depend on the template's arguments, so it is unknown.
  const bool is_number = type.kind >= CXType_FirstBuiltin && type.kind <= CXType_LastBuiltin &&
                         is_number_type(type);
  function_.accesses.push_back({place, is_write, frame_, line(cursor), source_.text(cursor), update,
                                is_pointer, is_number ? type.kind : CXType_Invalid});
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
