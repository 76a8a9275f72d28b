#include "symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "../indestructible.hpp"
#include "images.hpp"

extern "C" {
// The section in which the rewriter lists the names of the device variables.
extern const char __start_cuda_device_names[] __attribute__((weak));
extern const char __stop_cuda_device_names[] __attribute__((weak));
}

namespace cuda_on_cpu {
namespace {

std::uintptr_t offset_in(const LoadedImage& image, const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(image.base);
}

/// Reads part of a file. Values beyond the end of the file are zero. Most of a program is debug
/// information, so files are not read as a whole.
template <typename T>
std::vector<T> read_at(std::ifstream& file, std::size_t offset, std::size_t count) {
  std::vector<T> values(count);
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
  return values;
}

/// A symbol of an image: its kind, its value, its size in bytes, and its mangled name.
struct Symbol {
  unsigned kind;
  std::uint64_t value;
  std::uint64_t bytes;
  std::string name;
};

/// The lowest address of an image, as stored in its file. The address is 0, except for programs at
/// a fixed address.
std::uintptr_t origin_of(std::ifstream& file, const Elf64_Ehdr& header) {
  if (header.e_type != ET_EXEC) return 0;
  std::uintptr_t origin = ~std::uintptr_t{0};
  for (const auto& part : read_at<Elf64_Phdr>(file, header.e_phoff, header.e_phnum))
    if (part.p_type == PT_LOAD) origin = std::min<std::uintptr_t>(origin, part.p_vaddr);
  return origin;
}

std::uintptr_t origin_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return origin_of(file, read_at<Elf64_Ehdr>(file, 0, 1).front());
}

std::vector<Symbol> read_symbols(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(file, 0, 1).front();
  const std::uintptr_t origin = origin_of(file, header);
  const auto sections = read_at<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
  std::vector<Symbol> symbols;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& of_names = sections[section.sh_link];
    auto names = read_at<char>(file, of_names.sh_offset, of_names.sh_size);
    names.push_back('\0');
    const auto table =
        read_at<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    for (const Elf64_Sym& symbol : table)
      if (symbol.st_name < names.size() && symbol.st_shndx != SHN_UNDEF) {
        const unsigned kind = ELF64_ST_TYPE(symbol.st_info);
        symbols.push_back({kind, symbol.st_value - (kind == STT_TLS ? 0 : origin), symbol.st_size,
                           names.data() + symbol.st_name});
      }
  }
  return symbols;
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "n" would be demangled as a type
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

/// A demangled name without anonymous namespaces.
std::string without_anonymous(std::string name) {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(anonymous)) != name.npos;)
    name.erase(at, anonymous.size());
  return name;
}

/// The unqualified name in a demangled name: "k" for "void a::k<2>(int)".
std::string base_of(const std::string& name) {
  const std::string known = without_anonymous(name);
  std::string base = known.substr(0, known.find_first_of("<("));
  const auto begin = base.find_last_of(" :");
  return begin == std::string::npos ? base : base.substr(begin + 1);
}

/// The names that were read from an image.
struct Names {
  std::vector<Symbol> symbols;
  std::set<std::string> functions = {};  ///< unqualified; empty until the first query
};

Names& names_of(const LoadedImage& image) {
  static auto& all = indestructible<std::map<std::string, Names>>();
  const auto [found, is_new] = all.try_emplace(image.file);
  if (is_new) found->second.symbols = read_symbols(image.file);
  return found->second;
}

const std::set<std::string>& functions_of(const LoadedImage& image) {
  Names& names = names_of(image);
  if (names.functions.empty())
    for (const Symbol& symbol : names.symbols)
      if (symbol.kind == STT_FUNC) names.functions.insert(base_of(demangled(symbol.name)));
  return names.functions;
}

const std::vector<Symbol>& symbols() { return names_of(program()).symbols; }

/// The function that begins at an address, or null.
const Symbol* function_symbol(const void* address) {
  const LoadedImage* image = image_at(address);
  if (image == nullptr) return nullptr;
  for (const Symbol& symbol : names_of(*image).symbols)
    if (symbol.kind == STT_FUNC && symbol.value == offset_in(*image, address)) return &symbol;
  return nullptr;
}

