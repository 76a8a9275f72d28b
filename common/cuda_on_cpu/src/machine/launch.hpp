/// \file
/// A running launch, whose blocks are distributed over operating-system threads.

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

/// Whether host threads may still write a value that blocks wait for in loops.
enum class HelpOfHost { none, perhaps, sure };

struct Launch {
  std::string kernel;
  Configuration configuration;
  Invocation invocation;
  unsigned blocks;
  unsigned threads;             ///< number of threads per block
  std::uint32_t operation = 0;  ///< index of the operation in the order of its stream
  int device = 0;
  std::vector<std::uint32_t> beside = {};   ///< operations whose grids run concurrently with this
                                            ///< one
  std::function<bool()> call_others = {};   ///< starts launches of other devices or, if there are
                                            ///< none, more blocks of this launch; returns whether
                                            ///< more blocks of this launch began
  bool is_beside_host = false;              ///< whether the launch runs concurrently with the host
  HelpOfHost (*help_of_host)() = nullptr;   ///< estimates whether the host may still write an
                                            ///< awaited value; null if it cannot
  SideBySide* side_by_side = nullptr;       ///< schedules the blocks if the analysis leaves some of
                                            ///< them out
  std::shared_ptr<Children> children = {};  ///< child launches of its threads; null if there are
                                            ///< none
  std::atomic<bool> has_children = false;
  unsigned depth = 0;        ///< nesting depth: 0 for a launch by the host; for a launch by a
                             ///< kernel, one more than the depth of the parent
  std::uint32_t record = 0;  ///< index of the kernel in the record of the analysis
  std::atomic<std::uint64_t> barriers = 0;
  std::atomic<bool> failed = false;
  bool on_trial = false;                         ///< whether the blocks of the launch run
                                                 ///< speculatively
  std::atomic<bool> trial_is_over = false;       ///< whether the speculation has ended, because the
                                                 ///< order of blocks may matter
  cudaError_t failure = cudaErrorLaunchTimeout;  ///< the error that the runtime returns if the
                                                 ///< launch fails
};

using Launches = std::vector<std::unique_ptr<Launch>>;

/// Adds launches that are to run concurrently with the running ones.
/// \returns false if the devices have failed
using CallOthers = std::function<bool(Launches& more)>;

/// Runs all blocks of one launch, or of several cooperative launches whose grids may wait for each
/// other. If blocks of a non-cooperative launch without clusters wait in loops, the function calls
/// `call_others`.
/// \returns whether all blocks ran to their end
bool run(Launches& launches, const CallOthers& call_others);

/// The number of operating-system threads that run blocks, in addition to the calling host thread.
unsigned helping_threads();

/// The number of blocks in the cluster of the running block.
unsigned cluster_size();

/// Whether an address is the result of mapping shared memory to a block rank that the cluster does
/// not have.
bool is_of_no_block(const void* address);

/// Whether CUDA allows the shapes of the grid and of the block.
bool is_valid(const Configuration& configuration);

/// Whether the clusters of the grid have more than one block.
bool has_clusters(const Configuration& configuration);

/// Whether the grid consists of whole clusters of at most `most_blocks` blocks.
bool has_whole_clusters(const Configuration& configuration, unsigned most_blocks);

}  // namespace cuda_on_cpu
