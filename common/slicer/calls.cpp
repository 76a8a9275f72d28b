#include "reading.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "types.hpp"

namespace slicer {
namespace {

/// Whether an expression launches a kernel.
bool is_launch(const Source& source, CXCursor cursor) {
  const std::vector<Token> tokens = source.tokens(source.range(cursor));
  return std::find_if(tokens.begin(), tokens.end(),
                      [](const Token& token) { return token == "<<<"; }) != tokens.end();
}

/// The operator among the parts of an unresolved call in a template; empty if there is none.
std::string overloaded_name(const Cursors& parts) {
  for (const CXCursor part : parts)
    if (const CXCursor named = clang_getCursorReferenced(stripped(part));
        clang_getCursorKind(named) == CXCursor_OverloadedDeclRef)
      if (const std::string name = text_of(clang_getCursorSpelling(named));
          name.starts_with("operator"))
        return name.substr(8);
  return {};
}

bool is_arithmetic(const std::string& operation) {
  return operation == "+" || operation == "-" || operation == "*" || operation == "/" ||
         operation == "<" || operation == ">" || operation == "==" || operation == "!=" ||
         operation == "<=" || operation == ">=";
}

bool is_string_type(CXType type) {
  return is_of_library(clang_getTypeDeclaration(without_reference(type)), "basic_string");
}

/// Whether all arguments are numbers, so that no operator of a class is called. An argument of a
/// dependent type is assumed to be a number.
bool are_numbers(const Cursors& arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](CXCursor argument) {
    const CXType type = clang_getCursorType(stripped(argument));
    return is_number_type(type) || is_dependent_type(type) || is_element_of_proxy(argument) ||
           clang_getCursorKind(stripped(argument)) == CXCursor_InitListExpr;
  });
}

/// Whether an argument is the default argument of its parameter.
bool is_default(CXCursor argument) {
  return clang_getCursorKind(argument) == CXCursor_UnexposedExpr && children_of(argument).empty();
}

/// Whether a location is an entire array, or a row of an array; all rows of an array have the same
/// size.
bool is_whole(const Place& place) {
  return !place.is_loose && std::all_of(place.steps.begin(), place.steps.end(),
                                        [](const Step& step) { return step.is_row; });
}

}  // namespace

Term Reader::call(CXCursor cursor) {
  const CXCursor called = clang_getCursorReferenced(cursor);
  const std::string name = text_of(clang_getCursorSpelling(called));
  if (name.starts_with("operator") && clang_getCursorKind(called) != CXCursor_VarDecl)
    return overloaded(cursor, name.substr(8));
  if (clang_getCursorKind(called) == CXCursor_Constructor) return construct(cursor);
  if (is_launch(source_, cursor)) {
    trouble_with(cursor, "nothing is known of the launch");
    return unknown(source_.text(cursor));
  }
  const Cursors parts = expressions_of(cursor);
  const bool is_type = clang_Cursor_getNumArguments(cursor) < 0;  // T(x), within a template
  if (parts.empty() || is_type) {
    const CXType type = clang_getCursorType(cursor);
    if (!is_value_type(type) && !is_array_type(type))
      trouble_with(cursor, "nothing is known of the call");
    return all_of(cursor);
  }
  const CXCursor callee = stripped(parts.front());
  const Cursors arguments(parts.begin() + 1, parts.end());
  if (const std::string operation = overloaded_name(parts); is_arithmetic(operation)) {
    assume_number(cursor);
    for (const CXCursor part : parts)
      if (overloaded_name({part}).empty()) value(part);
    return unknown(source_.text(cursor));
  }
  if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) return method(cursor, callee);
  const std::string function = callee_name(callee);
  if (is_of_library(clang_getCursorReferenced(callee), "move")) return moved(cursor, arguments);
  if (callees_.is_pure(callee, function) && are_numbers(arguments))
    return pure(cursor, function, arguments);
  if (const auto result = inlined(callee, arguments)) return *result;
  trouble_with(cursor, "nothing is known of the call");
  if (prints(callee, arguments)) {
    function_.troubles.back().only_prints = true;
    for (const CXCursor argument : arguments) value(argument);
  }
  return unknown(source_.text(cursor));
}

