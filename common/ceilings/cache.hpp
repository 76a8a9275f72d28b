/// \file
/// The cache of measured ceilings: files in $XDG_CACHE_HOME/staircase or in ~/.cache/staircase.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staircase {

/// Returns the stored ceilings of a device. The result is null if nothing is stored, or if the file
/// cannot be read.
nlohmann::ordered_json read_cache(const std::string& device);

/// Stores the ceilings of a device. Has no effect if the cache cannot be written.
void write_cache(const std::string& device, const nlohmann::ordered_json& ceilings);

}  // namespace staircase
