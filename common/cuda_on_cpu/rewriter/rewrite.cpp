#include "rewrite.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

namespace cuda_on_cpu::rewriter {
namespace {

/// Removes __cluster_dims__ or __launch_bounds__ and stores its arguments for the kernel that
/// follows.
void read_promise(Source& source, std::size_t i, Promises& promises) {
  const std::size_t opening = source.next(i), closing = source.close_of(opening);
  const auto is_no_kernel = [&](std::size_t j) {
    for (const auto name : {"__attribute__", "alignas", "__launch_bounds__", "__cluster_dims__"})
      if (source.is(j, name)) return true;
    return false;
  };
  std::size_t j = source.next(closing);
  while (!source.is_name(j) || !source.is_sign(source.next(j), "(") || is_no_kernel(j)) {
    if (source.is_sign(j, ";") || source.is_sign(j, "{"))
      throw Unsure(std::string(source[i]) + " is not followed by a kernel");
    j = source.next(source.opens(j) ? source.close_of(j) : j);
  }
  promises[std::string(source[j])] = source.text(opening + 1, closing);
  source.replace(i, closing + 1, "");
}

/// If a cast to void* begins at token `first`, replaces the cast by `by`.
void replace_cast(Source& source, std::size_t first, const std::string& by) {
  if (source.is_sign(first, "(")) {
    const std::size_t closing = source.close_of(first);
    std::string inside;
    for (std::size_t j = first + 1; j < closing; ++j)
      if (!source.is_blank(j) && !source.is(j, "const")) inside += source[j];
    if (inside == "void*") source.replace(first, closing + 1, by);
  } else if (source.is(first, "reinterpret_cast")) {
    std::size_t opening = source.next(first);
    while (!source.is_sign(opening, "(")) opening = source.next(opening);
    source.replace(first, opening, by);
  }
}

/// Removes a cast to void* from the kernel that is the first argument of a runtime function.
void keep_kernel_type(Source& source, std::size_t i) {
  const std::size_t opening = source.next(i);
  if (source.is_sign(opening, "(")) replace_cast(source, source.next(opening), "");
}

/// Keeps the parameter types of a kernel in `func = (void*)kernel`: replaces the cast by one to
/// KernelFunction, which stores the types and converts to the kernel's address.
void keep_node_type(Source& source, std::size_t i) {
  const std::size_t before = source.previous(i), sign = source.next(i);
  const bool is_member = source.is_sign(before, ".") || source.is_sign(before, "->");
  if (is_member && source.is_sign(sign, "="))
    replace_cast(source, source.next(sign), "(::cuda_on_cpu::KernelFunction)");
}

/// Keeps the parameter types of a kernel that initialises the first member of a structure.
void keep_first_type(Source& source, std::size_t i) {
  const std::size_t name = source.next(i);
  if (!source.is_name(name)) return;
  std::size_t opening = source.next(name);
  if (source.is_sign(opening, "=")) opening = source.next(opening);
  if (source.is_sign(opening, "{"))
    replace_cast(source, source.next(opening), "(::cuda_on_cpu::KernelFunction)");
}

/// Whether a cast to void* precedes a token: `(const void*)`, or `reinterpret_cast<void*>(`.
bool is_behind_cast(const Source& source, std::size_t i) {
  std::size_t before = source.previous(i);
  if (source.is_sign(before, "&")) before = source.previous(before);
  std::string inside;
  if (source.is_sign(before, ")")) {
    for (std::size_t j = source.open_of(before) + 1; j < before; ++j)
      if (!source.is_blank(j) && !source.is(j, "const")) inside += source[j];
    return inside == "void*";
  }
  if (!source.is_sign(before, "(") || !source.is_sign(source.previous(before), ">")) return false;
  for (before = source.previous(source.previous(before)); !source.is_sign(before, "<");
       before = source.previous(before)) {
    if (source.is_sign(before, ";") || source.is_sign(before, "}")) return false;
    if (!source.is(before, "const")) inside.insert(0, source[before]);
  }
  return inside == "void*" && source.is(source.previous(before), "reinterpret_cast");
}

/// Registers a kernel whose name, with its template arguments, is cast to void*. At run time,
/// values that are not kernels are returned unchanged.
void note_kernel(Source& source, std::size_t i) {
  for (const auto word : {"this", "nullptr", "true", "false"})
    if (source.is(i, word)) return;
  const std::size_t behind = source.next(i);
  const auto ends = [&](std::size_t j) {
    return source.is_sign(j, ")") || source.is_sign(j, ",") || source.is_sign(j, ";") ||
           source.is_sign(j, "}");
  };
  std::size_t last = i;
  if (source.is_sign(behind, "<")) {
    int depth = 0;
    for (last = behind;; last = source.next(last)) {
      if (source.opens(last)) last = source.close_of(last);
      depth += source.is_sign(last, "<") - source.is_sign(last, ">");
      if (depth == 0) break;
      if (source.is_sign(last, ";") || source.closes(last)) return;
    }
  }
  if (!ends(source.next(last)) || !is_behind_cast(source, i)) return;
  source.replace(i, last + 1, "::cuda_on_cpu::known(" + source.text(i, last + 1) + ')');
}

/// The functions declared so far that return an error of CUDA.
using Fallible = Names;

/// Whether only blanks and preprocessor lines are between two tokens. The expansion of a macro from
/// a system header is no token, but it separates the two tokens.
bool are_neighbours(const Source& source, std::size_t before, std::size_t behind) {
  for (std::size_t i = before + 1; i < behind; ++i) {
    if (source.kind(i) != Kind::opaque) continue;
    std::istringstream lines{std::string(source[i])};
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with('#') && line.find_first_not_of(" \t") != line.npos) return false;
  }
  return true;
}

/// Whether a call is a statement of its own, so that its result is ignored. `first` is the first
/// token of the call.
bool is_statement(const Source& source, std::size_t first, std::size_t opening) {
  const std::size_t before = source.previous(first), closing = source.close_of(opening);
  const std::size_t behind = source.next(closing);
  if (!source.is_sign(behind, ";")) return false;
  if (!are_neighbours(source, before, first) || !are_neighbours(source, closing, behind))
    return false;
  for (const auto* token : {";", "{", "}", "else", "do"})
    if (source.is(before, token)) return true;
  if (!source.is_sign(before, ")")) return false;
  const std::size_t keyword = source.previous(source.open_of(before));
  return source.is(keyword, "if") || source.is(keyword, "for") || source.is(keyword, "while") ||
         source.is(keyword, "constexpr");
}

/// Marks calls of CUB's algorithms, such as `cub::DeviceReduce::Sum(...)`, that ignore the returned
/// error.
void note_dropped_by_cub(Source& source, std::size_t i) {
  const std::size_t sign = source.next(i), group = source.next(sign);
  if (!source.is_sign(sign, "::") || !source[group].starts_with("Device")) return;
  const std::size_t second = source.next(group), function = source.next(second);
  if (!source.is_sign(second, "::") || !source.is_name(function)) return;
  std::size_t opening = source.next(function);
  if (source.is_sign(opening, "<"))
    while (!source.is_sign(opening, "(") && !source.is_sign(opening, ";"))
      opening = source.next(opening);
  if (!source.is_sign(opening, "(")) return;
  const std::size_t first = source.is_sign(source.previous(i), "::") ? source.previous(i) : i;
  if (is_statement(source, first, opening))
    source.replace(first, i + 1, "::cuda_on_cpu::Dropped{} = ::cub");
}

/// If token i declares a function that returns an error, adds the function to `fallible`. If token
/// i calls such a function and ignores the error, marks the call.
void note_dropped(Source& source, std::size_t i, Fallible& fallible) {
  const std::string name(source[i]);
  if (name == "cub") return note_dropped_by_cub(source, i);
  if (!name.starts_with("cu") || !source.is_sign(source.next(i), "(")) return;
  if (source.is(source.previous(i), "CUresult")) {
    fallible.insert(name);
    return;
  }
  const bool is_of_driver = name.size() > 2 && std::isupper(static_cast<unsigned char>(name[2]));
  if (is_of_driver && fallible.contains(name) && is_statement(source, i, source.next(i)))
    return source.replace(i, i + 1, "::cuda_on_cpu::DroppedResult{} = " + name);
  if (!name.starts_with("cuda")) return;
  // A call of cudaGetLastError without use of its result is the usual way to reset the error.
  if (name == "cudaGetLastError" || name == "cudaPeekAtLastError") return;
  if (source.is(source.previous(i), "cudaError_t"))
    fallible.insert(name);
  else if (fallible.contains(name) && is_statement(source, i, source.next(i)))
    source.replace(i, i + 1, "::cuda_on_cpu::Dropped{} = " + name);
}

/// Removes a device mark and adds the variables that it marks to `names`. Managed variables, which
/// the host may use, are added a second time with the prefix `!`.
void read_device_mark(Source& source, std::size_t i, Names& names) {
  const Mark mark = mark_at(source, i);
  if (mark == Mark::none) return;
  for (const std::string& name : marked_variables(source, i)) {
    names.insert(name);
    if (mark == Mark::managed) names.insert('!' + name);
  }
  if (mark != Mark::constant_section) source.replace(i, source.close_of(source.next(i)) + 1, "");
}

/// Whether a source defines its own `operator new`, apart from the operator for the device's heap.
bool defines_new(const Source& source) {
  for (std::size_t i = 0; i + 1 < source.size(); ++i) {
    if (!source.is(i, "operator") || !source.is(source.next(i), "new")) continue;
    std::size_t opening = source.next(source.next(i));
    while (!source.is_sign(opening, "(")) opening = source.next(opening);
    if (!source.is(source.previous(source.close_of(opening)), "Heap")) return true;
  }
  return false;
}

/// The token that first declares a name of the runtime. Code before this token cannot use the name.
std::size_t declaration_of(const Source& source, std::string_view name) {
  std::size_t i = 0;
  while (i < source.size() && !source.is(i, name)) ++i;
  return i;
}

/// Whether the name at a token is called rather than declared.
bool is_call(const Source& source, std::size_t i) {
  if (!source.is_sign(source.next(i), "(")) return false;
  for (const auto* before : {";", "{", "}", "(", ")", "=", "?", ":", "return", "else"})
    if (source.is(source.previous(i), before)) return true;
  return false;
}

/// Replaces an allocation or a call of free(). In a kernel, the replacement uses the device heap.
void take_from_heap(Source& source, std::size_t i) {
  if (source.is(i, "new") && !source.is_sign(source.next(i), "(") &&
      !source.is(source.previous(i), "operator"))
    source.replace(i, i + 1, "new (::cuda_on_cpu::Heap{})");
  else if (source.is(i, "malloc") && is_call(source, i))
    source.replace(i, i + 1, "::cuda_on_cpu::heap_malloc");
  else if (source.is(i, "free") && is_call(source, i))
    source.replace(i, i + 1, "::cuda_on_cpu::heap_free");
}

/// Replaces a call of printf in a kernel if the value of the call is used. The call then returns
/// the same value as on a GPU.
void count_printed(Source& source, std::size_t i) {
  const std::size_t opening = source.next(i), before = source.previous(i);
  if (!source.is_sign(opening, "(") || source.is_sign(before, ".") || source.is_sign(before, "->"))
    return;
  std::size_t first = i;
  if (source.is_sign(before, "::")) {
    const bool is_std = source.is(source.previous(before), "std");
    if (!is_std && source.is_name(source.previous(before))) return;
    first = is_std ? source.previous(before) : before;
  }
  if (is_statement(source, first, opening)) return;
  const std::size_t closing = source.close_of(opening);
  const std::string arguments = source.text(opening, closing + 1);
  source.replace(first, first + 1, "::cuda_on_cpu::printed(" + std::string(source[first]));
  source.replace(closing, closing + 1,
                 "), decltype(::cuda_on_cpu::count_printed" + arguments + ")::value)");
}

/// A definition that lists the names of the device variables for the runtime.
std::string listed(const Names& names) {
  if (names.empty()) return "";
  std::string list;
  for (const std::string& name : names) list += name + ' ';
  return "static const char cuda_on_cpu_device_names[] "
         "__attribute__((used, section(\"cuda_device_names\"))) = \"" +
         list + "\";\n";
}

/// Replaces the C functions that copy and set memory by functions of the analysis, because
/// compilers do not instrument the C functions.
constexpr const char* seen_copies =
    "__asm__(\".set memcpy, __tsan_memcpy\\n.set memmove, __tsan_memmove\\n\"\n"
    "        \".set memset, __tsan_memset\");\n";

/// Replaces CUDA's `__noinline__` by an attribute. Within `__attribute__((...))`, the word already
/// is an attribute of the compiler, as in headers of GCC.
void rewrite_noinline(Source& source, std::size_t i) {
  const std::size_t before = source.previous(i);
  if (!source.is_sign(before, "(") && !source.is_sign(before, ","))
    source.replace(i, i + 1, "__attribute__((noinline))");
}

/// Rewrites an asm statement. Host code may contain instructions of the host's processor, which
/// stay as they are. Code without a device mark may also belong to the device, for example the body
/// of a member function that its class declares with the mark, so PTX is rewritten there, too.
void rewrite_asm(Source& source, std::size_t i, bool of_device) {
  try {
    rewrite_ptx(source, i);
  } catch (const Unsure&) {
    if (of_device) throw;
  }
}

void rewrite_name(Source& source, std::size_t i, bool guards, bool of_device, Promises& clusters,
                  Promises& bounds) {
  const std::string_view name = source[i];
  if (name == "__shared__")
    rewrite_shared(source, i, guards);
  else if (name == "__noinline__")
    rewrite_noinline(source, i);
  else if (name == "__cluster_dims__")
    read_promise(source, i, clusters);
  else if (name == "__launch_bounds__")
    read_promise(source, i, bounds);
  else if (name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel" ||
           name == "cudaFuncSetAttribute")
    keep_kernel_type(source, i);
  else if (name == "func")
    keep_node_type(source, i);
  else if (name == "cudaKernelNodeParams")
    keep_first_type(source, i);
  else if (name == "using")
    keep_meaning(source, i);
  else if (name == "asm" || name == "__asm__" || name == "__asm")
    rewrite_asm(source, i, of_device);
}

/// Code that registers the launch bounds that are integer literals. Bounds that depend on template
/// arguments are unknown here and not enforced.
std::string noted(const Promises& bounds) {
  std::string notes;
  for (const auto& [kernel, text] : bounds) {
    std::string threads = text.substr(0, text.find(','));
    std::erase_if(threads, [](unsigned char c) { return std::isspace(c) != 0; });
    if (threads.empty() || threads.find_first_not_of("0123456789") != threads.npos) continue;
    notes += (notes.empty() ? "static const bool cuda_on_cpu_bounds [[maybe_unused]] = " : " && ");
    notes += "::cuda_on_cpu::note_bounds(\"" + kernel + "\", " + threads + ')';
  }
  return notes.empty() ? "" : notes + ";\n";
}

}  // namespace

