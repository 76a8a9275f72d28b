#include <algorithm>
#include <string>
#include <vector>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// Whether a declaration is in a function, not in a namespace or a class.
bool is_in_function(const Source& source, std::size_t i) {
  int depth = 0;
  while (i-- > 0) {
    if (source.is_sign(i, "}"))
      ++depth;
    else if (source.is_sign(i, "{") && --depth < 0)
      break;
  }
  if (depth >= 0) return false;
  const std::size_t before = source.previous(i);
  for (const auto token : {")", ";", "{", "}", "else", "do", "const", "noexcept", "mutable"})
    if (source.is(before, token)) return true;
  return false;
}

bool has_arguments(std::string_view name) {
  return name == "__attribute__" || name == "alignas" || name == "__declspec";
}

/// Whether a statement ends between two tokens, in source that has already been rewritten.
bool ends_between(const Source& source, std::size_t first, std::size_t last) {
  while (++first < last)
    if (source.kind(first) == Kind::opaque && source[first].ends_with(';')) return true;
  return false;
}

/// The first token of the declaration that contains token i.
std::size_t declaration_start(const Source& source, std::size_t i) {
  for (std::size_t first = i;;) {
    std::size_t before = source.previous(first);
    if (ends_between(source, before, first)) return first;
    if (source.is_sign(before, ")")) {
      before = source.previous(source.open_of(before));
      if (!has_arguments(source[before])) return first;
    } else if (!source.is_name(before) && !source.is_sign(before, "::") &&
               !source.is_sign(before, "*")) {
      return first;
    }
    first = before;
  }
}

/// The declaration `type name[]extents`: an array of unspecified size.
struct Declaration {
  std::string type, name, extents;
};

/// Parses the `extern __shared__` declaration in tokens first to end - 1, with its specifiers in
/// any order.
Declaration declaration_of(const Source& source, std::size_t first, std::size_t end) {
  std::vector<std::string> parts;
  for (std::size_t i = first; i < end; ++i) {
    if (has_arguments(source[i]))
      i = source.close_of(source.next(i));
    else if (!source.is_blank(i) && !source.is(i, "extern") && !source.is(i, "__shared__"))
      parts.emplace_back(source[i]);
  }
  const auto open = std::find(parts.begin(), parts.end(), "[");
  if (open - parts.begin() < 2 || parts.end() - open < 2 || open[1] != "]")
    throw Unsure("'extern __shared__' must declare an array without a size");
  const auto joined = [](auto begin, auto behind) {
    std::string text;
    for (; begin != behind; ++begin) text += (text.empty() ? "" : " ") + *begin;
    return text;
  };
  return {joined(parts.begin(), open - 1), open[-1], joined(open + 2, parts.end())};
}

/// Adapts casts to a reference after the array `name` has become a pointer: `(T&)name` becomes
/// `(T&)*name`, up to the end of the enclosing block.
void follow_in_casts(Source& source, std::size_t i, std::string_view name) {
  for (int depth = 0;; i = source.next(i)) {
    depth += source.is_sign(i, "{") - source.is_sign(i, "}");
    if (depth < 0) return;
    if (!source.is(i, name)) continue;
    std::size_t before = source.previous(i);
    const bool is_in_brackets = source.is_sign(before, "(");
    if (is_in_brackets) before = source.previous(before);
    if (source.is_sign(before, is_in_brackets ? ">" : ")") &&
        source.is_sign(source.previous(before), "&"))
      source.replace(i, i + 1, '*' + std::string(name));
  }
}

/// Rewrites an array of unspecified size, which is the dynamic shared memory of the thread block.
void rewrite_dynamic(Source& source, std::size_t first, std::size_t end) {
  const auto [type, name, extents] = declaration_of(source, first, end);
  if (!is_in_function(source, first)) {
    source.replace(first, end,
                   "extern __thread " + type + ' ' + name + "[]" + extents +
                       " __asm__(\"cuda_on_cpu_dynamic_shared\")");
    return;
  }
  follow_in_casts(source, end, name);
  const std::string before = extents.empty() ? type + '*' : type + " (*";
  const std::string behind = extents.empty() ? "" : ')' + extents;
  source.replace(first, end,
                 before + " const " + name + behind + " = reinterpret_cast<" + before + behind +
                     ">(cuda_on_cpu_dynamic_shared)");
}

}  // namespace

void rewrite_shared(Source& source, std::size_t i, bool guards) {
  const std::size_t first = declaration_start(source, i);
  bool is_extern = false, is_static = false;
  std::size_t end = first;
  for (; !source.is_sign(end, ";"); end = source.next(end)) {
    is_extern = is_extern || source.is(end, "extern");
    is_static = is_static || source.is(end, "static");
    if (source.opens(end)) end = source.close_of(end);
  }
  if (is_extern) return rewrite_dynamic(source, first, end);
  // Under analysis, the attribute keeps the stores to variables that no thread reads.
  const std::string storage = std::string(is_static ? "__thread" : "static __thread") +
                              (guards ? " __attribute__((used))" : "");
  const std::size_t after = source.next(i);
  if (source.is(after, "alignas")) {  // alignas must precede the storage class
    const std::size_t last = source.close_of(source.next(after));
    source.replace(i, last + 1, source.text(after, last + 1) + ' ' + storage);
  } else {
    source.replace(i, i + 1, storage);
  }
  // The analysis detects an index beyond the end of a variable by accesses to the guard after it.
  if (guards && is_in_function(source, i))
    source.replace(end, end + 1,
                   "; static __thread char cuda_on_cpu_guard_" + std::to_string(i) +
                       "[256] __attribute__((used));");
}

}  // namespace cuda_on_cpu::rewriter
