#include <algorithm>
#include <map>
#include <set>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

/// A declaration at namespace scope, up to its semicolon or its body.
struct Declaration {
  std::size_t first, end;  // `end` is the token of ';' or '{'
};

bool holds(const Source& source, const Declaration& d, std::string_view word) {
  for (std::size_t i = d.first; i < d.end; ++i)
    if (source.is(i, word)) return true;
  return false;
}

/// Whether a declaration has an attribute whose tokens in parentheses satisfy `is_wanted`.
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

/// Whether a declaration contains __global__ or its replacement: the attribute `noipa` for g++, or
/// `noinline` twice for clang++.
bool is_kernel(const Source& source, const Declaration& d) {
  if (holds(source, d, "__global__")) return true;
  return has_attribute(source, d, [&](std::size_t first, std::size_t last) {
    int noinlines = 0;
    for (std::size_t i = first; i < last; ++i) {
      noinlines += source.is(i, "noinline");
      if (source.is(i, "noipa") || noinlines == 2) return true;
    }
    return false;
  });
}

/// Whether an empty attribute marks a declaration as belonging to the device.
bool is_of_device(const Source& source, const Declaration& d) {
  return has_attribute(source, d,
                       [](std::size_t first, std::size_t last) { return first == last; });
}

/// Whether a specifier before the name of a function takes arguments in parentheses.
bool has_brackets(std::string_view word) {
  for (const auto* one :
       {"__attribute__", "alignas", "decltype", "__launch_bounds__", "__cluster_dims__"})
    if (word == one) return true;
  return false;
}

/// The index of the token that names the declared function; `d.end` if the declaration has no
/// unqualified function name.
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

/// The token that opens the parameters of a function; the end of the declaration if there is none.
std::size_t parameters_of(const Source& source, const Declaration& d) {
  for (std::size_t i = d.first; i < d.end; i = source.next(i)) {
    if (has_brackets(source[i]))
      i = source.close_of(source.next(i));
    else if (source.is_sign(i, "("))
      return i;
  }
  return d.end;
}

/// The name of a kernel that is defined, or of an explicit instantiation of a template: `template
/// __global__ void k<2>(int*);`. The result is empty for templates and for declarations without
/// definition.
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

/// Whether a token comes from the headers that replace CUDA's headers.
bool is_ours(const Source& source, std::size_t i) {
  const std::string place = source.place_of(i);
  return place.find("/cuda_on_cpu/include/") != place.npos ||
         place.find("/include/cuda_on_cpu/") != place.npos;
}

/// The first token that makes a parameter of a function a reference; the end of the parameters if
/// there is none.
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

/// The first token of a declaration after its template parameters and requirements; the end of the
/// declaration if there is none.
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

