#include <algorithm>
#include <vector>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

bool is_keyword(std::string_view name) {
  for (const auto keyword : {"do", "else", "for", "if", "return", "switch", "while"})
    if (name == keyword) return true;
  return false;
}

/// The '<' that matches the '>' at token i.
std::size_t template_start(const Source& source, std::size_t i) {
  int depth = 0;
  for (;; --i) {
    if (source.closes(i))
      i = source.open_of(i);
    else if (source.is_sign(i, ">"))
      ++depth;
    else if (source.is_sign(i, "<") && --depth == 0)
      return i;
    else if (i == 0 || source.is_sign(i, ";") || source.is_sign(i, "{") || source.is_sign(i, "}"))
      throw Unsure("the template arguments of the kernel have no '<'");
  }
}

/// The first token of the kernel's name before '<<<'. The name may be a::b<c>, p->f, table[i] or
/// (expression).
std::size_t kernel_start(const Source& source, std::size_t launch) {
  std::size_t i = source.previous(launch);
  if (source.is_sign(i, ")")) {
    const std::size_t opening = source.open_of(i);
    i = source.previous(opening);
    // This is either a kernel in parentheses, or a call that returns a kernel.
    if (!source.is_name(i) || is_keyword(source[i])) return opening;
  }
  for (;;) {
    if (source.is_sign(i, ">")) i = source.previous(template_start(source, i));
    while (source.is_sign(i, "]")) i = source.previous(source.open_of(i));
    if (!source.is_name(i))
      throw Unsure("'" + std::string(source[i]) + "' before '<<<' is not the name of a kernel");
    std::size_t before = source.previous(i);
    if (source.is(before, "template")) before = source.previous(before);
    if (source.is_sign(before, "::")) {
      const std::size_t scope = source.previous(before);
      if (!source.is_sign(scope, ">") && (!source.is_name(scope) || is_keyword(source[scope])))
        return before;
      i = scope;
    } else if (source.is_sign(before, ".") || source.is_sign(before, "->") ||
               source.is_sign(before, "<")) {
      i = source.previous(before);  // a '<' here was a comparison in template arguments
    } else {
      return i;
    }
  }
}

/// The token that ends the configuration of a launch, and the tokens that enclose its arguments.
struct Parts {
  std::size_t config_end, opening, closing;
};

/// Whether a token begins '>>>', optionally with blanks between the signs.
bool is_end(const Source& source, std::size_t i, bool with_blanks) {
  if (!source.is_sign(i, ">")) return false;
  const std::size_t second = with_blanks ? source.next(i) : i + 1;
  if (!source.is_sign(second, ">")) return false;
  return source.is_sign(with_blanks ? source.next(second) : second + 1, ">");
}

/// The token that ends the configuration: the first '>>>' or, if there is none, the last '>> >' of
/// the statement. An earlier '>> >' may close templates.
std::size_t end_of_configuration(const Source& source, std::size_t launch) {
  std::size_t spaced = source.size();
  for (std::size_t i = launch + 1; i + 3 < source.size() && !source.is_sign(i, ";"); ++i) {
    if (source.opens(i)) i = source.close_of(i);
    if (is_end(source, i, false)) return i;
    if (is_end(source, i, true)) spaced = i;
  }
  if (spaced == source.size()) throw Unsure("'<<<' has no '>>>'");
  return spaced;
}

Parts parts_of(const Source& source, std::size_t launch) {
  const std::size_t end = end_of_configuration(source, launch);
  const std::size_t opening = source.next(source.next(source.next(end)));
  if (!source.is_sign(opening, "(")) throw Unsure("'>>>' is not followed by an argument list");
  return {end, opening, source.close_of(opening)};
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == text.npos ? "" : text.substr(begin, end + 1 - begin);
}

/// The name of the kernel without scope and template arguments.
std::string base_name(const std::string& kernel) {
  const std::string plain = kernel.substr(0, kernel.find_first_of("<("));
  const auto scope = plain.rfind("::");
  return trimmed(scope == plain.npos ? plain : plain.substr(scope + 2));
}

/// A text without its preprocessor lines.
std::string without_markers(const std::string& text) {
  std::string rest;
  for (std::size_t line = 0, end = 0; line < text.size(); line = end) {
    end = std::min(text.find('\n', line), text.size() - 1) + 1;
    const auto first = text.find_first_not_of(" \t", line);
    if (first == text.npos || text[first] != '#') rest += text.substr(line, end - line);
  }
  return rest;
}

/// Whether an argument has no type of its own, so that the kernel's parameter determines the type.
bool is_typeless(const std::string& argument) {
  const std::string plain = trimmed(without_markers(argument));
  return plain == "0" || plain == "__null" || (plain.starts_with('{') && plain.ends_with('}'));
}

/// A generated function that calls a kernel: its `parameters`, the arguments `passed` to the
/// kernel, and the arguments `given` to the function at the launch.
struct Arguments {
  std::string parameters, passed, given;
};

