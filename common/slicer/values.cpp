#include "reading.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "types.hpp"

namespace slicer {
namespace {

bool is_pack(const Source& source, CXCursor cursor) {
  const std::vector<Token> tokens = source.tokens(source.range(cursor));
  return std::find_if(tokens.begin(), tokens.end(),
                      [](const Token& token) { return token == "..."; }) != tokens.end();
}

}  // namespace

Term Reader::value(CXCursor cursor) {
  if (clang_getCursorKind(cursor) == CXCursor_UnexposedExpr && is_pack(source_, cursor))
    trouble_with(cursor, "the expression");
  cursor = stripped(cursor);
  const std::string text = source_.text(cursor);
  if (source_.is_macro(cursor)) {
    if (clang_getCursorKind(cursor) != CXCursor_IntegerLiteral &&
        clang_getCursorKind(cursor) != CXCursor_FloatingLiteral)
      trouble_with(cursor, "the macro");
    return unknown(text);
  }
  if (const auto where = place(cursor)) return read(cursor, *where);
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_IntegerLiteral:
      return literal(cursor);
    case CXCursor_DeclRefExpr:
      return enumerator(cursor);
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_UnaryExpr:  // sizeof
    case CXCursor_SizeOfPackExpr:
      return unknown(text);
    case CXCursor_BinaryOperator:
      return binary(cursor);
    case CXCursor_UnaryOperator:
      return unary(cursor);
    case CXCursor_CompoundAssignOperator:
      assign(cursor, false);
      return unknown(text);
    case CXCursor_ConditionalOperator:
      return choice(cursor);
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CStyleCastExpr:
      return cast(cursor);
    case CXCursor_InitListExpr:
      return all_of(cursor);
    case CXCursor_CallExpr:
      return call(cursor);
    case CXCursor_MemberRefExpr:
      return all_of(cursor);
    case CXCursor_UnexposedExpr:
      return unexposed(cursor);
    default:
      trouble_with(cursor, "the expression");
      return unknown(text);
  }
}

Term Reader::all_of(CXCursor cursor) {
  Term only = unknown(source_.text(cursor));
  const Cursors parts = expressions_of(cursor);
  for (const CXCursor part : parts) {
    Term term = value(part);
    if (parts.size() == 1 && clang_getCursorKind(cursor) != CXCursor_MemberRefExpr) only = term;
  }
  return only;
}

Term Reader::unexposed(CXCursor cursor) {
  const Cursors parts = expressions_of(cursor);
  const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
  const bool is_list = !tokens.empty() && (tokens.front() == "(" || tokens.front() == "{");
  if (parts.size() > 1 && !is_list) {
    trouble_with(cursor, "the expression");
    return unknown(source_.text(cursor));
  }
  return all_of(cursor);
}

Term Reader::literal(CXCursor cursor) {
  const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
  std::string digits = tokens.empty() ? "" : tokens.front().text;
  std::erase(digits, '\'');
  const bool is_binary = digits.starts_with("0b") || digits.starts_with("0B");
  try {
    return constant(is_binary ? std::stol(digits.substr(2), nullptr, 2)
                              : std::stol(digits, nullptr, 0));
  } catch (const std::exception&) {
    return unknown(source_.text(cursor));
  }
}

Term Reader::enumerator(CXCursor cursor) {
  const CXCursor declaration = clang_getCursorReferenced(cursor);
  if (clang_getCursorKind(declaration) == CXCursor_EnumConstantDecl)
    return constant(clang_getEnumConstantDeclValue(declaration));
  return unknown(source_.text(cursor));
}

Term Reader::cast(CXCursor cursor) {
  const Cursors parts = expressions_of(cursor);
  Term of = unknown(source_.text(cursor));
  for (const CXCursor part : parts) of = value(part);
  if (parts.size() == 1 && is_wide_integer_type(clang_getCursorType(cursor)) &&
      is_integer_type(clang_getCursorType(stripped(parts.front()))))
    return of;
  return unknown(source_.text(cursor));
}

