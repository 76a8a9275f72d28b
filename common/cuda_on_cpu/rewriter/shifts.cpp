#include <cstdlib>
#include <string>
#include <vector>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// Whether two signs stand side by side.
bool is_pair(const Source& source, std::size_t i, std::string_view sign) {
  return source.is_sign(i, sign) && i + 1 < source.size() && source.is_sign(i + 1, sign);
}

/// Whether a width is a number that is narrower than the narrowest that is shifted.
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

/// Whether a statement talks to a stream, as that of a function for both sides may.
bool names_stream(const Source& source, std::size_t first, std::size_t i) {
  for (std::size_t j = first; !source.is_sign(j, ";") && (j < i || !source.closes(j)); ++j)
    for (const auto* name : {"cout", "cerr", "clog", "endl"})
      if (source.is(j, name)) return true;
  return false;
}

/// What is open at a token: how many '<' since, which may be those of templates, and where the
/// statement began.
struct Level {
  int less = 0;
  std::size_t statement = 0;
};

/// Whether a shift begins at a token. Two '>' behind two '<' may close templates, and are left
/// alone.
bool is_shift(const Source& source, std::size_t i, const Level& level) {
  const bool is_left = is_pair(source, i, "<");
  if (!is_left && (!is_pair(source, i, ">") || level.less >= 2)) return false;
  return !source.is(source.previous(i), "operator") && !names_stream(source, level.statement, i);
}

}  // namespace

void rewrite_shifts(Source& source, const Body& body) {
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
    } else if (is_shift(source, i, level)) {
      const bool assigns = source.is_sign(i + 2, "=");
      const std::size_t last = i + 1 + assigns;
      if (!is_narrow(source, source.next(last)))
        source.replace(i, last + 1,
                       source.text(i, last + 1) + " ::cuda_on_cpu::as_gpu " +
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
