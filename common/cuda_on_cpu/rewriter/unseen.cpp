#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <sstream>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

Names words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Library functions without instrumented code that access memory through pointers or have side
/// effects.
const Names& unseen_functions() {
  static const Names names = words_of(
      "memcpy memmove memset memcmp memchr mempcpy memccpy bcopy bzero bcmp strcpy strncpy "
      "strcat strncat strcmp strncmp strlen strnlen strchr strrchr strstr strtok strtol strtod "
      "div ldiv lldiv imaxdiv sincos sincosf sincosl sincospi sincospif __sincosf modf modff "
      "modfl frexp frexpf frexpl remquo remquof lgamma_r lgammaf_r printf vprintf fprintf "
      "vfprintf sprintf snprintf vsprintf vsnprintf puts fputs putchar putc fputc fwrite fread "
      "fflush write read perror getenv exit _exit _Exit quick_exit abort rand srand random "
      "srandom drand48 rand_r copy copy_n copy_if copy_backward move_backward fill fill_n equal "
      "sort stable_sort partial_sort nth_element rotate merge inplace_merge uninitialized_copy "
      "uninitialized_fill qsort bsearch");
  return names;
}

/// Functions of the standard library that access no memory through pointers.
const Names& harmless_functions() {
  static const Names names = words_of(
      "abs fabs fma fmin fmax fmod sqrt cbrt hypot exp exp2 expm1 log log2 log10 log1p pow sin cos "
      "tan asin acos atan atan2 sinh cosh tanh erf erfc tgamma lgamma floor ceil round trunc rint "
      "nearbyint lround llround ldexp scalbn ilogb logb isnan isinf isfinite signbit copysign "
      "nextafter max min clamp swap forward get size_t real imag norm conj arg polar complex");
  return names;
}

/// Whether a name belongs to the runtime. Functions of the runtime depend on the calling host
/// thread and may block it.
bool is_of_runtime(std::string_view name) {
  constexpr std::string_view prefix = "cuda";
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::isupper(static_cast<unsigned char>(name[prefix.size()])) != 0;
}

/// Whether the call at a token has one argument.
bool has_one_argument(const Source& source, std::size_t name) {
  const std::size_t opening = source.next(name), closing = source.close_of(opening);
  for (std::size_t i = source.next(opening); i < closing; i = source.next(i)) {
    if (source.is_sign(i, ",")) return false;
    if (source.opens(i)) i = source.close_of(i);
  }
  return true;
}

/// Whether the name at a token stands for code that is not analysed.
bool is_unseen(const Source& source, std::size_t i) {
  if (!source.is_name(i)) return false;
  const bool is_standard = source.is_sign(source.previous(i), "::") &&
                           source.is(source.previous(source.previous(i)), "std");
  if (is_standard && (source.is(i, "cout") || source.is(i, "cerr") || source.is(i, "clog")))
    return true;
  if (!source.is_sign(source.next(i), "(")) return false;
  std::string_view name = source[i];
  if (constexpr std::string_view builtin = "__builtin_"; name.starts_with(builtin))
    name.remove_prefix(builtin.size());
  if (unseen_functions().contains(name) || is_of_runtime(name)) return true;
  if (!is_standard) return false;
  return name == "move" ? !has_one_argument(source, i) : !harmless_functions().contains(name);
}

/// Whether braces enclose the body of a function, not initialisers.
bool is_of_function(const Source& source, const Body& body) {
  std::size_t behind = body.close + 1;
  while (behind < source.size() && source.is_blank(behind)) ++behind;
  if (behind < source.size() && (source.is_sign(behind, ",") || source.is_sign(behind, "{")))
    return false;
  const auto is_one_of = [&](std::size_t i, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return source.is(i, w); });
  };
  bool is_last = true;
  for (std::size_t i = body.open; i-- > 0;) {
    if (source.is_blank(i)) continue;
    if (is_last &&
        is_one_of(i, {")", "}", "const", "noexcept", "override", "final", "mutable", "&"}))
      return true;
    if (source.is_sign(i, "->")) return true;  // a trailing return type
    is_last = false;
    if (!source.is_name(i) && !is_one_of(i, {"::", "<", ">", "*", "&", ","})) return false;
  }
  return false;
}

/// Whether a body belongs to a kernel, according to the attributes that replace __global__.
bool is_of_kernel(const Source& source, const Body& body) {
  for (std::size_t i = body.open; i-- > 0;) {
    if (source.is_sign(i, ";") || source.is_sign(i, "}") || source.is_sign(i, "{")) break;
    if (source.is(i, "flatten")) return true;
  }
  return false;
}

}  // namespace

std::string mark_of_unseen(const Source& source, const Body& body) {
  if (!source.is_sign(body.open, "{") || !is_of_function(source, body)) return "";
  std::string mark;
  if (is_of_kernel(source, body)) mark += " ::cuda_on_cpu::enters_kernel();";
  for (std::size_t i = body.open + 1; i < body.close; ++i)
    if (is_unseen(source, i)) return mark + " ::cuda_on_cpu::leaves_analysis();";
  return mark;
}

}  // namespace cuda_on_cpu::rewriter
