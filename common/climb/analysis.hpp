/// \file
/// Reads the CPU device's report on the memory accesses of a stage.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace staircase {

/// The number of requests of warps to global memory, and the number of sectors (32 bytes each) that
/// these requests transfer. The counts are sums over all kernels of a run.
struct Sectors {
  double requests = 0;
  double moved = 0;
  double ideal = 0;  ///< smallest number of sectors that can contain the requested bytes
};

/// The part of a report that the runner shows.
struct Analysis {
  std::optional<Sectors> sectors;  ///< empty if no access was counted
  std::string error;               ///< a sentence about the first error; empty if there is none
};

/// Reads a JSON report. The result is empty if the file does not exist or does not contain a JSON
/// object.
std::optional<Analysis> read_analysis(const std::filesystem::path& report);

}  // namespace staircase
