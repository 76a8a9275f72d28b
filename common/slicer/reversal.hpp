/// \file
/// The verdict on a transformation, from the dependences that it reverses.

#pragma once

#include <functional>
#include <vector>

#include "legality.hpp"
#include "pairs.hpp"

namespace slicer {

/// The ruling *unknown* with its reason.
Ruling unknown(const Request& request, std::string why);

/// The ruling on a transformation.
/// \param conflicts the pairs of iterations that the transformation would reverse
/// \param expandable whether the expansion of its variable would remove a conflict
Ruling ruling_of(const Request& request, const Pairs& pairs, const std::vector<Conflict>& conflicts,
                 const std::function<bool(const Conflict&)>& expandable);

}  // namespace slicer
