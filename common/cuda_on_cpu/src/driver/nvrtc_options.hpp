/// \file
/// What NVRTC's options are for the command that compiles in its place.

#pragma once

#include <array>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// The architectures that NVRTC of CUDA 13.0 compiles for, by ten times their compute capability.
inline constexpr std::array architectures = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

struct CommandOptions {
  std::vector<std::string> words;
  std::string complaint;  ///< what is wrong with an option, in a sentence; empty if all are right
};

/// Reads options as NVRTC does: it knows some of nvcc's, and refuses all others. What speaks of
/// code for a GPU only has to be right.
CommandOptions read_nvrtc_options(int count, const char* const* options);

}  // namespace cuda_on_cpu
