/// \file
/// What the CPU device counts and finds when a stage's accesses are analysed.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace staircase {

/// Requests of warps to global memory, and the sectors of 32 bytes that they move.
struct Sectors {
  double requests = 0;
  double moved = 0;
  double ideal = 0;  ///< the fewest that hold what the requests ask for
};

/// What the report of an analysis says.
struct Analysis {
  std::optional<Sectors> sectors;  ///< over all kernels; nothing if no access was counted
  std::string error;               ///< the first error that was found, a sentence; else empty
};

/// Reads the report of an analysis; nothing if there is none.
std::optional<Analysis> read_analysis(const std::filesystem::path& report);

}  // namespace staircase