bool Reader::prints(CXCursor callee, const Cursors& arguments) const {
  static const std::set<std::string> functions{"printf", "fprintf", "puts",
                                               "fputs",  "putchar", "fflush"};
  const CXCursor called = clang_getCursorReferenced(callee);
  if (!functions.contains(callee_name(callee)) ||
      !clang_Location_isInSystemHeader(clang_getCursorLocation(called)))
    return false;
  return std::all_of(arguments.begin(), arguments.end(), [](CXCursor argument) {
    const CXCursor given = stripped(argument);
    const CXType type = clang_getCursorType(given);
    const bool is_stream = type.kind == CXType_Pointer &&
                           text_of(clang_getTypeSpelling(type)).find("FILE") != std::string::npos;
    return is_number_type(type) || clang_getCursorKind(given) == CXCursor_StringLiteral ||
           (is_stream && clang_getCursorKind(given) == CXCursor_DeclRefExpr);
  });
}

Term Reader::overloaded(CXCursor cursor, const std::string& operation, bool is_statement) {
  const std::string text = source_.text(cursor);
  const CXCursor called = clang_getCursorReferenced(cursor);
  const Cursors arguments = arguments_of(cursor);
  const auto read_all = [&] {
    for (const CXCursor argument : arguments) value(argument);
    return unknown(text);
  };
  const auto is_known = [&](CXCursor argument) {
    const CXType type = clang_getCursorType(stripped(argument));
    return is_number_type(type) || is_dependent_type(type) || is_string_type(type) ||
           is_element_of_proxy(argument) || clang_getCursorKind(argument) == CXCursor_StringLiteral;
  };
  const bool are_known = std::all_of(arguments.begin(), arguments.end(), is_known);
  if (clang_getCursorKind(called) == CXCursor_ConversionFunction) {
    const Cursors object = expressions_of(cursor);
    const Cursors base = object.empty() ? Cursors() : expressions_of(stripped(object.front()));
    const bool is_view = is_view_type(clang_getCursorType(cursor));
    if (base.size() == 1 && (is_view || is_element_of_proxy(base.front()))) return all_of(cursor);
  } else if (operation == "=" && arguments.size() == 2) {
    const CXType type = clang_getCursorType(stripped(arguments[0]));
    if (is_value_type(type) || is_array_type(type) || is_element_of_proxy(arguments[0])) {
      assign(cursor, is_statement);
      return unknown(text);
    }
  } else if (operation == "+=" || operation == "-=" || operation == "*=" || operation == "/=") {
    if (are_known) {
      assign(cursor, is_statement);
      return unknown(text);
    }
  } else if (is_arithmetic(operation) && are_known) {
    return read_all();
  }
  const bool is_method = clang_getCursorKind(called) == CXCursor_CXXMethod;
  if (is_method && !arguments.empty()) {
    if (const auto result = inlined_method(cursor, called, arguments.front(),
                                           {arguments.begin() + 1, arguments.end()}))
      return *result;
  } else if (!is_method) {
    if (const auto result = inlined(cursor, arguments)) return *result;
  }
  if (returned_by(cursor)) return unknown(text);
  trouble_with(cursor, "nothing is known of the call");
  return unknown(text);
}

Term Reader::construct(CXCursor cursor) {
  const CXType type = clang_getCursorType(cursor);
  const CXCursor constructor = clang_getCursorReferenced(cursor);
  const CXCursor of = clang_getCursorSemanticParent(constructor);
  const bool is_plain = is_array_type(type);
  const bool is_compilers =
      clang_CXXMethod_isDefaulted(constructor) ||
      clang_equalLocations(clang_getCursorLocation(constructor), clang_getCursorLocation(of));
  const bool is_librarys = clang_Location_isInSystemHeader(clang_getCursorLocation(of));
  const bool is_known = is_plain || (is_librarys && is_value_type(type)) ||
                        (is_compilers && is_value_type(type) && makes_plainly(type));
  if (!is_known) trouble_with(cursor, "nothing is known of the call");
  for (const CXCursor argument : arguments_of(cursor)) {
    const bool is_array = is_array_type(clang_getCursorType(stripped(argument)));
    if (is_known && is_array && !is_plain && !is_compilers)
      trouble_with(cursor, "nothing is known of the call");
    value(argument);
  }
  return unknown(source_.text(cursor));
}

