/// \file
/// Translates NVRTC's options into options of the command cuda-on-cpu.

#pragma once

#include <array>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// The architectures that NVRTC of CUDA 13.0 supports, as ten times the compute capability.
inline constexpr std::array architectures = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

struct CommandOptions {
  std::vector<std::string> words;
  std::string complaint;  ///< error message for an invalid option; empty if all are valid
};

/// Checks and translates options. As in NVRTC, only some of nvcc's options are valid. Options that
/// affect only GPU code are checked and then ignored. Options that request GPU code as output are
/// invalid.
CommandOptions read_nvrtc_options(int count, const char* const* options);

}  // namespace cuda_on_cpu
