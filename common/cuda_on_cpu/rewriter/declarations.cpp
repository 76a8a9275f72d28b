#include <algorithm>
#include <map>
#include <set>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// What stands at namespace scope, up to its semicolon or to its body.
struct Declaration {
  std::size_t first, end;  // `end` is the token of ';' or '{'
};

bool holds(const Source& source, const Declaration& d, std::string_view word) {
  for (std::size_t i = d.first; i < d.end; ++i)
    if (source.is(i, word)) return true;
  return false;
}

/// Whether one of its attributes is such that `is_wanted` says so of the tokens in its brackets.
template <typename IsWanted>
bool has_attribute(const Source& source, const Declaration& d, const IsWanted& is_wanted) {
  for (std::size_t i = d.first; i < d.end; ++i) {
    if (!source.is(i, "__attribute__")) continue;
    const std::size_t opening = source.next(i), inner = source.next(opening);
    if (source.is_sign(inner, "(") && is_wanted(source.next(inner), source.close_of(inner)))
      return true;
  }
  return false;
}

/// Whether __global__ stands there, or what it becomes: by the compilers that programs are analysed
/// with, and otherwise by g++.
bool is_kernel(const Source& source, const Declaration& d) {
  if (holds(source, d, "__global__")) return true;
  return has_attribute(source, d, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      if (source.is(i, "flatten") || source.is(i, "noipa")) return true;
    return false;
  });
}

/// Whether it is the device's, which an empty attribute marks.
bool is_of_device(const Source& source, const Declaration& d) {
  return has_attribute(source, d,
                       [](std::size_t first, std::size_t last) { return first == last; });
}

/// Whether a word before a function's name has brackets behind it.
bool has_brackets(std::string_view word) {
  for (const auto* one :
       {"__attribute__", "alignas", "decltype", "__launch_bounds__", "__cluster_dims__"})
    if (word == one) return true;
  return false;
}

/// The token of a function's name; that of the end if what is declared is none with a plain name.
std::size_t name_of(const Source& source, const Declaration& d) {
  for (std::size_t i = d.first; i < d.end; i = source.next(i)) {
    if (source.is(i, "operator") || source.is_sign(i, "=")) return d.end;
    if (has_brackets(source[i])) {
      i = source.close_of(source.next(i));
    } else if (source.is_sign(i, "(")) {
      const std::size_t name = source.previous(i);
      const bool is_plain =
          name > d.first && source.is_name(name) && !source.is_sign(source.previous(name), "::");
      return is_plain ? name : d.end;
    }
  }
  return d.end;
}

bool is_body(const Source& source, const Declaration& d) {
  const std::size_t before = source.previous(d.end);
  return source.is_sign(before, ")") || source.is(before, "noexcept") || holds(source, d, "->");
}

/// Calls `visit` for each declaration at namespace scope.
template <typename Visit>
void visit_declarations(const Source& source, const Visit& visit) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.is_sign(i, "(") || source.is_sign(i, "[")) {
      i = source.close_of(i);
    } else if (source.is_sign(i, ";") || source.is_sign(i, "}") || source.kind(i) == Kind::opaque) {
      if (source.is_sign(i, ";")) visit(Declaration{first, i});
      first = i + 1;
    } else if (source.is_sign(i, "{")) {
      const Declaration d{first, i};
      const bool is_scope =
          holds(source, d, "namespace") || source.kind(source.previous(i)) == Kind::string;
      if (!is_scope) i = source.close_of(i);
      if (!is_scope && is_body(source, d)) visit(d);
      if (is_scope || is_body(source, d)) first = i + 1;
    }
  }
}

/// The token that opens the parameters of a function; that of the end if there is none.
std::size_t parameters_of(const Source& source, const Declaration& d) {
  for (std::size_t i = d.first; i < d.end; i = source.next(i)) {
    if (has_brackets(source[i]))
      i = source.close_of(source.next(i));
    else if (source.is_sign(i, "("))
      return i;
  }
  return d.end;
}

