/// \file
/// What `slice --check` prints.

#pragma once

#include <nlohmann/json.hpp>

#include "dependence.hpp"
#include "legality.hpp"
#include "nest.hpp"

namespace slicer {

/// What was found in a file: functions, what is known of their loops, what may be done with them,
/// and pragmas without a loop.
struct Checked {
  std::string file;
  std::vector<std::pair<const Function*, std::vector<Finding>>> functions;
  std::vector<std::pair<const Loop*, std::vector<Ruling>>> rulings;
  std::vector<const Pragma*> lost;

  /// Whether a claim of OpenMP is, or a transformation that is asked for.
  bool is_refuted(bool with_reductions) const;
};

/// \throws BadInput if a transformation is asked for where there is no loop
Checked check(const std::string& file, const Source& source, const std::list<Function>& functions,
              const Requests& requests);

std::string text_of(const Checked& checked, bool with_reductions);

nlohmann::ordered_json json_of(const Checked& checked);

}  // namespace slicer
