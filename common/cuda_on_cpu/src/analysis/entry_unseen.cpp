/// \file
/// Functions that a kernel calls, where nobody knows how to see that: no block is tried.

#include "trial.hpp"

namespace cuda_on_cpu::analysis {

const bool sees_calls = false;

}  // namespace cuda_on_cpu::analysis
