#include "shared_limit.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>

namespace cuda_on_cpu::command {
namespace {

constexpr std::uint64_t most_bytes = 48 << 10;

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The structure at an offset of a file; all zeros if the file ends before the end of the
/// structure.
template <typename T>
T at(const std::string& file, std::size_t offset) {
  T value{};
  if (offset <= file.size() && file.size() - offset >= sizeof(T))
    std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// The demangled name of the function that contains a variable, taken from the variable's mangled
/// name. The result is empty if no function contains the variable, or if the variable belongs to
/// the CPU device.
std::string function_of(const char* variable) {
  if (std::strncmp(variable, "_ZZ", 3) != 0) return "";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(variable, nullptr, nullptr, &status), std::free);
  const std::string name = status == 0 ? text.get() : "";
  const auto scope = name.rfind("::");
  if (scope == name.npos || name.find("cuda_on_cpu_", scope) != name.npos) return "";
  return name.substr(0, scope);
}

/// The total size in bytes of the thread-local variables of each function, from an object file.
std::map<std::string, std::uint64_t> bytes_by_function(const std::string& object) {
  const std::string file = contents_of(object);
  std::map<std::string, std::uint64_t> bytes;
  const auto header = at<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return bytes;
  const auto section = [&](std::size_t i) {
    return at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const std::size_t names = section(symbols.sh_link).sh_offset;
    for (std::size_t k = 0; k < symbols.sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = at<Elf64_Sym>(file, symbols.sh_offset + k * sizeof(Elf64_Sym));
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || names + symbol.st_name >= file.size())
        continue;
      const std::string function = function_of(file.c_str() + names + symbol.st_name);
      if (!function.empty()) bytes[function] += symbol.st_size;
    }
  }
  return bytes;
}

/// The name of a function without its return type, scope, template arguments and parameters.
std::string base_of(const std::string& function) {
  const std::string anonymous = "(anonymous namespace)::";
  std::string known = function;
  for (std::size_t found; (found = known.find(anonymous)) != known.npos;)
    known.erase(found, anonymous.size());
  const std::string head = known.substr(0, known.find_first_of("<("));
  const auto begin = head.find_last_of(" :");
  return begin == head.npos ? head : head.substr(begin + 1);
}

/// A regular expression for a name, which may be an operator such as `operator[]`.
std::string pattern_of(const std::string& name) {
  return "\\b" + std::regex_replace(name, std::regex("\\W"), "\\$&");
}

/// The offset after the bracket that matches the bracket at offset `open`.
std::size_t end_of(const std::string& text, std::size_t open) {
  const char first = text[open], last = first == '(' ? ')' : '}';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += (text[i] == first) - (text[i] == last);
    if (depth == 0) return i + 1;
  }
  return text.size();
}

/// Whether a source defines a function `name` that declares a `__shared__` variable. In an object
/// file, a thread_local variable of a host function looks like a `__shared__` variable.
bool declares_shared(const std::string& text, const std::string& name) {
  const std::regex head(pattern_of(name) + "\\s*\\(");
  for (std::sregex_iterator i(text.begin(), text.end(), head), end; i != end; ++i) {
    const std::size_t open = static_cast<std::size_t>(i->position() + i->length()) - 1;
    const std::size_t body = text.find_first_of("{;", end_of(text, open));
    if (body == text.npos || text[body] == ';') continue;
    if (text.substr(body, end_of(text, body) - body).find("__shared__") != text.npos) return true;
  }
  return false;
}

}  // namespace

std::string too_much_shared(const std::string& object, const std::string& source) {
  for (const auto& [function, bytes] : bytes_by_function(object)) {
    if (bytes <= most_bytes) continue;
    const std::string name = base_of(function);
    if (!declares_shared(contents_of(source), name)) continue;
    const bool is_kernel = std::regex_search(
        contents_of(source), std::regex("__global__[^;{}]*" + pattern_of(name) + "\\s*\\("));
    return std::string(is_kernel ? "kernel " : "function ") + name + " declares " +
           std::to_string(bytes) + " bytes of __shared__ variables; the compiler allows " +
           std::to_string(most_bytes) + " bytes per block";
  }
  return "";
}

}  // namespace cuda_on_cpu::command
