/// \file
/// What `slice --check` prints.

#pragma once

#include <nlohmann/json.hpp>

#include "dependence.hpp"
#include "nest.hpp"

namespace slicer {

/// What was found in a file: functions, what is known of their loops, and pragmas without a loop.
struct Checked {
  std::string file;
  std::vector<std::pair<const Function*, std::vector<Finding>>> functions;
  std::vector<const Pragma*> lost;

  bool is_refuted() const;
};

Checked check(const std::string& file, const Source& source, const std::list<Function>& functions);

std::string text_of(const Checked& checked, bool with_reductions);

nlohmann::ordered_json json_of(const Checked& checked);

}  // namespace slicer
