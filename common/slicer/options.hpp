/// \file
/// What the slicer's command line says.

#pragma once

#include <string>
#include <vector>

#include "source.hpp"

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

/// A source, or a header of one.
inline bool is_cuda(const std::string& file) {
  return file.ends_with(".cu") || file.ends_with(".cuh");
}

/// What says in which language a file is written.
std::vector<std::string> language(bool is_cuda);

/// What the compiler is told of a file: what the command line says, or else what the build does.
/// \throws BadInput if the build's compile_commands.json cannot be read
Arguments compiler_arguments(const Options& options, bool is_cuda);
inline Arguments compiler_arguments(const Options& options) {
  return compiler_arguments(options, is_cuda(options.file));
}

}  // namespace slicer
