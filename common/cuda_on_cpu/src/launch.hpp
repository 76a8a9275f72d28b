/// \file
/// A launch that runs: its blocks are spread over the threads of the operating system.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "block.hpp"

namespace cuda_on_cpu {

struct Launch {
  std::string kernel;
  Configuration configuration;
  Invocation invocation;
  unsigned blocks;
  unsigned threads;             ///< of a block
  std::uint32_t operation = 0;  ///< the number of the operation in its stream's order
  int device = 0;
  std::atomic<std::uint64_t> barriers = 0;
  std::atomic<bool> failed = false;
};

/// Runs all blocks of a launch.
/// \returns whether all came to their end
bool run(Launch& launch);

/// Whether CUDA would refuse a configuration.
bool is_valid(const Configuration& configuration);

}  // namespace cuda_on_cpu
