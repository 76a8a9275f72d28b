/// \file
/// The report of `slice --check`.

#pragma once

#include <nlohmann/json.hpp>

#include "dependence.hpp"
#include "legality.hpp"
#include "nest.hpp"

namespace slicer {

/// The results for a file: its functions with the findings on their loops, the rulings on requested
/// transformations, and pragmas whose loop was not found.
struct Checked {
  std::string file;
  std::vector<std::pair<const Function*, std::vector<Finding>>> functions;
  std::vector<std::pair<const Loop*, std::vector<Ruling>>> rulings;
  std::vector<const Pragma*> lost;       ///< pragmas that make a loop parallel, but whose loop was
                                         ///< not found
  std::vector<const Pragma*> uncovered;  ///< other directives that the tool does not cover

  /// Whether a claim of OpenMP is refuted or a requested transformation is refused.
  bool is_refuted(bool with_reductions) const;
};

/// \throws BadInput if no loop follows the pragma of a requested transformation
/// \param is_strict whether a verdict that would need an assumption is `unknown`
Checked check(const std::string& file, const Source& source, const std::list<Function>& functions,
              const Requests& requests, bool is_strict);

std::string text_of(const Checked& checked, bool with_reductions);

nlohmann::ordered_json json_of(const Checked& checked);

/// The refuted and undecided pragmas, the refused transformations and the assumptions as SARIF.
nlohmann::ordered_json sarif_of(const Checked& checked, bool with_reductions);

}  // namespace slicer