/// Calls `visit` for each function that is defined in a class or in its nested classes.
template <typename Visit>
void visit_members(const Source& source, const Body& body, const Visit& visit) {
  std::size_t first = body.open + 1;
  for (std::size_t i = first; i < body.close; ++i) {
    if (source.is_sign(i, "(") || source.is_sign(i, "[")) {
      i = source.close_of(i);
    } else if (source.is_sign(i, ";") || source.is_sign(i, ":")) {
      // A colon ends an access specifier, or it begins the initialisers of a constructor.
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

/// Adds the bodies after a device mark, up to the end of the declaration. Initialisers in braces
/// may precede the body of a constructor.
/// \returns the last token that was examined
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

/// The kernels that are defined, and the number of definitions per name.
struct Kernels {
  std::vector<Declaration> defined;
  std::map<std::string, int, std::less<>> overloads;
};

Kernels find_kernels(const Source& source) {
  Kernels kernels;
  visit_declarations(source, [&](const Declaration& d) {
    if (!is_kernel(source, d) || named_kernel(source, d).empty()) return;
    kernels.defined.push_back(d);
    ++kernels.overloads[named_kernel(source, d)];
  });
  return kernels;
}

/// An expression for the address of a kernel.
std::string address_of(const Source& source, const Kernels& kernels, const Declaration& d) {
  const std::string name = named_kernel(source, d);
  if (kernels.overloads.find(name)->second == 1) return '&' + name;
  const std::size_t opening = parameters_of(source, d);
  return "static_cast<void (*)" + source.text(opening, source.close_of(opening) + 1) + ">(&" +
         name + ')';
}

/// The brace that opens the innermost scope that contains a token; the number of tokens if there is
/// none.
std::size_t scope_of(const Source& source, std::size_t i) {
  while (i-- > 0)
    if (source.closes(i))
      i = source.open_of(i);
    else if (source.is_sign(i, "{"))
      return i;
  return source.size();
}

/// Whether a using-declaration introduces the name into another scope.
bool is_used_alone(const Source& source, const std::string& name) {
  for (std::size_t i = 0; i + 1 < source.size(); ++i) {
    if (!source.is(i, "using")) continue;
    std::size_t end = source.next(i);
    while (end < source.size() && (source.is_name(end) || source.is_sign(end, "::")))
      end = source.next(end);
    if (source.is_sign(end, ";") && source.is(source.previous(end), name)) return true;
  }
  return false;
}

/// The token that ends the definition of a kernel.
std::size_t last_of(const Source& source, const Declaration& d) {
  return source.is_sign(d.end, "{") ? source.close_of(d.end) : d.end;
}

/// The names that the source uses without a launch or an argument list after them. If such a name
/// denotes a kernel, the source takes its address, or names it in template arguments.
Names named_otherwise(const Source& source) {
  Names names;
  for (std::size_t i = 0; i + 1 < source.size(); ++i) {
    if (!source.is_name(i)) continue;
    const std::size_t behind = source.next(i);
    if (!source.is_sign(behind, "(") && !source.is_sign(behind, "<<<") &&
        !source.is_sign(behind, "<<"))
      names.insert(std::string(source[i]));
  }
  return names;
}

/// Whether a brace opens the definition of a class or an enumeration.
bool defines_class(const Source& source, std::size_t brace) {
  const std::size_t name = source.previous(brace);
  for (const auto* word : {"struct", "class", "union", "enum"})
    if (source.is(name, word) || (source.is_name(name) && source.is(source.previous(name), word)))
      return true;
  return false;
}

/// The token after the template arguments that begin at token i.
std::size_t behind_template(const Source& source, std::size_t i) {
  int depth = 0;
  do {
    if (source.opens(i)) i = source.close_of(i);
    depth += source.is_sign(i, "<") - source.is_sign(i, ">");
    i = source.next(i);
  } while (depth > 0 && i < source.size() && !source.is_sign(i, ";"));
  return i;
}

/// The token after an initialiser or an array length: a comma or the end of the declaration.
std::size_t behind_initialiser(const Source& source, std::size_t i) {
  while (i < source.size() && !source.is_sign(i, ",") && !source.is_sign(i, ";") &&
         !source.closes(i))
    i = source.next(source.opens(i) ? source.close_of(i) : i);
  return i;
}

bool ends_declarator(const Source& source, std::size_t i) {
  for (const auto* sign : {";", ",", "=", "[", "{", ")"})
    if (source.is_sign(i, sign)) return true;
  return mark_at(source, i) != Mark::none || source.is(i, "alignas");
}

/// Adds the names that a declaration declares at token i and later, except names of functions.
void add_declared(const Source& source, std::size_t i, std::vector<std::string>& names) {
  while (i < source.size() && !source.is_sign(i, ";") && !source.closes(i)) {
    if (has_brackets(source[i])) {
      i = source.next(source.close_of(source.next(i)));
    } else if (source.is(i, "operator")) {
      return;
    } else if (source.is_sign(i, "<")) {
      i = behind_template(source, i);
    } else if (source.is_sign(i, "{") && defines_class(source, i)) {
      i = source.next(source.close_of(i));
    } else if (source.is_sign(i, "(")) {
      const std::size_t inner = source.next(i);
      if (!source.is_sign(inner, "*") && !source.is_sign(inner, "&")) return;
      i = inner;  // a pointer to a function, or to an array
    } else if (source.is_name(i) && ends_declarator(source, source.next(i)) &&
               !(source.is_sign(source.next(i), "{") && defines_class(source, source.next(i)))) {
      names.emplace_back(source[i]);
      i = source.next(i);
      if (source.is_sign(i, ")")) i = source.next(i);
      i = behind_initialiser(source, i);
      if (source.is_sign(i, ",")) i = source.next(i);
    } else {
      i = source.next(source.opens(i) ? source.close_of(i) : i);
    }
  }
}

/// Whether a declaration defines one of the given variables by a qualified name, as a member of a
/// class or namespace.
bool is_qualified(const Source& source, const Declaration& d,
                  const std::vector<std::string>& names) {
  for (std::size_t i = source.next(d.first); i < d.end; i = source.next(i)) {
    const std::size_t scope = source.previous(i);
    if (source.is_sign(scope, "::") && source.is_name(source.previous(scope)) &&
        std::find(names.begin(), names.end(), source[i]) != names.end())
      return true;
  }
  return false;
}

/// The names of device variables that a declaration at namespace scope defines, if they have
/// internal linkage under nvcc by default.
std::vector<std::string> own_variables(const Source& source, const Declaration& d) {
  for (const auto* word : {"extern", "inline", "template", "friend", "typedef", "using"})
    if (holds(source, d, word)) return {};
  if (d.first == d.end || is_class(source, first_of(source, d))) return {};
  for (std::size_t i = d.first; i < d.end; ++i) {
    if (mark_at(source, i) == Mark::none) continue;
    std::vector<std::string> names = marked_variables(source, i);
    return is_qualified(source, d, names) ? std::vector<std::string>{} : names;
  }
  return {};
}

/// The names that a source declares as `extern`.
Names external_names(const Source& source) {
  std::vector<std::string> names;
  visit_declarations(source, [&](const Declaration& d) {
    for (std::size_t i = d.first; i < d.end; ++i)
      if (source.is(i, "extern")) return add_declared(source, source.next(i), names);
  });
  return {names.begin(), names.end()};
}

/// A device function that several sources may define.
struct SharedFunction {
  std::string name;
  Body body;
};

std::vector<SharedFunction> shared_functions(const Source& source) {
  std::vector<SharedFunction> functions;
  visit_declarations(source, [&](const Declaration& d) {
    const std::size_t name = name_of(source, d);
    const bool is_shared = holds(source, d, "inline") || holds(source, d, "__inline__") ||
                           holds(source, d, "__inline") || holds(source, d, "template");
    if (name != d.end && source.is_sign(d.end, "{") && is_of_device(source, d) && is_shared)
      functions.push_back({std::string(source[name]), {d.end, source.close_of(d.end)}});
  });
  return functions;
}

/// Adds the shared functions that use one of `names`, directly or through other shared functions.
void add_users(const Source& source, Names& names) {
  std::vector<SharedFunction> functions = shared_functions(source);
  for (bool found = true; found;) {
    found = false;
    std::erase_if(functions, [&](const SharedFunction& function) {
      for (std::size_t i = function.body.open; i < function.body.close; ++i) {
        if (!source.is_name(i) || !names.contains(source[i])) continue;
        names.insert(function.name);
        return found = true;
      }
      return false;
    });
  }
}

}  // namespace

Additions find_noted_kernels(const Source& source) {
  Additions additions;
  const Kernels kernels = find_kernels(source);
  const Names names = kernels.defined.empty() ? Names{} : named_otherwise(source);
  for (const Declaration& d : kernels.defined)
    if (names.contains(named_kernel(source, d)))
      additions[last_of(source, d)] = " [[maybe_unused]] static const bool cuda_on_cpu_noted_" +
                                      std::to_string(d.end) + " = ::cuda_on_cpu::note_kernel(" +
                                      address_of(source, kernels, d) + ");";
  return additions;
}

Overloads find_overloads(const Source& source) {
  struct Known {
    std::vector<Declaration> defined;
    bool is_plain = true;  // whether all are defined in one scope and none is a template
  };
  std::map<std::string, Known> all;
  visit_declarations(source, [&](const Declaration& d) {
    if (!is_kernel(source, d) || is_ours(source, first_of(source, d))) return;
    const std::size_t opening = parameters_of(source, d);
    if (opening == d.end) return;
    const std::string name(source[source.previous(opening)]);
    Known& known = all[name];
    if (named_kernel(source, d) != name) {
      known.is_plain = false;
    } else if (!known.defined.empty() &&
               scope_of(source, d.end) != scope_of(source, known.defined.front().end)) {
      known.is_plain = false;
    }
    for (std::size_t i = opening; i < source.close_of(opening); ++i)
      if (source.is_sign(i, "=")) known.is_plain = false;
    known.defined.push_back(d);
  });
  Overloads overloads;
  for (const auto& [name, known] : all) {
    if (!known.is_plain || is_used_alone(source, name)) continue;
    std::string addresses;
    for (const Declaration& d : known.defined) {
      const std::size_t opening = parameters_of(source, d);
      std::string parameters = source.text(opening, source.close_of(opening) + 1);
      std::replace(parameters.begin(), parameters.end(), '\n', ' ');
      if (parameters.find('#') != parameters.npos) addresses = "#";  // a preprocessor line
      addresses += (addresses.empty() ? "" : ", ") + std::string("static_cast<void (*)") +
                   parameters + ">(&" + name + ')';
    }
    if (addresses.find('#') != addresses.npos) continue;
    const std::size_t last = last_of(source, known.defined.back());
    overloads.known[name] = {last, known.defined.size(),
                             " [[maybe_unused]] static constexpr auto cuda_on_cpu_overloads_" +
                                 name + " = ::cuda_on_cpu::overloads(" + addresses + ");"};
  }
  return overloads;
}

Mark mark_at(const Source& source, std::size_t i) {
  if (!source.is(i, "__attribute__")) return Mark::none;
  const std::size_t inner = source.next(source.next(i));
  if (!source.is_sign(inner, "(")) return Mark::none;
  std::string content;
  for (std::size_t j = inner + 1; j < source.close_of(inner); ++j)
    if (!source.is_blank(j)) content += source[j];
  if (content.empty()) return Mark::device;
  if (content == ",") return Mark::managed;
  if (content == ",,") return Mark::constant;
  return content == "section(\"cuda_constant\")" ? Mark::constant_section : Mark::none;
}

std::vector<std::string> marked_variables(const Source& source, std::size_t mark) {
  std::vector<std::string> names;
  const std::size_t behind = source.next(source.close_of(source.next(mark)));
  if (source.is_sign(behind, ";") || source.is_sign(behind, "=") || source.is_sign(behind, ",")) {
    std::size_t before = source.previous(mark);
    while (source.is_sign(before, "]")) before = source.previous(source.open_of(before));
    if (source.is_name(before)) names.emplace_back(source[before]);
  }
  add_declared(source, behind, names);
  return names;
}

std::string with_internal_linkage(std::string text) {
  Source source(std::move(text));
  const Names external = external_names(source);
  Names own;
  std::map<std::size_t, const char*> prefixes;
  visit_declarations(source, [&](const Declaration& d) {
    const std::vector<std::string> names = own_variables(source, d);
    for (const std::string& name : names)
      if (external.contains(name)) return;
    if (names.empty() || is_ours(source, first_of(source, d))) return;
    // The attribute keeps the stores to variables that no code of the source reads.
    const bool is_static = holds(source, d, "static");
    prefixes[first_of(source, d)] =
        is_static ? "__attribute__((used)) " : "static __attribute__((used)) ";
    if (!is_static) own.insert(names.begin(), names.end());
  });
  Names users = own;
  add_users(source, users);
  visit_declarations(source, [&](const Declaration& d) {
    const std::size_t name = name_of(source, d);
    if (name == d.end || own.contains(source[name]) || !users.contains(source[name])) return;
    if (is_of_device(source, d) && !holds(source, d, "static") && !holds(source, d, "extern"))
      prefixes[first_of(source, d)] = "static __attribute__((unused)) ";
  });
  for (const auto& [first, prefix] : prefixes)
    source.replace(first, first + 1, prefix + std::string(source[first]));
  return source.text(0, source.size());
}

std::string with_entries(std::string text) {
  Source source(std::move(text));
  const Kernels kernels = find_kernels(source);
  for (const Declaration& d : kernels.defined) {
    const std::size_t last = last_of(source, d);
    source.replace(last, last + 1,
                   std::string(source[last]) +
                       " static ::cuda_on_cpu::AddedEntry cuda_on_cpu_entry_" +
                       std::to_string(last) + '(' + address_of(source, kernels, d) + ");");
  }
  return source.text(0, source.size());
}

std::string with_device_marks(std::string text) {
  Source source(std::move(text));
  std::vector<std::size_t> firsts;
  const auto mark = [&](const Declaration& d) {
    const std::size_t first = first_of(source, d);
    // A declaration begins with a name, except for destructors and names of the global namespace.
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
          "' is a reference, which would refer to memory of the host; pass a value or a pointer");
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
