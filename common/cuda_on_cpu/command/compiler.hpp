/// \file
/// The compiler of the host: which one is run, and whether it fits the libraries of the device.

#pragma once

#include "options.hpp"

namespace cuda_on_cpu::command {

struct Compiler {
  Words words;  ///< the program, and arguments that belong to its name, as in CXX="ccache g++"
  bool is_clang = false;
};

/// The compiler that the command line or NVCC_CCBIN names, or else the one that the device was
/// built with. If the build names none, as in a package, CXX names it, or it is the first of g++
/// and clang++ on the PATH. \throws std::runtime_error if there is none, or if its C++ library is
/// older than the one that the device was built with
Compiler find_compiler(const Options& options);

}  // namespace cuda_on_cpu::command
