/// \file
/// What the slicer's command line says.

#pragma once

#include <string>
#include <vector>

namespace slicer {

struct Options {
  bool check = false, reductions = false, report = false;
  std::string file, json, build;
  std::string output;  ///< where the program in slices is written
  int form = 4;
  bool is_template = false;
  std::vector<std::string> sizes;  ///< of what --report shows, as in `n=5`
  std::vector<std::string> arguments;
};

/// What the compiler is told of a file: what the command line says, or else what the build does.
/// \throws BadInput if the build's compile_commands.json cannot be read
std::vector<std::string> compiler_arguments(const Options& options, bool is_cuda);
inline std::vector<std::string> compiler_arguments(const Options& options) {
  return compiler_arguments(options, options.file.ends_with(".cu"));
}

}  // namespace slicer
