#include <algorithm>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// The first semicolon after token i, outside brackets; `end` if there is none before `end`.
std::size_t semicolon_behind(const Source& source, std::size_t i, std::size_t end) {
  do {
    i = source.next(source.opens(i) ? source.close_of(i) : i);
  } while (i < end && !source.is_sign(i, ";"));
  return std::min(i, end);
}

/// Whether the statement that begins at a token is empty or only sleeps.
bool does_nothing(const Source& source, std::size_t i) {
  const bool in_braces = source.is_sign(i, "{");
  if (in_braces) i = source.next(i);
  while (!source.closes(i)) {
    if (source.is(i, "__nanosleep"))
      i = source.close_of(source.next(i));
    else if (!source.is_sign(i, ";") && !source.is(i, "continue"))
      return false;
    if (source.is_sign(i, ";") && !in_braces) return true;
    i = source.next(i);
  }
  return in_braces;
}

/// Whether a `while` ends a loop that began with `do` and has a non-empty body.
bool ends_busy_loop(const Source& source, std::size_t loop) {
  std::size_t i = source.previous(loop);
  if (source.is_sign(i, "}")) {
    const std::size_t opening = source.open_of(i);
    return source.is(source.previous(opening), "do") && !does_nothing(source, opening);
  }
  if (!source.is_sign(i, ";")) return false;
  do {
    i = source.previous(source.closes(i) ? source.open_of(i) : i);
  } while (!source.is_sign(i, ";") && !source.opens(i) && !source.is_sign(i, "}"));
  return source.is(source.next(i), "do");
}

/// Tokens of a loop. `before` and `behind` are the parentheses or semicolons that delimit the
/// condition. `opening` and `closing` are the parentheses that contain the condition and the other
/// expressions of the loop.
struct Condition {
  std::size_t before = 0, behind = 0, opening = 0, closing = 0;
};

bool is_loop(const Source& source, std::size_t i) {
  return source.is(i, "while") || source.is(i, "for");
}

/// The condition of a loop. All tokens are 0 if the loop has no condition.
Condition condition_of(const Source& source, std::size_t loop) {
  const std::size_t opening = source.next(loop);
  if (!source.is_sign(opening, "(")) return {};
  const std::size_t closing = source.close_of(opening);
  if (source.is(loop, "while")) return {opening, closing, opening, closing};
  const std::size_t begin = source.next(opening);
  const std::size_t first =
      source.is_sign(begin, ";") ? begin : semicolon_behind(source, begin, closing);
  return {first, semicolon_behind(source, first, closing), opening, closing};
}

/// The condition of a loop whose body is empty or only sleeps. All tokens are 0 for any other loop.
Condition waiting_condition(const Source& source, std::size_t loop) {
  const Condition condition = condition_of(source, loop);
  const bool is_busy = condition.closing == 0 ||
                       !does_nothing(source, source.next(condition.closing)) ||
                       (source.is(loop, "while") && ends_busy_loop(source, loop));
  return is_busy ? Condition{} : condition;
}

/// Whether the loop itself changes the variable at token i of its condition, so that no other
/// thread has to change this variable.
bool is_counter(const Source& source, const Condition& condition, std::size_t i) {
  for (std::size_t j = condition.opening; j < condition.closing; ++j)
    if ((j < condition.before || j > condition.behind) && source.is(j, source[i])) return true;
  for (const auto* sign : {"+", "-"}) {
    const std::size_t before = source.previous(i), behind = source.next(i);
    if (source.is_sign(before, sign) && source.is_sign(before - 1, sign)) return true;
    if (source.is_sign(behind, sign) && source.is_sign(behind + 1, sign)) return true;
  }
  return false;
}

/// Whether a condition reads a volatile variable that other threads change. The result is false if
/// the condition assigns to a variable or declares one.
bool asks_volatile(const Source& source, const Condition& condition, const Names& volatiles) {
  bool asks = false;
  int depth = 0;
  for (std::size_t i = condition.before + 1; i < condition.behind; ++i) {
    depth += source.opens(i) - source.closes(i);
    asks = asks || source.is(i, "volatile") ||
           (volatiles.contains(source[i]) && !is_counter(source, condition, i));
    const bool is_part = source.is_sign(i + 1, "=") || source.is_sign(i - 1, "=") ||
                         source.is_sign(i - 1, "!") || source.is_sign(i - 1, "<") ||
                         source.is_sign(i - 1, ">");
    if (depth == 0 && source.is_sign(i, "=") && !is_part) return false;
  }
  return asks;
}

/// Whether a word is part of a type name.
bool is_of_type(std::string_view word) {
  for (const auto* one : {"bool", "char", "const", "double", "float", "int", "long", "short",
                          "signed", "unsigned", "volatile"})
    if (word == one) return true;
  return false;
}

}  // namespace

Names find_volatiles(const Source& source) {
  Names names;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!source.is(i, "volatile")) continue;
    std::size_t last = i, j = source.next(i);
    for (; source.is_name(j) || source.is_sign(j, "::") || source.is_sign(j, "*") ||
           source.is_sign(j, "&");
         j = source.next(j))
      last = j;
    bool ends = false;
    for (const auto* sign : {";", ",", ")", "=", "[", "{"}) ends = ends || source.is_sign(j, sign);
    if (ends && source.is_name(last) && !is_of_type(source[last])) names.emplace(source[last]);
  }
  return names;
}

void rewrite_waits(Source& source, const Body& body, const Names& volatiles) {
  for (std::size_t i = body.open + 1; i < body.close; ++i) {
    if (!is_loop(source, i)) continue;
    const Condition condition = waiting_condition(source, i);
    if (!asks_volatile(source, condition, volatiles)) continue;
    const std::size_t before = condition.before, behind = condition.behind;
    source.replace(before, before + 1,
                   source.text(before, before + 1) +
                       "::cuda_on_cpu::wait_begins(), ::cuda_on_cpu::wait_ends((");
    source.replace(behind, behind + 1, ") ? true : false)" + source.text(behind, behind + 1));
  }
}

void rewrite_looks(Source& source, std::size_t first, const std::vector<Body>& bodies,
                   const Names& volatiles) {
  for (std::size_t i = first; i < source.size(); ++i) {
    if (!is_loop(source, i) || is_in(bodies, i)) continue;
    const Condition condition = condition_of(source, i);
    if (!asks_volatile(source, condition, volatiles)) continue;
    const std::size_t before = condition.before;
    source.replace(before, before + 1,
                   source.text(before, before + 1) + "::cuda_on_cpu::host_looks(), ");
  }
}

}  // namespace cuda_on_cpu::rewriter