bool is_in(const std::vector<Body>& bodies, std::size_t i) {
  const auto behind =
      std::upper_bound(bodies.begin(), bodies.end(), i,
                       [](std::size_t at, const Body& body) { return at < body.open; });
  return behind != bodies.begin() && i < std::prev(behind)->close;
}

std::string rewrite(std::string text, bool guards, bool is_header) {
  Source source(with_cub(std::move(text)));
  Promises clusters, bounds;
  Fallible fallible;
  Names of_device;
  check_kernels(source);
  const std::vector<Body> bodies = find_device_bodies(source);
  const Names bit_fields = find_bit_fields(source), volatiles = find_volatiles(source);
  HostFunctions host_functions = guards ? find_host_functions(source) : HostFunctions{};
  // Headers of the host may precede CUDA's header. Their functions are not marked.
  const std::size_t runtime = declaration_of(source, "enters_host_function");
  host_functions.erase(host_functions.begin(), host_functions.lower_bound(runtime));
  // A source that does not include CUDA's header cannot launch kernels by address.
  const std::size_t launches = declaration_of(source, "launch_noted");
  const Additions noted_kernels =
      launches == source.size() ? Additions{} : find_noted_kernels(source);
  Overloads overloads = launches == source.size() ? Overloads{} : find_overloads(source);
  std::vector<std::string> marks(bodies.size());
  for (std::size_t i = 0; guards && i < bodies.size(); ++i)
    if (bodies[i].open > runtime) marks[i] = mark_of_unseen(source, bodies[i]);
  const bool has_own_new = guards && defines_new(source);
  for (std::size_t i = 0; i < source.size(); ++i) {
    try {
      if (source.is_name(i)) {
        rewrite_name(source, i, guards, is_in(bodies, i), clusters, bounds);
        if (i > launches && source.is_name(i) && !is_in(bodies, i)) note_kernel(source, i);
        if (guards) note_dropped(source, i, fallible);
        if (guards && !has_own_new && i > runtime) take_from_heap(source, i);
        if (source.is(i, "__attribute__")) read_device_mark(source, i, of_device);
        if (source.is(i, "printf") && is_in(bodies, i)) count_printed(source, i);
        if (source.is_name(i)) add_template_keyword(source, i, is_in(bodies, i));
      } else if (source.is_sign(i, "<<<") && !source.is(source.previous(i), "operator"))
        rewrite_launch(source, i, clusters, overloads, is_in(bodies, i));
    } catch (const Unsure& unsure) {
      throw Refused(source.place_of(i) + ": error: " + unsure.what());
    }
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Body& body = bodies[i];
    if (!marks[i].empty()) source.replace(body.open, body.open + 1, '{' + marks[i] + ' ');
    rewrite_shifts(source, body, bit_fields);
    rewrite_waits(source, body, volatiles);
  }
  rewrite_looks(source, declaration_of(source, "host_looks"), bodies, volatiles);
  mark_host_functions(source, host_functions);
  for (const auto& [last, addition] : noted_kernels)
    source.replace(last, last + 1, std::string(source[last]) + addition);
  for (const auto& [name, kernels] : overloads.known)
    if (kernels.is_used)
      source.replace(kernels.last, kernels.last + 1,
                     std::string(source[kernels.last]) + kernels.variable);
  text = source.text(0, source.size());
  if (!is_header) text += noted(bounds) + listed(of_device) + (guards ? seen_copies : "");
  return text;
}

}  // namespace cuda_on_cpu::rewriter
