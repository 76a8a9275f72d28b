#include "reading.hpp"

#include <algorithm>
#include <utility>

#include "types.hpp"

namespace slicer {
namespace {

/// Whether a kernel is called for many threads.
bool is_launch(const Source& source, CXCursor cursor) {
  const std::vector<Token> tokens = source.tokens(source.range(cursor));
  return std::find_if(tokens.begin(), tokens.end(),
                      [](const Token& token) { return token == "<<<"; }) != tokens.end();
}

/// The operator among the parts of a call that is not resolved yet, within a template.
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
         operation == "<" || operation == ">" || operation == "==";
}

/// An array, or a row of one: those of the same array are of the same size.
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
  if (parts.empty() || is_type) return all_of(cursor);
  const CXCursor callee = stripped(parts.front());
  const Cursors arguments(parts.begin() + 1, parts.end());
  if (const std::string operation = overloaded_name(parts); is_arithmetic(operation)) {
    for (const CXCursor part : parts)
      if (overloaded_name({part}).empty()) value(part);
    return unknown(source_.text(cursor));
  }
  if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) return method(cursor, callee);
  const std::string function = callee_name(callee);
  if (callees_.is_pure(callee, function)) return pure(cursor, function, arguments);
  if (const auto result = inlined(callee, arguments)) return *result;
  trouble_with(cursor, "nothing is known of the call");
  return unknown(source_.text(cursor));
}

Term Reader::overloaded(CXCursor cursor, const std::string& operation) {
  const std::string text = source_.text(cursor);
  if (operation == "()" || operation == "[]" || operation == "->" || operation == "*") {
    if (operation != "*" || clang_Cursor_getNumArguments(cursor) != 2) {
      trouble_with(cursor, "nothing is known of the call");
      return unknown(text);
    }
  }
  const bool assigns = operation == "=" || operation == "+=" || operation == "-=" ||
                       operation == "*=" || operation == "/=";
  if (assigns) {
    assign(cursor, false);
    return unknown(text);
  }
  if (clang_Cursor_getNumArguments(cursor) < 1) return all_of(cursor);  // a conversion
  for (const CXCursor argument : arguments_of(cursor)) value(argument);
  return unknown(text);
}

Term Reader::construct(CXCursor cursor) {
  const bool is_plain = is_array_type(clang_getCursorType(cursor));
  Term only = unknown(source_.text(cursor));
  for (const CXCursor argument : arguments_of(cursor)) {
    const bool is_array = is_array_type(clang_getCursorType(stripped(argument)));
    if (is_array && !is_plain) trouble_with(cursor, "nothing is known of the call");
    value(argument);
  }
  return only;
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
  trouble_with(cursor, "nothing is known of the call");
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
  if (!found || scopes_.size() > 5) return {};
  const CXCursor function = *found;
  Cursors parameters;
  CXCursor body = clang_getNullCursor();
  for (const CXCursor child : children_of(function)) {
    if (clang_getCursorKind(child) == CXCursor_ParmDecl) parameters.push_back(child);
    if (clang_getCursorKind(child) == CXCursor_CompoundStmt) body = child;
  }
  if (parameters.size() != arguments.size() || clang_Cursor_isNull(body)) return {};
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
    bind(*parameter, clang_getCursorType(parameters[p]), {arguments[p]}, true);
    scope.push_back({parameters[p], parameter});
  }
  scopes_.push_back(std::move(scope));
  const auto returned = std::exchange(returned_, Term{});
  const Frame* const base = std::exchange(base_, frame_);
  statement(body);
  base_ = base;
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