/// Whether a file is a header of the CPU device, of the toolkit, or of the C++ library.
bool is_of_library(const std::string& file) {
  for (const auto* part :
       {"/cuda_on_cpu/include/", "/include/cuda_on_cpu/", "/include/cccl/", "/include/c++/"})
    if (file.find(part) != std::string::npos) return true;
  return false;
}

/// Parses the lines that addr2line prints for one address, innermost first. Each line has the form
/// file:line.
/// \returns the line of the .cu file, or else the innermost line in a header of the program
Line parse_frames(const std::vector<std::string>& frames) {
  Line innermost, of_program;
  for (const std::string& frame : frames) {
    const auto colon = frame.rfind(':');
    if (colon == std::string::npos) continue;
    Line line{frame.substr(0, colon), std::atoi(frame.c_str() + colon + 1)};
    if (innermost.number == 0) innermost = line;
    line.taken_from = innermost.file;
    if (line.file.ends_with(".cu")) return line;
    if (of_program.number == 0 && !is_of_library(line.file)) of_program = line;
  }
  return of_program.number == 0 ? innermost : of_program;
}

}  // namespace

std::string function_at(const void* address) {
  const Symbol* symbol = function_symbol(address);
  return symbol == nullptr ? "a kernel" : base_of(demangled(symbol->name));
}

std::string linked_name_at(const void* address) {
  const LoadedImage* image = image_at(address);
  if (image == nullptr) return "";
  for (const Symbol& symbol : names_of(*image).symbols)
    if ((symbol.kind == STT_FUNC || symbol.kind == STT_OBJECT) &&
        symbol.value == offset_in(*image, address))
      return symbol.name;
  return "";
}

Variable variable_of(const LoadedImage& image, const std::string& linked_name) {
  for (const Symbol& symbol : names_of(image).symbols)
    if (symbol.kind == STT_OBJECT && symbol.name == linked_name)
      return {image.base + symbol.value, symbol.bytes, linked_name};
  return {nullptr, 0, linked_name};
}

bool has_function(const std::string& name) {
  const auto& all = loaded_images();
  return std::any_of(all.begin(), all.end(),
                     [&](const LoadedImage& image) { return functions_of(image).contains(name); });
}

/// The name of a variable in the source, for example "v" for "void f<int>(int)::v".
static std::string name_in_source(const std::string& linked_name) {
  const std::string name = demangled(linked_name);
  const auto scope = name.rfind("::");
  return scope == name.npos ? name : name.substr(scope + 2);
}

std::vector<ThreadVariable> thread_variables(const LoadedImage& image, const std::string& word) {
  std::vector<ThreadVariable> variables;
  for (const Symbol& symbol : names_of(image).symbols)
    if (symbol.kind == STT_TLS && symbol.bytes > 0 && symbol.name.find(word) != std::string::npos)
      variables.push_back(
          {image.shared_offset + symbol.value, symbol.bytes, name_in_source(symbol.name)});
  return variables;
}

std::vector<Variable> variables_in_namespaces() {
  std::vector<Variable> variables;
  for (const Symbol& symbol : symbols()) {
    if (symbol.kind != STT_OBJECT || symbol.bytes == 0) continue;
    if (symbol.name.starts_with("_ZZ")) continue;  // a static variable of a function
    const std::string name = without_anonymous(demangled(symbol.name));
    if (name.find_first_of("<(. @[") != name.npos) continue;
    variables.push_back({program().base + symbol.value, symbol.bytes, name});
  }
  return variables;
}

