#include <algorithm>
#include <string>
#include <string_view>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

bool is_of_cub(const LineMarker& marker) {
  return marker.is_system && marker.file.find("/cub/") != marker.file.npos;
}

/// Qualifies the type in `using Name = Name<...>` with its namespace. Without the namespace, g++
/// reports that the declaration changes the meaning of the name.
void name_namespace(Source& source, std::size_t i) {
  const std::size_t name = source.next(i), sign = source.next(name);
  if (!source.is_name(name) || !source.is_sign(sign, "=")) return;
  const std::size_t same = source.next(sign);
  if (source.is(same, source[name]) && source.is_sign(source.next(same), "<"))
    source.replace(same, same + 1, "::cub::" + std::string(source[name]));
}

/// Replaces an asm statement. If the CPU device has no function for an instruction, the replacement
/// ends the program when it is executed.
void rewrite_asm(Source& source, std::size_t i) {
  try {
    rewrite_ptx(source, i);
  } catch (const Unsure&) {
    const std::size_t opening =
        source.kind(source.next(i)) == Kind::name ? source.next(source.next(i)) : source.next(i);
    source.replace(
        i, source.close_of(opening) + 1,
        "::cuda_on_cpu::no_instructions(" + std::string(source[source.next(opening)]) + ")");
  }
}

/// Replaces the volatile accesses of CUB's warp algorithms to shared memory by ordinary accesses.
/// __syncwarp() already prevents the compiler from caching values, and the analysis would treat
/// volatile variables as flags.
void drop_volatile(Source& source, std::size_t i) {
  const std::size_t sign = source.previous(i);
  if (source.is_sign(sign, "<") && source[source.previous(sign)].starts_with("Thread"))
    source.replace(i, i + 1, source.is(i, "LOAD_VOLATILE") ? "LOAD_DEFAULT" : "STORE_DEFAULT");
}

/// Removes pragmas that request the unrolling of loops. Unrolling has no benefit on the CPU and can
/// take compilers minutes.
std::string without_unrolling(std::string text) {
  for (std::size_t line = 0, end = 0; line < text.size(); line = end + 1) {
    end = std::min(text.find('\n', line), text.size());
    const auto words = std::string_view(text).substr(line, end - line);
    if (!words.starts_with("#pragma") || words.find(" unroll") == words.npos) continue;
    text.erase(line, end - line);
    end = line;
  }
  return text;
}

/// Replaces the cached loads and stores, which CUB uses on GPUs before Volta, by the relaxed loads
/// and stores that CUB uses on newer GPUs. The replacements are atomic accesses, so that concurrent
/// accesses are not data races.
std::string with_ordered_accesses(std::string text) {
  constexpr std::string_view by_cache = ".cg.", in_order = ".relaxed.gpu.";
  for (const std::string_view name : {"\"ld", "\"st"}) {
    const std::string before = std::string(name) + std::string(by_cache);
    for (std::size_t i = 0; (i = text.find(before, i)) != text.npos;)
      text.replace(i + name.size(), by_cache.size(), in_order);
  }
  return text;
}

/// Rewrites a section of the text that comes from CUB's headers.
std::string rewritten(std::string text) {
  Source source(with_ordered_accesses(without_unrolling(std::move(text))), true);
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.is(i, "__shared__"))
      source.replace(i, i + 1, "static __thread");
    else if (source.is(i, "asm"))
      rewrite_asm(source, i);
    else if (source.is(i, "using"))
      name_namespace(source, i);
    else if (source.is(i, "LOAD_VOLATILE") || source.is(i, "STORE_VOLATILE"))
      drop_volatile(source, i);
  }
  return source.text(0, source.size());
}

}  // namespace

std::string with_cub(std::string text) {
  std::string result;
  std::size_t copied = 0, begin = 0;
  bool is_cub = false;
  const auto pass_on = [&](std::size_t end) {
    if (is_cub) {
      result += text.substr(copied, begin - copied);
      result += rewritten(text.substr(begin, end - begin));
      copied = end;
    }
    begin = end;
  };
  for (std::size_t line = 0, end = 0; line < text.size(); line = end + 1) {
    end = std::min(text.find('\n', line), text.size());
    LineMarker marker{};
    if (text[line] != '#' ||
        !read_marker(std::string_view(text).substr(line, end - line), marker) ||
        is_of_cub(marker) == is_cub)
      continue;
    pass_on(line);
    is_cub = is_of_cub(marker);
  }
  pass_on(text.size());
  return copied == 0 ? text : result + text.substr(copied);
}

}  // namespace cuda_on_cpu::rewriter