/// The parameters of a generated function that passes all arguments on unchanged.
constexpr const char* same_types = "auto... cuda_on_cpu_arguments";

/// Splits the arguments at commas only if an argument has no type of its own. Otherwise, the
/// compiler splits them, which is more reliable.
Arguments arguments_of(const Source& source, const Parts& parts) {
  std::vector<std::string> pieces;
  std::size_t begin = parts.opening + 1;
  bool typeless = false;
  for (std::size_t i = begin; i <= parts.closing; ++i) {
    if (i < parts.closing && source.opens(i)) i = source.close_of(i);
    if (i < parts.closing && !source.is_sign(i, ",")) continue;
    pieces.push_back(source.text(begin, i));
    typeless = typeless || is_typeless(pieces.back());
    begin = i + 1;
  }
  if (!typeless)
    return {same_types, "cuda_on_cpu_arguments...", source.text(parts.opening + 1, parts.closing)};
  Arguments arguments;
  const auto append = [](std::string& list, const std::string& piece) {
    list += (list.empty() ? "" : ", ") + piece;
  };
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    if (is_typeless(pieces[n])) {
      append(arguments.passed, pieces[n]);
      continue;
    }
    const std::string name = "cuda_on_cpu_argument_" + std::to_string(n);
    append(arguments.passed, name);
    append(arguments.parameters, "auto " + name);
    arguments.given += (arguments.given.empty() ? "" : ",") + pieces[n];
  }
  return arguments;
}

}  // namespace

/// An expression for all kernels that the name at a launch may denote. The result is empty if the
/// name denotes one kernel and all arguments have types, because the launch then needs no such
/// expression.
static std::string overloads_at(const std::string& kernel, const Arguments& arguments,
                                std::size_t launch, Overloads& overloads) {
  // A kernel that ends with ')' is a call that returns a kernel, unless it is a name in
  // parentheses.
  if (kernel.ends_with(')') && !kernel.starts_with('('))
    return "::cuda_on_cpu::overloads(" + kernel + ')';
  const std::string name = base_name(kernel);
  const auto found = overloads.known.find(name);
  if (found == overloads.known.end() || found->second.last > launch || !kernel.ends_with(name))
    return "";
  if (found->second.count == 1 && arguments.parameters == same_types) return "";
  const std::string scope = kernel.substr(0, kernel.size() - name.size());
  if (scope.find_first_not_of(
          " \t:_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != scope.npos ||
      (!scope.empty() && !trimmed(scope).ends_with("::")))
    return "";
  found->second.is_used = true;
  return scope + "cuda_on_cpu_overloads_" + name;
}

void rewrite_launch(Source& source, std::size_t launch, const Promises& clusters,
                    Overloads& overloads, bool of_device) {
  const std::size_t first = kernel_start(source, launch);
  const std::string kernel = trimmed(source.text(first, launch));
  const Parts parts = parts_of(source, launch);
  const std::string name = base_name(kernel);
  std::string config =
      "::cuda_on_cpu::configuration(" + source.text(launch + 1, parts.config_end) + ')';
  if (const auto cluster = clusters.find(name); cluster != clusters.end())
    config += ".with_cluster(dim3(" + cluster->second + "))";
  const Arguments arguments = arguments_of(source, parts);
  const std::string all = of_device ? "" : overloads_at(kernel, arguments, launch, overloads);
  if (!all.empty()) {
    source.replace(first, parts.closing + 1,
                   "::cuda_on_cpu::launch_overload(\"" + name + "\", " + config + ", " + all +
                       ")(" + source.text(parts.opening + 1, parts.closing) + ')');
    return;
  }
  const std::string comma = trimmed(arguments.given).empty() ? "" : ", ";
  // An expression that returns a kernel is evaluated only once, by the host.
  const bool is_given = kernel.ends_with(')');
  const std::string capture = is_given ? "[=, cuda_on_cpu_kernel = " + kernel + "](" : "[=](";
  const std::string chosen = "::cuda_on_cpu::chosen(" + kernel + ", cuda_on_cpu_way)";
  const std::string choose =
      is_given || arguments.parameters != same_types
          ? "::cuda_on_cpu::Unknown{}"
          : "[=](auto cuda_on_cpu_way) -> decltype(" + chosen + ") { return " + chosen + "; }";
  source.replace(first, parts.closing + 1,
                 std::string("::cuda_on_cpu::") + (of_device ? "launch_child" : "launch") + "(\"" +
                     name + "\", " + config + ", " + capture + arguments.parameters +
                     ") __attribute__((no_sanitize(\"thread\"))) { " +
                     (is_given ? "cuda_on_cpu_kernel" : kernel) + '(' + arguments.passed +
                     "); }, " + choose + comma + arguments.given + ')');
}

}  // namespace cuda_on_cpu::rewriter
