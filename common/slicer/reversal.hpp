/// \file
/// What follows from pairs of iterations that change places.

#pragma once

#include <functional>
#include <vector>

#include "legality.hpp"
#include "pairs.hpp"

namespace slicer {

/// What cannot be told, and why.
Ruling unknown(const Request& request, std::string why);

/// \param conflicts the pairs that a transformation would reverse
/// \param expandable whether a conflict is gone once its variable is expanded
Ruling ruling_of(const Request& request, const Pairs& pairs, const std::vector<Conflict>& conflicts,
                 const std::function<bool(const Conflict&)>& expandable);

}  // namespace slicer
