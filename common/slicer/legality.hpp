/// \file
/// Whether transformations of loops keep the order of what depends on each other.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dependence.hpp"
#include "requests.hpp"

namespace slicer {

enum class Legality {
  legal,
  reduction,   ///< only the order of sums or the like changes: legal up to rounding
  illegal,     ///< a dependence would be reversed
  impossible,  ///< the loops have not the form that it needs
  unknown      ///< beyond affine
};

/// What is said of a transformation.
struct Ruling {
  Request request;
  Legality legality = Legality::unknown;
  std::optional<Pair> pair = {};  ///< which the transformation would reverse
  std::string reason = {};
  std::vector<std::string> reductions = {};  ///< whose order it changes

  /// Whether it may not be done; reductions may be, if the user says so.
  bool is_refused(bool with_reductions) const;
};

/// Rules on what is asked for of a loop. Each transformation is judged behind those before it: what
/// counts is the order of iterations in the end.
/// \throws BadInput if a loop or a variable that is named is not there
std::vector<Ruling> judge(const Function& function, const Loop& loop,
                          const std::vector<Request>& requests);

std::string name_of(Legality legality);

}  // namespace slicer
