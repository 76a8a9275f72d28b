/// \file
/// Selects the host compiler and checks that it is compatible with the libraries of the CPU device.

#pragma once

#include "options.hpp"

namespace cuda_on_cpu::command {

struct Compiler {
  Words words;  ///< the program, and arguments that belong to it, as in CXX="ccache g++"
  bool is_clang = false;
};

/// Selects the compiler that the command line or NVCC_CCBIN names. Otherwise, selects the compiler
/// with which the CPU device was built. A build for a package names no compiler; the function then
/// selects the compiler that CXX names, or the first of g++ and clang++ in PATH.
/// \throws std::runtime_error if there is no compiler, or if its C++ or C library is older than the
/// library with which the CPU device was built
Compiler find_compiler(const Options& options);

}  // namespace cuda_on_cpu::command
