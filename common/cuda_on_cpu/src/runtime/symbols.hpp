/// \file
/// Names and lines of the running program, and of the images of modules that it loaded.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace cuda_on_cpu {

struct LoadedImage;

/// The name of the function that begins at an address, without scope, template arguments and
/// parameters; "a kernel" if the program has no symbols.
std::string function_at(const void* address);

/// The name by which the linker knows the function, or the variable, that begins at an address;
/// empty if there is none.
std::string linked_name_at(const void* address);

/// Whether the program, or an image, has a function of that name.
bool has_function(const std::string& name);

/// A thread-local variable of the program or of an image: where it begins in the thread area, and
/// its bytes.
struct ThreadVariable {
  std::size_t offset;
  std::size_t bytes;
};

/// The thread-local variables of an image whose names hold a word.
std::vector<ThreadVariable> thread_variables(const LoadedImage& image, const std::string& word);

/// A variable of the program in a namespace: its first byte, its bytes, its name with namespaces.
struct Variable {
  const char* begin;
  std::size_t bytes;
  std::string name;
};

/// The variable of an image that the linker knows by a name; at null if there is none.
Variable variable_of(const LoadedImage& image, const std::string& linked_name);

/// Those of the program whose names are no more than that: no templates, and nothing that the
/// compiler added.
std::vector<Variable> variables_in_namespaces();

/// The names of the variables that the program's sources mark as device variables. Names of managed
/// variables are contained a second time with the prefix `!`.
const std::set<std::string>& names_of_device();

/// The addresses of the program's functions and of its tables of virtual functions.
struct CodeNames {
  std::set<std::uintptr_t> functions;
  std::map<std::uintptr_t, std::uintptr_t> virtual_tables;  ///< end addresses, by start address

  bool is_in_virtual_table(std::uintptr_t address) const;
};
CodeNames read_code_names();

/// Whether a device variable begins at an address. Returns true if this is unknown, because the
/// program has no symbols, the variable is a template, or the address belongs to a module.
bool is_device_variable(const void* address);

/// A line of the source.
struct Line {
  std::string file;
  int number = 0;
  std::string taken_from = {};  ///< the file of the instruction, where another function took it in
  friend auto operator<=>(const Line& a, const Line& b) {
    return std::tie(a.file, a.number) <=> std::tie(b.file, b.number);
  }
  friend bool operator==(const Line& a, const Line& b) { return (a <=> b) == 0; }
};

/// The lines of instructions, given by what stands behind them. Of functions that were taken in,
/// the line in the .cu file counts, not that of a header.
std::map<const void*, Line> lines_of(const std::set<const void*>& places);

/// Whether a line is of the headers of CUDA's toolkit, or of those that stand in their place.
bool is_of_toolkit(const Line& line);

/// The text of a line, without its indentation; empty if the file is not there.
std::string text_of(const Line& line);

}  // namespace cuda_on_cpu