Term Reader::method(CXCursor cursor, CXCursor callee) {
  const Cursors base = expressions_of(callee), parts = expressions_of(cursor);
  const std::string name = last_word(source_, callee);
  const bool is_quantity = base.size() == 1 &&
                           is_array_type(clang_getCursorType(stripped(base.front()))) &&
                           (name == "extent" || name == "size");
  if (is_quantity)
    if (const auto of = place(base.front()); of && is_whole(*of)) {
      const Cursors given(parts.begin() + 1, parts.end());
      const bool is_one = std::all_of(given.begin(), given.end(), [&](CXCursor argument) {
        return value(argument).operation == Operation::constant;
      });
      const std::string text = source_.text(cursor);
      return is_one ? symbol(quantity(*of, text, true)) : unknown(text);
    }
  const CXCursor called = clang_getCursorReferenced(callee);
  const Cursors given(parts.begin() + 1, parts.end());
  if (clang_getCursorKind(called) == CXCursor_CXXMethod && base.size() <= 1)
    if (const auto result = inlined_method(
            cursor, called, base.empty() ? clang_getNullCursor() : base.front(), given))
      return *result;
  trouble_with(cursor, "nothing is known of the call");
  return unknown(source_.text(cursor));
}

Term Reader::moved(CXCursor cursor, const Cursors& arguments) {
  for (const CXCursor argument : arguments) {
    value(argument);
    if (is_plain_type(clang_getCursorType(stripped(argument)))) continue;
    if (const auto from = place(argument))
      access(argument, *from, true);
    else
      trouble_with(cursor, "nothing is known of the location");
  }
  return unknown(source_.text(cursor));
}

Term Reader::pure(CXCursor cursor, const std::string& name, const Cursors& arguments) {
  std::vector<Term> terms;
  for (const CXCursor argument : arguments) terms.push_back(value(argument));
  const bool is_extreme = (name == "min" || name == "max") && terms.size() == 2;
  if (is_extreme && is_known(terms[0]) && is_known(terms[1])) {
    Term extreme = made(name == "min" ? Operation::minimum : Operation::maximum, std::move(terms));
    extreme.bits = natural_bits(clang_getCursorType(stripped(arguments[0])));
    return extreme;
  }
  return unknown(source_.text(cursor));
}

std::optional<Term> Reader::inlined(CXCursor callee, const Cursors& arguments) {
  const auto found = callees_.definition_of(callee, arguments.size());
  if (!found || is_reference(clang_getCursorResultType(*found))) return {};
  return read_body(callee, *found, arguments, {});
}

std::optional<Term> Reader::inlined_method(CXCursor cursor, CXCursor method, CXCursor object,
                                           const Cursors& arguments) {
  const auto found = callees_.method_of(method);
  if (!found || is_reference(clang_getCursorResultType(*found))) return {};
  std::optional<Place> of;
  if (!clang_CXXMethod_isStatic(method)) {
    of = clang_Cursor_isNull(object) ? (own_object()) : place(object);
    if (!of || !of->unsure.empty()) return {};
    if (!clang_Cursor_isNull(object) && is_view_type(clang_getCursorType(stripped(object))) &&
        clang_getCursorKind(stripped(object)) != CXCursor_CXXThisExpr)
      return {};
  }
  return read_body(cursor, *found, arguments, of);
}

