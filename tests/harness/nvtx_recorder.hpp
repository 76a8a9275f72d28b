/// \file
/// Stands in for a profiler: a library that NVTX loads and reports ranges to.

#pragma once

#include <string>
#include <vector>

/// What was reported so far: "push NAME" and "pop".
std::vector<std::string>& nvtx_events();
