/// \file
/// A launch that runs: its blocks are spread over the threads of the operating system.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "block.hpp"
#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

struct Launch {
  std::string kernel;
  Configuration configuration;
  Invocation invocation;
  unsigned blocks;
  unsigned threads;             ///< of a block
  std::uint32_t operation = 0;  ///< the number of the operation in its stream's order
  int device = 0;
  std::vector<std::uint32_t> beside = {};  ///< operations of the grids that run at the same time
  std::uint32_t record = 0;                ///< the kernel's number in the record of the analysis
  std::atomic<std::uint64_t> barriers = 0;
  std::atomic<bool> failed = false;
  cudaError_t failure = cudaErrorLaunchTimeout;  ///< what the runtime tells of it
};

/// Runs all blocks of a launch, or of several cooperative ones, whose grids may wait for each
/// other. \returns whether all came to their end
bool run(const std::vector<std::unique_ptr<Launch>>& launches);

/// How many threads of the operating system there are to run blocks, beside those of the host.
unsigned helping_threads();

/// Whether grid and block are as CUDA allows them.
bool is_valid(const Configuration& configuration);

/// Whether the grid consists of whole clusters of at most so many blocks.
bool has_whole_clusters(const Configuration& configuration, unsigned most_blocks);

}  // namespace cuda_on_cpu
