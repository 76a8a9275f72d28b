/// \file
/// Compiles and links CUDA sources for the CPU device.

#pragma once

#include "options.hpp"

namespace cuda_on_cpu::command {

/// Builds the product that the options request.
/// \returns the exit status of the first command that fails, or 0
int make(const Options& options);

/// The libraries that replace those of the toolkit, for build systems. Each line begins with the
/// name of a library of the toolkit and lists its replacements. The first line is the entry of the
/// CPU device itself, which all programs require.
std::string libraries(const Options& options);

/// The supported and the unsupported parts of CUDA, as text for the user.
std::string explanation();

}  // namespace cuda_on_cpu::command
