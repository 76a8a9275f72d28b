/// \file
/// Replaces a profiler: a library that NVTX loads and to which it reports ranges.

#pragma once

#include <string>
#include <vector>

/// The events so far: "push NAME" and "pop".
std::vector<std::string>& nvtx_events();