namespace {

std::set<std::string> read_names_of_device() {
  std::string all;
  for (const char* c = __start_cuda_device_names; c != __stop_cuda_device_names; ++c)
    all += *c == '\0' ? ' ' : *c;
  std::istringstream words(all);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Whether a variable of this name may be a device variable.
bool may_be_of_device(const std::string& linked_name) {
  const std::string name = without_anonymous(demangled(linked_name));
  const bool is_plain =
      !linked_name.starts_with("_ZZ") && name.find_first_of("<(. @[") == name.npos;
  const auto scope = name.rfind("::");
  return !is_plain ||
         names_of_device().contains(scope == name.npos ? name : name.substr(scope + 2));
}

}  // namespace

const std::set<std::string>& names_of_device() {
  static const auto& names = indestructible_from(read_names_of_device);
  return names;
}

CodeNames read_code_names() {
  CodeNames names;
  const auto base = reinterpret_cast<std::uintptr_t>(program().base);
  for (const Symbol& symbol : symbols()) {
    const std::uintptr_t begin = base + symbol.value;
    if (symbol.kind == STT_FUNC) names.functions.insert(begin);
    if (symbol.kind == STT_OBJECT && symbol.name.starts_with("_ZTV"))
      names.virtual_tables[begin] = begin + symbol.bytes;
  }
  return names;
}

bool CodeNames::is_in_virtual_table(std::uintptr_t address) const {
  const auto behind = virtual_tables.upper_bound(address);
  return behind != virtual_tables.begin() && address < std::prev(behind)->second;
}

bool is_device_variable(const void* address) {
  const LoadedImage* image = image_at(address);
  if (image == nullptr) return false;
  if (image != &program()) return true;  // the module has already looked the variable up
  const std::vector<Symbol>& all = names_of(*image).symbols;
  return all.empty() || std::any_of(all.begin(), all.end(), [&](const Symbol& symbol) {
           return symbol.kind == STT_OBJECT && symbol.value == offset_in(*image, address) &&
                  may_be_of_device(symbol.name);
         });
}

namespace {

struct ClosePipe {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

/// Adds the source lines of instructions in one image.
void add_lines(std::map<const void*, Line>& lines, const LoadedImage& image,
               const std::set<const void*>& places) {
  constexpr std::string_view self = "/proc/self";
  std::string command = "addr2line -a -i -e /proc/" + std::to_string(getpid()) +
                        image.file.substr(self.size());  // /proc/self would be addr2line itself
  const std::uintptr_t origin = origin_of(image.file);
  char text[32];
  for (const void* place : places) {
    // A place is the address after the instruction. The byte before this address belongs to the
    // instruction.
    std::snprintf(text, sizeof text, " %#zx", origin + offset_in(image, place) - 1);
    command += text;
  }
  const std::unique_ptr<FILE, ClosePipe> pipe(popen(command.c_str(), "r"));
  if (pipe == nullptr) return;
  auto place = places.begin();
  std::vector<std::string> frames;
  const auto take = [&] {
    if (!frames.empty() && place != places.end()) lines[*place++] = parse_frames(frames);
    frames.clear();
  };
  char buffer[4096];
  for (bool first = true; std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr; first = false) {
    std::string output(buffer);
    while (!output.empty() && output.back() == '\n') output.pop_back();
    if (output.starts_with("0x")) {
      if (!first) take();
    } else {
      frames.push_back(output.substr(0, output.find(" (discriminator")));
    }
  }
  take();
}

}  // namespace

std::map<const void*, Line> lines_of(const std::set<const void*>& places) {
  std::map<const void*, Line> lines;
  for (const LoadedImage& image : loaded_images()) {
    std::set<const void*> within;
    for (const void* place : places)
      if (image.contains(place)) within.insert(place);
    if (!within.empty()) add_lines(lines, image, within);
  }
  return lines;
}

bool is_of_toolkit(const Line& line) {
  for (const auto* part :
       {"/include/cccl/", "/include/thrust/", "/include/cub/", "/include/cuda_on_cpu/thrust",
        "/include/cuda_on_cpu/cub", "/include/cuda_on_cpu/closures"})
    if (line.file.find(part) != std::string::npos) return true;
  return false;
}

std::string text_of(const Line& line) {
  std::ifstream file(line.file);
  std::string text;
  for (int number = 0; number < line.number && std::getline(file, text);) ++number;
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin);
}

}  // namespace cuda_on_cpu
