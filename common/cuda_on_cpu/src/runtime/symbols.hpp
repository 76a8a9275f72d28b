/// \file
/// Names and source lines of the running program and of the modules that it loaded.

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
/// parameters. The name is "a kernel" if the program has no symbols.
std::string function_at(const void* address);

/// The mangled name of the function or the variable that begins at an address; empty if there is
/// none.
std::string linked_name_at(const void* address);

/// Whether the program or a module has a function with this name, given without scope.
bool has_function(const std::string& name);

/// A thread-local variable of the program or of a module: its offset in the thread area, its size
/// in bytes, and its name in the source.
struct ThreadVariable {
  std::size_t offset;
  std::size_t bytes;
  std::string name;
};

/// All thread-local variables of an image that have a given word in their mangled names.
std::vector<ThreadVariable> thread_variables(const LoadedImage& image, const std::string& word);

/// A variable of an image: its address, its size in bytes, and its qualified or mangled
/// name.
struct Variable {
  const char* begin;
  std::size_t bytes;
  std::string name;
};

/// The variable of an image that has a given mangled name; its address is null if there is no such
/// variable.
Variable variable_of(const LoadedImage& image, const std::string& linked_name);

/// The variables of the program in namespaces. Instances of templates and variables added by the
/// compiler are not included.
std::vector<Variable> variables_in_namespaces();

/// The names of the variables that the program's sources mark as device variables. Names of managed
/// variables are contained a second time with the prefix `!`.
const std::set<std::string>& names_of_device();

/// The addresses of the program's functions and of its tables of virtual functions.
struct CodeNames {
  std::set<std::uintptr_t> functions;
  std::map<std::uintptr_t, std::uintptr_t> virtual_tables;  ///< from start to end address

  bool is_in_virtual_table(std::uintptr_t address) const;
};
CodeNames read_code_names();

/// Whether a device variable begins at an address. Returns true if the answer is unknown, because
/// the program has no symbols, the variable is a template, or the address belongs to a module.
bool is_device_variable(const void* address);

/// A line of the source.
struct Line {
  std::string file;
  int number = 0;
  std::string taken_from = {};  ///< file of the inlined function that contains the instruction
  friend auto operator<=>(const Line& a, const Line& b) {
    return std::tie(a.file, a.number) <=> std::tie(b.file, b.number);
  }
  friend bool operator==(const Line& a, const Line& b) { return (a <=> b) == 0; }
};

/// The source lines of instructions, given by return addresses. For inlined functions, the line in
/// the .cu file is returned, not the line in a header.
std::map<const void*, Line> lines_of(const std::set<const void*>& places);

/// Whether a line belongs to a header of the CUDA toolkit, or to a header that replaces one.
bool is_of_toolkit(const Line& line);

/// The text of a line without its indentation; empty if the file cannot be read.
std::string text_of(const Line& line);

}  // namespace cuda_on_cpu
