/// \file
/// Where the command finds what it needs, built or installed.

#pragma once

#include <string>

namespace cuda_on_cpu::command {

struct Places {
  std::string command;    ///< which runs
  std::string headers;    ///< in the place of CUDA's
  std::string libraries;  ///< the device, with and without its analysis
  std::string toolkit;    ///< the directory of CUDA's toolkit, if there is one
  std::string thrust;     ///< its Thrust, CUB and libcu++; empty where they are not there
};

Places find_places();

}  // namespace cuda_on_cpu::command
