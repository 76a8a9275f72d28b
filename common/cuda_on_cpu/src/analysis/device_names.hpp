/// \file
/// What the rewriter tells of a program's variables.

#pragma once

#include <set>
#include <string>

namespace cuda_on_cpu::analysis {

/// The names of the device's variables, without namespaces; those of managed ones, once more with a
/// '!' before them.
std::set<std::string> names_of_device();

}  // namespace cuda_on_cpu::analysis
