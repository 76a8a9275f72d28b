/// \file
/// Where measured ceilings are kept: $XDG_CACHE_HOME/staircase, or ~/.cache/staircase.

#pragma once

#include <optional>
#include <staircase/machine.hpp>

#include "ceilings.hpp"

namespace staircase {

/// The ceilings stored for this machine, if there are any that can be read.
std::optional<Ceilings> read_cache(const Machine& machine);

/// Stores the ceilings; does nothing where the cache cannot be written.
void write_cache(const Machine& machine, const Ceilings& ceilings);

}  // namespace staircase
