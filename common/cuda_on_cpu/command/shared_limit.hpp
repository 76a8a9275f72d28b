/// \file
/// Checks nvcc's limit for the total size of the `__shared__` variables of a function.

#pragma once

#include <string>

namespace cuda_on_cpu::command {

/// An error message about a function whose `__shared__` variables are larger in total than nvcc
/// allows; empty if there is no such function. The variables of called functions are not
/// counted.
/// \param object the path of the object file that was compiled from `source` for the CPU device
std::string too_much_shared(const std::string& object, const std::string& source);

}  // namespace cuda_on_cpu::command
