/// \file
/// Replaces entry_x86_64.cpp on processors on which the analysis cannot detect that a kernel calls
/// a function. No trial takes place on such processors.

#include "trial.hpp"

namespace cuda_on_cpu::analysis {

const bool sees_calls = false;

}  // namespace cuda_on_cpu::analysis
