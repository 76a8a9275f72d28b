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

/// The ruling on a transformation, based on the dependences that it would reverse.
/// \param conflicts the pairs of iterations that the transformation would reverse
/// \param expandable whether expanding the variable of a conflict would remove the conflict
Ruling ruling_of(const Request& request, const Pairs& pairs, const std::vector<Conflict>& conflicts,
                 const std::function<bool(const Conflict&)>& expandable);

}  // namespace slicer
