/// \file
/// Where the accesses of instrumented code arrive.

#pragma once

#include <cstddef>

#include "../analysis.hpp"

namespace cuda_on_cpu::analysis {

/// An access at an instruction, by what the current thread or the host does there.
/// \param frame of the function that the instrumented code called
void check_access(const void* where, std::size_t bytes, Kind kind, const void* instruction,
                  const void* frame);

}  // namespace cuda_on_cpu::analysis
