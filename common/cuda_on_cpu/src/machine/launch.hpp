/// \file
/// A launch that runs: its blocks are spread over the threads of the operating system.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block.hpp"
#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

class SideBySide;
struct Children;

/// Whether threads of the host may still write what blocks wait for in loops.
enum class HelpOfHost { none, perhaps, sure };

struct Launch {
  std::string kernel;
  Configuration configuration;
  Invocation invocation;
  unsigned blocks;
  unsigned threads;             ///< of a block
  std::uint32_t operation = 0;  ///< the number of the operation in its stream's order
  int device = 0;
  std::vector<std::uint32_t> beside = {};   ///< operations of the grids that run at the same time
  std::function<bool()> call_others = {};   ///< lets launches of other devices run beside it, or
                                            ///< else more of its blocks; returns whether some began
  bool is_beside_host = false;              ///< whether the host does not wait for it
  HelpOfHost (*help_of_host)() = nullptr;   ///< null: there is none
  SideBySide* side_by_side = nullptr;       ///< how its blocks run, if the analysis leaves some out
  std::shared_ptr<Children> children = {};  ///< what its threads asked for; null: nothing
  std::atomic<bool> has_children = false;
  unsigned depth = 0;        ///< how many launches by kernels lead here from one by the host
  std::uint32_t record = 0;  ///< the kernel's number in the record of the analysis
  std::atomic<std::uint64_t> barriers = 0;
  std::atomic<bool> failed = false;
  bool on_trial = false;                         ///< whether its blocks run side by side, on trial
  std::atomic<bool> trial_is_over = false;       ///< and whether their order may matter
  cudaError_t failure = cudaErrorLaunchTimeout;  ///< what the runtime tells of it
};

using Launches = std::vector<std::unique_ptr<Launch>>;

/// Adds launches that are to run beside those that run.
/// \returns false if the devices have failed
using CallOthers = std::function<bool(Launches& more)>;

/// Runs all blocks of a launch, or of several cooperative ones, whose grids may wait for each
/// other. Where blocks of one that is not cooperative wait in loops, it calls others.
/// \returns whether all came to their end
bool run(Launches& launches, const CallOthers& call_others);

/// How many threads of the operating system there are to run blocks, beside those of the host.
unsigned helping_threads();

/// How many blocks the cluster of the block that runs has.
unsigned cluster_size();

/// Whether an address is what a place in shared memory becomes in a block that a cluster lacks.
bool is_of_no_block(const void* address);

/// Whether grid and block are as CUDA allows them.
bool is_valid(const Configuration& configuration);

/// Whether blocks of the grid form clusters of more than one.
bool has_clusters(const Configuration& configuration);

/// Whether the grid consists of whole clusters of at most so many blocks.
bool has_whole_clusters(const Configuration& configuration, unsigned most_blocks);

}  // namespace cuda_on_cpu
