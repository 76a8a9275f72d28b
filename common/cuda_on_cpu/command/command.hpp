/// \file
/// Compiles CUDA sources for the CPU device, and links them.

#pragma once

#include "options.hpp"

namespace cuda_on_cpu::command {

/// Makes what is asked for; \returns the exit status of the first command that fails, or 0
int make(const Options& options);

/// What a linker is told in the place of the toolkit's libraries, for build systems: a line for
/// each, which begins with its name. The first is that of the device itself, which all need.
std::string libraries(const Options& options);

/// What the device covers of CUDA, and what it does not.
std::string explanation();

}  // namespace cuda_on_cpu::command