std::optional<Place> Reader::returned_by(CXCursor cursor) {
  const CXCursor called = clang_getCursorReferenced(cursor);
  const Cursors parts = expressions_of(cursor);
  const bool is_method = clang_getCursorKind(called) == CXCursor_CXXMethod;
  const bool is_operator = text_of(clang_getCursorSpelling(called)).starts_with("operator");
  Cursors arguments = is_operator ? arguments_of(cursor) : parts;
  if (arguments.empty() || clang_Cursor_isNull(called)) return {};
  const auto found = is_method ? callees_.method_of(called)
                               : callees_.definition_of(is_operator ? cursor : stripped(parts[0]),
                                                        arguments.size() - !is_operator);
  if (!found || !is_reference(clang_getCursorResultType(*found))) return {};
  std::optional<Place> object;
  if (is_method && !clang_CXXMethod_isStatic(called)) {
    const CXCursor first = stripped(arguments.front());
    const Cursors base = is_operator ? Cursors{first} : expressions_of(first);
    if (base.size() == 1 && is_view_type(clang_getCursorType(stripped(base.front()))) &&
        clang_getCursorKind(stripped(base.front())) != CXCursor_CXXThisExpr)
      return {};
    object = !base.empty() ? place(base.front()) : own_object();
    if (!object || !object->unsure.empty()) return {};
  }
  if (!is_operator || is_method) arguments.erase(arguments.begin());
  const auto outer = std::exchange(returned_place_, std::nullopt);
  const auto read = read_body(cursor, *found, arguments, object);
  auto returned = std::exchange(returned_place_, outer);
  return read ? returned : std::nullopt;
}

std::optional<Term> Reader::read_body(CXCursor callee, CXCursor function, const Cursors& arguments,
                                      std::optional<Place> object) {
  if (scopes_.size() > 5) return {};
  Cursors parameters;
  CXCursor body = clang_getNullCursor();
  for (const CXCursor child : children_of(function)) {
    if (clang_getCursorKind(child) == CXCursor_ParmDecl) parameters.push_back(child);
    if (clang_getCursorKind(child) == CXCursor_CompoundStmt) body = child;
  }
  if (parameters.size() != arguments.size() || clang_Cursor_isNull(body)) return {};
  // The tool reads the body of a template for arguments that are numbers. Other arguments might
  // call different operators.
  if (is_made_for_others(clang_getCursorReferenced(callee))) return {};
  const bool is_template = clang_getCursorKind(function) == CXCursor_FunctionTemplate;
  for (std::size_t p = 0; is_template && p < parameters.size(); ++p)
    if (is_made_for_others(clang_getCursorType(parameters[p]),
                           clang_getCursorType(stripped(arguments[p]))))
      return {};
  changes_.note(body);
  const std::size_t troubles = function_.troubles.size();
  const int line_of_call = std::exchange(line_of_call_, line(callee));
  Frame* const outside = frame_;
  enter();
  std::vector<std::pair<CXCursor, Variable*>> scope;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    scopes_.push_back({});
    Variable* parameter = declare(parameters[p]);
    scopes_.pop_back();
    parameter->frame = frame_;
    Cursors given{arguments[p]};
    if (is_default(given.front())) given = callees_.default_of(function, p);
    const CXType type = clang_getCursorType(parameters[p]);
    if (!is_reference(type) && !is_value_type(type) && !is_array_type(type))
      trouble_with(parameters[p], "nothing is known of the object");
    bind(*parameter, type, given, true);
    scope.push_back({parameter->declaration, parameter});
  }
  scopes_.push_back(std::move(scope));
  const auto returned = std::exchange(returned_, Term{});
  const bool had_returned = std::exchange(has_returned_, false);
  const CXType result_type = std::exchange(result_type_, clang_getCursorResultType(function));
  const Frame* const base = std::exchange(base_, frame_);
  const std::optional<Place> of = std::exchange(object_, std::move(object));
  statement(body);
  object_ = of;
  base_ = base;
  result_type_ = result_type;
  has_returned_ = had_returned;
  Term result = std::exchange(returned_, returned);
  scopes_.pop_back();
  frame_ = outside;
  line_of_call_ = line_of_call;
  if (!source_.has(function) && function_.troubles.size() > troubles) {
    function_.troubles.erase(function_.troubles.begin() + static_cast<std::ptrdiff_t>(troubles),
                             function_.troubles.end());
    return {};
  }
  return result;
}

}  // namespace slicer
