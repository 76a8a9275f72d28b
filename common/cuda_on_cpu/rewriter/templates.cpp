#include <string_view>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// Whether a token may be part of a template argument. Comparisons and logical operators are
/// excluded, because '<' and '>' may then be comparisons as well.
bool is_of_argument(const Source& source, std::size_t i) {
  if (source.is_name(i) || source.kind(i) == Kind::number || source.is_blank(i)) return true;
  const auto is_and = [&](std::size_t j) { return j < source.size() && source.is_sign(j, "&"); };
  if (is_and(i)) return !is_and(i + 1) && !is_and(i - 1);
  for (const auto* sign : {"::", ",", "*", "+", "-", "/", "(", ")", "<", ">"})
    if (source.is_sign(i, sign)) return true;
  return false;
}

/// The '>' that closes the template arguments that '<' opens; `opening` if these tokens are not the
/// brackets of template arguments.
std::size_t end_of_arguments(const Source& source, std::size_t opening) {
  int depth = 0;
  for (std::size_t i = opening; is_of_argument(source, i); i = source.next(i)) {
    if (source.closes(i)) return opening;
    depth += source.is_sign(i, "<") - source.is_sign(i, ">");
    if (depth == 0) return i;
    if (source.opens(i)) i = source.close_of(i);
  }
  return opening;
}

/// The '<' that belongs to the '>' of a class such as `Cast<A, B>`; `closing` if there is none.
std::size_t begin_of_arguments(const Source& source, std::size_t closing) {
  int depth = 0;
  for (std::size_t i = closing; i > 0 && is_of_argument(source, i); i = source.previous(i)) {
    if (source.opens(i)) return closing;
    depth += source.is_sign(i, ">") - source.is_sign(i, "<");
    if (depth == 0) return i;
    if (source.closes(i)) i = source.open_of(i);
  }
  return closing;
}

/// Whether an expression that begins after a token cannot be the name in a declaration.
bool is_before_expression(const Source& source, std::size_t before, bool in_device_body) {
  for (const auto* word : {"return", "else", "do", "case"})
    if (source.is(before, word)) return true;
  if (source.is_name(before)) return false;
  const bool may_end_type =
      source.is_sign(before, "*") || source.is_sign(before, "&") || source.is_sign(before, ">");
  return in_device_body || !may_end_type;
}

/// Whether the '>' at a token ends a class whose member follows, for example `Cast<A, B>::`.
bool is_class(const Source& source, std::size_t closing, bool in_device_body) {
  std::size_t i = closing;
  for (;;) {
    if (source.is_sign(i, ">")) {
      const std::size_t opening = begin_of_arguments(source, i);
      if (opening == i) return false;
      i = source.previous(opening);
    }
    if (!source.is_name(i)) return false;
    std::size_t before = source.previous(i);
    if (source.is(before, "template")) before = source.previous(before);
    if (!source.is_sign(before, "::")) return is_before_expression(source, before, in_device_body);
    const std::size_t scope = source.previous(before);
    if (!source.is_name(scope) && !source.is_sign(scope, ">"))
      return is_before_expression(source, scope, in_device_body);
    i = scope;
  }
}

/// Whether a class template of this name is declared before token i.
bool is_declared_class(const Source& source, std::size_t i, std::string_view name) {
  for (std::size_t j = 1; j < i; ++j) {
    if (!source.is(j, name)) continue;
    const std::size_t before = source.previous(j);
    if (source.is(before, "struct") || source.is(before, "class")) return true;
  }
  return false;
}

}  // namespace

void keep_meaning(Source& source, std::size_t i) {
  const std::size_t alias = source.next(i);
  if (!source.is_name(alias) || !source.is_sign(source.next(alias), "=")) return;
  const std::size_t name = source.next(source.next(alias));
  if (source.is(name, source[alias]) && source.is_sign(source.next(name), "<") &&
      is_declared_class(source, i, source[alias]))
    source.replace(name, name + 1, "struct " + std::string(source[name]));
}

void add_template_keyword(Source& source, std::size_t i, bool in_device_body) {
  // Comparisons usually have a space before '<', so only brackets directly after a name count.
  if (i == 0 || i + 1 == source.size() || !source.is_sign(i + 1, "<")) return;
  const std::size_t sign = i - 1, opening = i + 1;
  const bool is_member = source.is_sign(sign, ".") || source.is_sign(sign, "->");
  if (!is_member && !source.is_sign(sign, "::")) return;
  const std::size_t before = source.previous(sign), closing = end_of_arguments(source, opening);
  if (closing == opening || !source.is_sign(source.next(closing), "(")) return;
  if (is_member || (source.is_sign(before, ">") && is_class(source, before, in_device_body)))
    source.replace(i, i + 1, "template " + std::string(source[i]));
}

}  // namespace cuda_on_cpu::rewriter