/// The name of a kernel that is defined, or of a template's that is asked for: `template __global__
/// void k<2>(int*);`. Templates themselves, and what is only declared, have none.
std::string named_kernel(const Source& source, const Declaration& d) {
  std::size_t first = d.first;
  while (first < d.end && source.is_blank(first)) ++first;
  const bool is_body = source.is_sign(d.end, "{");
  if (!source.is(first, "template")) {
    const std::size_t name = name_of(source, d);
    return is_body && name != d.end ? std::string(source[name]) : "";
  }
  const std::size_t opening = parameters_of(source, d);
  if (is_body || opening == d.end || source.is_sign(source.next(first), "<")) return "";
  std::size_t name = source.previous(opening);
  for (int depth = 0; name > first; name = source.previous(name)) {
    depth += source.is_sign(name, ">") - source.is_sign(name, "<");
    if (depth == 0 && source.is_name(name)) break;
  }
  return source.text(name, opening);
}

/// Whether a token is of the headers that stand in the place of CUDA's.
bool is_ours(const Source& source, std::size_t i) {
  const std::string place = source.place_of(i);
  return place.find("/cuda_on_cpu/include/") != place.npos ||
         place.find("/include/cuda_on_cpu/") != place.npos;
}

/// The first sign in the parameters of a function that makes one of them a reference; the end of
/// the parameters if there is none.
std::size_t reference_in(const Source& source, std::size_t opening) {
  const std::size_t closing = source.close_of(opening);
  int in_template = 0;
  bool in_default = false;
  for (std::size_t i = source.next(opening); i < closing; i = source.next(i)) {
    in_template += source.is_sign(i, "<") - source.is_sign(i, ">");
    if (source.is_sign(i, ",") && in_template == 0) in_default = false;
    if (source.is_sign(i, "=")) in_default = true;
    const bool is_array = source.is_sign(i, "(") && source.is_sign(source.next(i), "&");
    const bool is_reference = is_array || source.is_sign(i, "&") || source.is_sign(i, "&&");
    if (is_reference && in_template == 0 && !in_default) return i;
    if (source.opens(i)) i = source.close_of(i);
  }
  return closing;
}

/// The first token of a declaration behind what is said of a template; that of the end if there is
/// none.
std::size_t first_of(const Source& source, const Declaration& d) {
  std::size_t first = d.first;
  while (first < d.end && source.is_blank(first)) ++first;
  while (first < d.end && source.is(first, "template")) {
    int depth = 0;
    do {
      first = source.next(source.is_sign(first, "(") ? source.close_of(first) : first);
      depth += source.is_sign(first, "<") - source.is_sign(first, ">");
    } while (depth > 0 && first < d.end);
    first = source.next(first);
  }
  return first;
}

bool is_class(const Source& source, std::size_t first) {
  return source.is(first, "struct") || source.is(first, "class") || source.is(first, "union");
}

/// Calls `visit` for each function that is defined in a class, and in classes within it.
template <typename Visit>
void visit_members(const Source& source, const Body& body, const Visit& visit) {
  std::size_t first = body.open + 1;
  for (std::size_t i = first; i < body.close; ++i) {
    if (source.is_sign(i, "(") || source.is_sign(i, "[")) {
      i = source.close_of(i);
    } else if (source.is_sign(i, ";") || source.is_sign(i, ":")) {
      // A constructor's members follow it; what may be accessed begins anew.
      if (source.is_sign(i, ";") || source.previous(i) == first_of(source, {first, i}))
        first = i + 1;
    } else if (source.is_sign(i, "{")) {
      const Declaration d{first, i};
      const std::size_t name = first_of(source, d), close = source.close_of(i);
      const bool is_function = parameters_of(source, d) != d.end && !source.is(name, "enum");
      if (is_class(source, name))
        visit_members(source, {i, close}, visit);
      else if (is_function)
        visit(d);
      i = close;
      first = i + 1;
    }
  }
}

/// Adds the bodies behind a mark of the device's, up to the declaration's end: initialisers in
/// braces may stand before a constructor's.
/// \returns the last token that was looked at
std::size_t add_bodies(const Source& source, std::size_t mark, std::vector<Body>& bodies) {
  std::size_t i = source.close_of(source.next(mark));
  for (;;) {
    i = source.next(i);
    if (source.is_sign(i, ";") || source.closes(i)) return i;
    if (!source.opens(i)) continue;
    const std::size_t open = i;
    i = source.close_of(open);
    if (!source.is_sign(open, "{")) continue;
    bodies.push_back({open, i});
    std::size_t behind = i + 1;
    while (behind < source.size() && source.is_blank(behind)) ++behind;
    if (behind == source.size()) return i;
    if (!source.is_sign(behind, ",") && !source.is_sign(behind, "{")) return i;
  }
}

}  // namespace

