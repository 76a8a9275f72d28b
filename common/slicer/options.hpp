/// \file
/// The command line of the slicer.

#pragma once

#include <string>
#include <vector>

#include "source.hpp"

namespace slicer {

struct Options {
  bool strict = false;  ///< whether to make no assumptions
  bool check = false, reductions = false, report = false;
  std::string file, json, build;
  std::string output;  ///< the file for the sliced program
  int form = 4;
  bool is_template = false;
  std::vector<std::string> sizes;  ///< for --report, such as `n=5`
  std::vector<std::string> arguments;
};

/// Whether a file is a CUDA source or a CUDA header.
inline bool is_cuda(const std::string& file) {
  return file.ends_with(".cu") || file.ends_with(".cuh");
}

/// Whether a file is a C source.
inline bool is_c(const std::string& file) { return file.ends_with(".c"); }

/// The compiler's arguments that select C++ or CUDA.
std::vector<std::string> language(bool is_cuda);

/// The compiler's arguments for a file: from the command line, or else from the build.
/// \throws BadInput if the build's compile_commands.json cannot be read
Arguments compiler_arguments(const Options& options, bool is_cuda);
inline Arguments compiler_arguments(const Options& options) {
  return compiler_arguments(options, is_cuda(options.file));
}

}  // namespace slicer