Term Reader::choice(CXCursor cursor) {
  const Cursors parts = expressions_of(cursor);
  Frame* const outside = frame_;
  Term condition = value(parts[0]);
  enter_if(condition);
  Term one = value(parts[1]);
  frame_ = outside;
  enter_if(negated(condition));
  Term other = value(parts[2]);
  frame_ = outside;
  return made(Operation::choice, {std::move(condition), std::move(one), std::move(other)});
}

Term Reader::unary(CXCursor cursor) {
  const std::string operation = operator_of(source_, cursor);
  const CXCursor operand = expressions_of(cursor).front();
  if (operation == "++" || operation == "--") return count(cursor, false);
  if (operation == "&") {
    if (!place(operand)) trouble_with(cursor, "the address");
    return unknown(source_.text(cursor));
  }
  Term of = value(operand);
  if (operation == "-") return made(Operation::difference, {constant(0), std::move(of)});
  if (operation == "+") return of;
  if (operation == "!" || operation == "not") return negated(std::move(of));
  if (operation == "*") trouble_with(cursor, "what is at");
  return unknown(source_.text(cursor));
}

Term Reader::binary(CXCursor cursor) {
  const std::string operation = operator_of(source_, cursor);
  const Cursors operands = expressions_of(cursor);
  if (operation == "=") {
    assign(cursor, false);
    return unknown(source_.text(cursor));
  }
  if (operation == "&&" || operation == "||" || operation == "and" || operation == "or") {
    const bool is_both = operation[0] == '&' || operation == "and";
    Term first = value(operands[0]);
    Frame* const outside = frame_;
    enter_if(is_both ? first : negated(first));
    Term second = value(operands[1]);
    frame_ = outside;
    return made(is_both ? Operation::both : Operation::either,
                {std::move(first), std::move(second)});
  }
  return combined(cursor, operation, value(operands[0]), value(operands[1]), operands);
}

Term Reader::combined(CXCursor cursor, const std::string& operation, Term first, Term second,
                      const Cursors& operands) {
  const auto is_integer = [](CXCursor operand) {
    return is_integer_type(clang_getCursorType(stripped(operand)));
  };
  if (!is_integer(operands[0]) || !is_integer(operands[1])) {
    // Within a template a type may not be known yet; the terms then say what is an integer.
    if (!is_known(first) || !is_known(second)) return unknown(source_.text(cursor));
  }
  static const std::unordered_map<std::string, Operation> known{
      {"+", Operation::sum},      {"-", Operation::difference}, {"*", Operation::product},
      {"/", Operation::quotient}, {"%", Operation::remainder},  {"<", Operation::less},
      {"<=", Operation::at_most}, {"==", Operation::equal}};
  const auto both = [&](Operation made_of, Term one, Term other) {
    Term whole = made(made_of, {std::move(one), std::move(other)});
    whole.bits = natural_bits(clang_getCursorType(operands[0]));
    whole.text = source_.text(cursor);
    return whole;
  };
  if (const auto found = known.find(operation); found != known.end())
    return both(found->second, std::move(first), std::move(second));
  if (operation == ">") return both(Operation::less, std::move(second), std::move(first));
  if (operation == ">=") return both(Operation::at_most, std::move(second), std::move(first));
  if (operation == "!=" || operation == "not_eq")
    return negated(both(Operation::equal, std::move(first), std::move(second)));
  if (operation.empty()) trouble_with(cursor, "the expression");
  return unknown(source_.text(cursor));
}

Term Reader::quietly(CXCursor cursor) {
  const std::size_t accesses = function_.accesses.size(), troubles = function_.troubles.size();
  Term term = value(cursor);
  function_.accesses.resize(accesses);
  function_.troubles.erase(function_.troubles.begin() + troubles, function_.troubles.end());
  return term;
}

}  // namespace slicer