std::string with_entries(std::string text) {
  Source source(std::move(text));
  std::vector<Declaration> kernels;
  std::map<std::string, int, std::less<>> overloads;
  visit_declarations(source, [&](const Declaration& d) {
    if (!is_kernel(source, d) || named_kernel(source, d).empty()) return;
    kernels.push_back(d);
    ++overloads[named_kernel(source, d)];
  });
  for (const Declaration& d : kernels) {
    const std::string name = named_kernel(source, d);
    std::string address = '&' + name;
    if (overloads[name] > 1) {
      const std::size_t opening = parameters_of(source, d);
      address = "static_cast<void (*)" + source.text(opening, source.close_of(opening) + 1) + ">(" +
                address + ')';
    }
    const std::size_t last = source.is_sign(d.end, "{") ? source.close_of(d.end) : d.end;
    source.replace(last, last + 1,
                   std::string(source[last]) +
                       " static ::cuda_on_cpu::AddedEntry cuda_on_cpu_entry_" +
                       std::to_string(last) + '(' + address + ");");
  }
  return source.text(0, source.size());
}

std::string with_device_marks(std::string text) {
  Source source(std::move(text));
  std::vector<std::size_t> firsts;
  const auto mark = [&](const Declaration& d) {
    const std::size_t first = first_of(source, d);
    // A name begins what is declared, but for destructors and for names of the outermost namespace.
    const bool begins =
        source.is_name(first) || source.is_sign(first, "~") || source.is_sign(first, "::");
    const bool says_whose =
        is_kernel(source, d) || is_of_device(source, d) || holds(source, d, "__shared__");
    if (first < d.end && begins && !says_whose && !source.is(first, "enum"))
      firsts.push_back(first);
  };
  visit_declarations(source, [&](const Declaration& d) {
    const std::size_t first = first_of(source, d);
    if (first == d.end || is_ours(source, first)) return;
    if (!is_class(source, first)) return mark(d);
    std::size_t open = first;
    while (open < d.end && !source.is_sign(open, "{")) open = source.next(open);
    if (open < d.end)
      visit_members(source, {open, source.close_of(open)}, mark);
    else
      mark(d);
  });
  for (const std::size_t first : firsts)
    source.replace(first, first + 1, "__attribute__(()) " + std::string(source[first]));
  return source.text(0, source.size());
}

std::vector<Body> find_device_bodies(const Source& source) {
  std::vector<Body> bodies;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!source.is(i, "__attribute__")) continue;
    const Declaration mark{i, i + 1};
    if (is_of_device(source, mark)) i = add_bodies(source, i, bodies);
  }
  return bodies;
}

void check_kernels(const Source& source) {
  visit_declarations(source, [&](const Declaration& d) {
    const std::size_t name = name_of(source, d);
    if (name == d.end || !is_kernel(source, d)) return;
    const std::size_t opening = source.next(name), found = reference_in(source, opening);
    if (found != source.close_of(opening))
      throw Refused(
          source.place_of(found) + ": error: a parameter of the kernel '" +
          std::string(source[name]) +
          "' is a reference, to what lies in the host's memory; pass a value or a pointer");
  });
}

HostFunctions find_host_functions(const Source& source) {
  HostFunctions found;
  std::set<std::string, std::less<>> of_device{"main"};
  visit_declarations(source, [&](const Declaration& d) {
    const std::size_t name = name_of(source, d);
    if (name == d.end) return;
    if (is_of_device(source, d) || holds(source, d, "constexpr") || holds(source, d, "consteval"))
      of_device.emplace(source[name]);
    else if (source.is_sign(d.end, "{") && !is_ours(source, d.end))
      found.emplace(d.end, source[name]);
  });
  std::erase_if(found, [&](const auto& function) { return of_device.contains(function.second); });
  return found;
}

void mark_host_functions(Source& source, const HostFunctions& functions) {
  for (const auto& [body, name] : functions)
    if (source.is_sign(body, "{"))
      source.replace(body, body + 1, "{ ::cuda_on_cpu::enters_host_function(\"" + name + "\"); ");
}

}  // namespace cuda_on_cpu::rewriter
