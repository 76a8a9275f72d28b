/// \file
/// The limit of nvcc for the variables of a kernel in shared memory.

#pragma once

#include <string>

namespace cuda_on_cpu::command {

/// The sentence about a kernel whose `__shared__` variables take more bytes than nvcc allows; empty
/// if there is none. Variables of functions that the kernel calls are not counted.
/// \param object made of the source for the CPU device
std::string too_much_shared(const std::string& object, const std::string& source);

}  // namespace cuda_on_cpu::command
