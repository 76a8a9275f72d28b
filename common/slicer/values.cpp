#include "reading.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "types.hpp"

namespace slicer {
namespace {

/// Whether an operand of sizeof or a similar operator might be evaluated and might have a side
/// effect.
bool has_effect(const Source& source, CXCursor cursor) {
  const std::vector<Token> tokens = source.tokens(source.range(cursor));
  const auto count = [&](const std::string& word) {
    return std::count_if(tokens.begin(), tokens.end(),
                         [&](const Token& token) { return token == word; });
  };
  return count("++") + count("--") + count("=") > 0 || (count("(") > 1 && count("[") > 0);
}

/// A quotient that is rounded down, as a shift to the right computes it.
Term halved(const Term& term, long by) {
  Term quotient = made(Operation::quotient, {term, constant(by)});
  if (!may_be_negative(term)) return quotient;
  Term above = made(Operation::difference, {constant(by - 1), term});
  Term below = made(Operation::difference,
                    {constant(0), made(Operation::quotient, {std::move(above), constant(by)})});
  return made(Operation::choice,
              {made(Operation::less, {term, constant(0)}), std::move(below), std::move(quotient)});
}

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
    case CXCursor_UnaryExpr:  // sizeof and similar operators
      if (has_effect(source_, cursor)) trouble_with(cursor, "the expression");
      return unknown(text);
    case CXCursor_CharacterLiteral:
      return character(cursor);
    case CXCursor_CXXBoolLiteralExpr:
      return constant(text == "true");
    case CXCursor_FloatingLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CXXNullPtrLiteralExpr:
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
      if (!makes_plainly(clang_getCursorType(cursor))) trouble_with(cursor, "the expression");
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

/// The value of a character such as 'z', if the character is printable ASCII or '\0'.
Term Reader::character(CXCursor cursor) {
  const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
  const std::string text = tokens.size() == 1 ? tokens.front().text : "";
  const bool is_plain = text.size() == 3 && text[0] == '\'' && text[1] >= ' ' && text[1] <= '~';
  if (is_plain) return constant(text[1]);
  if (text == "'\\0'") return constant(0);
  return unknown(source_.text(cursor));
}

Term Reader::enumerator(CXCursor cursor) {
  const CXCursor declaration = clang_getCursorReferenced(cursor);
  if (clang_getCursorKind(declaration) == CXCursor_EnumConstantDecl)
    return constant(clang_getEnumConstantDeclValue(declaration));
  switch (clang_getCursorKind(declaration)) {
    case CXCursor_FunctionDecl:
    case CXCursor_FunctionTemplate:
    case CXCursor_CXXMethod:
    case CXCursor_NonTypeTemplateParameter:
      break;
    default:  // an expression that a template has not resolved yet is a number by assumption
      if (!clang_Cursor_isNull(declaration) || !is_dependent_type(clang_getCursorType(cursor)))
        trouble_with(cursor, "the expression");
  }
  return unknown(source_.text(cursor));
}

Term Reader::cast(CXCursor cursor) {
  const Cursors parts = expressions_of(cursor);
  Term of = unknown(source_.text(cursor));
  for (const CXCursor part : parts) of = value(part);
  const CXType type = clang_getCursorType(cursor);
  if (!is_value_type(type) && clang_getCanonicalType(type).kind != CXType_Void)
    trouble_with(cursor, "the cast");
  if (parts.size() == 1 && is_integer_type(type) &&
      is_integer_type(clang_getCursorType(stripped(parts.front()))) && keeps(parts.front(), type))
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
  // a < b ? a : b is a minimum, and a < b ? b : a is a maximum.
  const bool compares =
      (condition.operation == Operation::less || condition.operation == Operation::at_most) &&
      condition.bits == 0;
  if (compares && are_same(condition.operands[0], one) && are_same(condition.operands[1], other))
    return made(Operation::minimum, {std::move(one), std::move(other)});
  if (compares && are_same(condition.operands[0], other) && are_same(condition.operands[1], one))
    return made(Operation::maximum, {std::move(one), std::move(other)});
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
  if (is_dependent_type(clang_getCursorType(operand))) assume_number(cursor);
  Term of = value(operand);
  if (operation == "-") return made(Operation::difference, {constant(0), std::move(of)});
  if (operation == "+") return of;
  if (operation == "!" || operation == "not") return negated(std::move(of));
  if (operation != "~") trouble_with(cursor, "the expression");
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
  if (operands.size() != 2) {
    trouble_with(cursor, "the expression");
    return unknown(source_.text(cursor));
  }
  for (const CXCursor operand : operands)
    if (is_dependent_type(clang_getCursorType(operand))) assume_number(cursor);
  if (operation == ",") {
    effect(operands[0]);
    return value(operands[1]);
  }
  Term second = value(operands[1]);
  return combined(cursor, operation, value(operands[0]), std::move(second), operands);
}

Term Reader::combined(CXCursor cursor, const std::string& operation, Term first, Term second,
                      const Cursors& operands) {
  const auto is_integer = [](CXCursor operand) {
    return is_integer_type(clang_getCursorType(stripped(operand)));
  };
  if (!is_integer(operands[0]) || !is_integer(operands[1])) {
    // In a template, a type may not be known yet. The terms then show which operands are integers.
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
  if (!only_computes(operation)) trouble_with(cursor, "the expression");
  if (second.operation != Operation::constant || !is_known(first))
    return unknown(source_.text(cursor));
  const long by = second.value;
  const int bits = bits_of(clang_getCursorType(operands[0]));
  const bool is_natural = is_natural_type(clang_getCursorType(operands[0]));
  const bool is_mask = by > 0 && (by & (by + 1)) == 0;
  Term result = unknown("");
  if ((operation == "<<" || operation == ">>") && by >= 0 && by < bits - 1 && by < 62)
    result = operation == "<<" ? both(Operation::product, first, constant(1L << by))
             : is_natural      ? both(Operation::quotient, first, constant(1L << by))
                               : halved(first, 1L << by);
  else if (operation == "&" && is_mask && by < (1L << 30))
    result =
        is_natural || !may_be_negative(first)
            ? both(Operation::remainder, first, constant(by + 1))
            : made(Operation::difference,
                   {first, made(Operation::product, {halved(first, by + 1), constant(by + 1)})});
  result.text = source_.text(cursor);
  return result;
}

Term Reader::quietly(CXCursor cursor) {
  const std::size_t accesses = function_.accesses.size(), troubles = function_.troubles.size();
  Term term = value(cursor);
  function_.accesses.resize(accesses);
  function_.troubles.erase(function_.troubles.begin() + troubles, function_.troubles.end());
  return term;
}

}  // namespace slicer
