#include <cstdlib>
#include <string>
#include <vector>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// Whether token i and the next token are both `sign`.
bool is_pair(const Source& source, std::size_t i, std::string_view sign) {
  return source.is_sign(i, sign) && i + 1 < source.size() && source.is_sign(i + 1, sign);
}

/// Whether the distance of a shift is a literal below 32, the width of the narrowest shifted type.
bool is_narrow(const Source& source, std::size_t width) {
  if (source.kind(width) != Kind::number) return false;
  const std::string digits(source[width]);
  char* end = nullptr;
  const unsigned long bits = std::strtoul(digits.c_str(), &end, 0);
  if (bits >= 32 || std::string_view(end).find_first_not_of("uUlL") != std::string_view::npos)
    return false;
  for (const auto* sign : {"+", "-", "*", "/", "%"})
    if (source.is_sign(source.next(width), sign)) return false;
  return true;
}

/// Whether a statement uses a C++ stream, which is possible in a function for both host and device.
bool names_stream(const Source& source, std::size_t first, std::size_t i) {
  for (std::size_t j = first; !source.is_sign(j, ";") && (j < i || !source.closes(j)); ++j)
    for (const auto* name : {"cout", "cerr", "clog", "cin", "endl", "ends", "flush", "ws"})
      if (source.is(j, name)) return true;
  return false;
}

/// The state of an open bracket: the number of '<' after the bracket (some may belong to
/// templates), and the first token of the current statement.
struct Level {
  int less = 0;
  std::size_t statement = 0;
};

/// Whether a shift operator is part of a fold expression.
bool is_fold(const Source& source, std::size_t i) {
  return source.is_sign(source.previous(i), ".") || source.is_sign(source.next(i + 1), ".");
}

/// Whether a shift begins at a token. Two '>' after two '<' may close templates and are ignored.
/// Bit fields are ignored because they have no address and change their type when passed to a
/// function.
bool is_shift(const Source& source, std::size_t i, const Level& level, const Names& bit_fields) {
  const bool is_left = is_pair(source, i, "<");
  if (!is_left && (!is_pair(source, i, ">") || level.less >= 2)) return false;
  const std::size_t before = source.previous(i);
  if (source.is(before, "operator") || bit_fields.contains(source[before])) return false;
  return !is_fold(source, i) && !names_stream(source, level.statement, i);
}

/// Whether a name is declared as a bit field in a class: the name follows a type or another field.
bool is_bit_field(const Source& source, std::size_t i) {
  if (!source.is_name(i) || !source.is_sign(source.next(i), ":")) return false;
  const std::size_t before = source.previous(i);
  for (const auto* word : {"case", "class", "enum", "struct", "union"})
    if (source.is(before, word)) return false;
  return source.is_name(before) || source.is_sign(before, ",") || source.is_sign(before, ">");
}

}  // namespace

Names find_bit_fields(const Source& source) {
  Names names;
  std::vector<bool> in_braces{true};
  bool has_choice = false;  // the next colon may belong to `?`
  std::size_t last = source.size();
  while (last > 0 && source.is_blank(last - 1)) --last;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    if (source.opens(i))
      in_braces.push_back(source.is_sign(i, "{"));
    else if (source.closes(i) && in_braces.size() > 1)
      in_braces.pop_back();
    else if (in_braces.back() && !has_choice && is_bit_field(source, i))
      names.emplace(source[i]);
    if (source.is_sign(i, "?"))
      has_choice = true;
    else if (source.is_sign(i, ";") || source.is_sign(i, "{") || source.is_sign(i, "}"))
      has_choice = false;
  }
  return names;
}

void rewrite_shifts(Source& source, const Body& body, const Names& bit_fields) {
  std::vector<Level> levels{{0, body.open + 1}};
  for (std::size_t i = body.open + 1; i < body.close; ++i) {
    Level& level = levels.back();
    if (source.opens(i)) {
      levels.push_back({0, i + 1});
    } else if (source.closes(i)) {
      levels.pop_back();
      if (source.is_sign(i, "}")) levels.back() = {0, i + 1};
    } else if (source.is_sign(i, ";")) {
      level = {0, i + 1};
    } else if (is_shift(source, i, level, bit_fields)) {
      const bool assigns = source.is_sign(i + 2, "=");
      const std::size_t last = i + 1 + assigns;
      if (!is_narrow(source, source.next(last)))
        source.replace(i, last + 1,
                       source.text(i, last + 1) + " ::cuda_on_cpu::AsGpu() " +
                           (assigns ? "=" : source.text(i, i + 2)));
      i = last;
    } else if (source.is_sign(i, "<")) {
      ++level.less;
    } else if (source.is_sign(i, ">") && level.less > 0) {
      --level.less;
    }
  }
}

}  // namespace cuda_on_cpu::rewriter
