/// \file
/// Legality of loop transformations: whether they keep the order of every dependence.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dependence.hpp"
#include "requests.hpp"

namespace slicer {

enum class Legality {
  legal,
  reduction,   ///< only updates change their order: legal up to rounding
  illegal,     ///< a dependence would be reversed
  impossible,  ///< the loops do not have the required form
  unknown      ///< a subscript, bound or condition is not affine
};

/// The verdict on a requested transformation.
struct Ruling {
  Request request;
  Legality legality = Legality::unknown;
  std::optional<Pair> pair = {};  ///< a pair of iterations that the transformation would reverse
  std::string reason = {};
  std::vector<std::string> reductions = {};  ///< updates whose order changes
  std::vector<Assumption> assumptions = {};  ///< assumptions of the verdict `legal`

  /// Whether the transformation is refused. `with_reductions` permits a new order of reductions.
  bool is_refused(bool with_reductions) const;
};

/// Judges the transformations that are requested for a loop. Each transformation is applied to the
/// result of the previous ones, and only the final order of the iterations counts.
/// \throws BadInput if a request names a loop or a variable that does not exist
/// \param is_strict whether a verdict that would need an assumption is `unknown`
std::vector<Ruling> judge(const Function& function, const Loop& loop,
                          const std::vector<Request>& requests, bool is_strict = false);

std::string name_of(Legality legality);

}  // namespace slicer
