/// \file
/// Paths of the files that the command requires, in the build directory or after installation.

#pragma once

#include <string>

namespace cuda_on_cpu::command {

struct Places {
  std::string command;    ///< path of the running command
  std::string headers;    ///< directory of the headers that replace those of CUDA
  std::string libraries;  ///< directory of the libraries of the CPU device
  std::string toolkit;    ///< directory of the CUDA toolkit, which may not exist
  std::string thrust;     ///< directory of the Thrust, CUB and libcu++ headers in the toolkit, or
                          ///< empty
};

Places find_places();

}  // namespace cuda_on_cpu::command
