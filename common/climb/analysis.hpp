/// \file
/// The report of the CPU device on the memory accesses of a stage.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace staircase {

/// Requests of warps to global memory, and the sectors (32 bytes each) that they move. The counts
/// are sums over all kernels of a run.
struct Sectors {
  double requests = 0;
  double moved = 0;
  double ideal = 0;  ///< the fewest sectors that contain the requested bytes
};

/// The parts of a report that the runner shows.
struct Analysis {
  std::optional<Sectors> sectors;  ///< empty if no access was counted
  std::string error;               ///< the first error as a sentence; empty if there is none
};

/// Reads a report (JSON); empty if the file does not exist or is not a JSON object.
std::optional<Analysis> read_analysis(const std::filesystem::path& report);

}  // namespace staircase
