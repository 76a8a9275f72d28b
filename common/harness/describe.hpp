/// \file
/// What a stage program says of itself: `--describe`, the records of `--json`, and its names.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include "stage_program.hpp"

namespace staircase {

using Json = nlohmann::ordered_json;

/// The names that a stage gets from the place of its source, stages/<workload>/<stage>/<file>.
struct StageNames {
  std::string workload;
  std::string stage;
  std::string source;   ///< path from the root of the repository
  std::string program;  ///< <workload>-<stage>, with -cpu behind it on the CPU device
};

StageNames names_of(const StageProgram& program);

std::string name_of(Precision precision);

/// The parameters as a JSON object; whole numbers stay whole.
Json parameters_json(const StageProgram& program, const std::vector<double>& values);

/// The most that a stage takes of a parameter, by name, where others take more.
std::map<std::string, double> limits_of(const StageProgram& program);

/// What `--describe` prints; its tolerance is that of the default data set.
Json describe(const StageProgram& program);

}  // namespace staircase
