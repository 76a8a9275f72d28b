/// \file
/// Where measured ceilings are kept: $XDG_CACHE_HOME/staircase, or ~/.cache/staircase.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staircase {

/// The ceilings stored for a device, or null if there are none that can be read.
nlohmann::ordered_json read_cache(const std::string& device);

/// Stores the ceilings of a device; does nothing where the cache cannot be written.
void write_cache(const std::string& device, const nlohmann::ordered_json& ceilings);

}  // namespace staircase
