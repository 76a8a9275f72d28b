/// \file
/// The cache of measured ceilings: files in $XDG_CACHE_HOME/staircase or ~/.cache/staircase.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staircase {

/// The stored ceilings of a device; null if there are none or they cannot be read.
nlohmann::ordered_json read_cache(const std::string& device);

/// Stores the ceilings of a device; does nothing if the cache cannot be written.
void write_cache(const std::string& device, const nlohmann::ordered_json& ceilings);

}  // namespace staircase
