#include "syntax.hpp"

#include <cctype>
#include <set>

namespace slicer {

bool is_expression(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  return clang_isExpression(kind);
}

bool is_statement(CXCursor cursor) { return clang_isStatement(clang_getCursorKind(cursor)); }

Cursors expressions_of(CXCursor cursor) {
  Cursors children = children_of(cursor);
  std::erase_if(children, [](CXCursor child) {
    return !is_expression(child) || clang_getCursorKind(child) == CXCursor_OverloadedDeclRef;
  });
  return children;
}

CXCursor stripped(CXCursor cursor) {
  for (;;) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) return cursor;
    const Cursors children = expressions_of(cursor);
    if (children.size() != 1) return cursor;
    cursor = children.front();
  }
}

Cursors arguments_of(CXCursor call) {
  Cursors arguments;
  const int count = clang_Cursor_getNumArguments(call);
  for (int a = 0; a < count; ++a) arguments.push_back(clang_Cursor_getArgument(call, a));
  return arguments;
}

Cursors operands_of(CXCursor cursor) {
  return clang_getCursorKind(cursor) == CXCursor_CallExpr ? arguments_of(cursor)
                                                          : expressions_of(cursor);
}

std::string last_word(const Source& source, CXCursor cursor) {
  const std::string spelling = text_of(clang_getCursorSpelling(cursor));
  if (!spelling.empty()) return spelling;
  int depth = 0;
  std::string word;
  for (const Token& token : source.tokens(source.range(cursor))) {
    if (token == "(" || token == "[") ++depth;
    if (token == ")" || token == "]") --depth;
    if (token == "<") break;
    const bool is_name = std::isalpha(token.text.front()) || token.text.front() == '_';
    if (depth == 0 && is_name && !(token == "template")) word = token.text;
  }
  return word;
}

std::string operator_of(const Source& source, CXCursor cursor) {
  const Cursors operands = expressions_of(cursor);
  if (operands.empty() || source.is_macro(cursor)) return {};
  const Range whole = source.range(cursor), first = source.range(operands.front());
  Range between{whole.first, first.first};
  if (operands.size() > 1)
    between = {first.last, source.range(operands[1]).first};
  else if (first.first == whole.first)
    between = {first.last, whole.last};
  for (const Token& token : source.tokens(between))
    if (!(token == "(") && !(token == ")")) return token.text;
  return {};
}

std::string operation_of(const Source& source, CXCursor cursor) {
  if (clang_getCursorKind(cursor) != CXCursor_CallExpr) return operator_of(source, cursor);
  const std::string name = text_of(clang_getCursorSpelling(clang_getCursorReferenced(cursor)));
  return name.starts_with("operator") ? name.substr(8) : "";
}

bool only_computes(const std::string& operation) {
  static const std::set<std::string> operations{
      "+", "-", "*", "/",  "%",  "<",   "<=",  ">",  ">=",     "==",    "!=",  "&&",    "||",
      "&", "|", "^", "<<", ">>", "<=>", "and", "or", "bitand", "bitor", "xor", "not_eq"};
  return operations.contains(operation);
}

Cursors initialiser(const Source& source, CXCursor declaration) {
  const unsigned name = source.place(clang_getCursorLocation(declaration));
  const Range whole = source.range(declaration);
  int depth = 0;
  unsigned first = whole.last;
  const std::vector<Token> tokens = source.tokens({name, whole.last});
  const std::size_t behind = tokens.empty() || !(tokens.front() == "[") ? 1 : 0;
  for (std::size_t t = behind; t < tokens.size() && first == whole.last; ++t) {
    if (depth == 0 && (tokens[t] == "=" || tokens[t] == "(" || tokens[t] == "{"))
      first = tokens[t].range.first;
    depth += (tokens[t] == "[") - (tokens[t] == "]");
  }
  Cursors children = expressions_of(declaration);
  std::erase_if(children, [&](CXCursor child) { return source.range(child).first < first; });
  return children;
}

Parts parts_of(const Source& source, CXCursor cursor) {
  unsigned ends[3] = {};
  int depth = 0, found = 0;
  for (const Token& token : source.tokens(source.range(cursor))) {
    if (token == "(" || token == "{" || token == "[") ++depth;
    if (token == ")" || token == "}" || token == "]") --depth;
    const bool is_end = (token == ";" && depth == 1) || (token == ")" && depth == 0);
    if (is_end && found < 3) ends[found++] = token.range.first;
  }
  Parts parts;
  parts.is_whole = found == 3;
  for (const CXCursor child : children_of(cursor)) {
    const unsigned place = source.range(child).first;
    std::optional<CXCursor>& part = place < ends[0]   ? parts.first
                                    : place < ends[1] ? parts.condition
                                    : place < ends[2] ? parts.step
                                                      : parts.body;
    parts.is_whole = parts.is_whole && !part;
    part = child;
  }
  return parts;
}

}  // namespace slicer
