/// \file
/// For processors on which the analysis cannot detect calls of functions by a kernel. No trial
/// takes place on such processors.

#include "trial.hpp"

namespace cuda_on_cpu::analysis {

const bool sees_calls = false;

}  // namespace cuda_on_cpu::analysis
