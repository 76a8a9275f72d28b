/// \file
/// The description of a stage program, which `--describe` prints, and the names of the program.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include "stage_program.hpp"

namespace staircase {

using Json = nlohmann::ordered_json;

/// The names of a stage. The names follow from the path of the source,
/// stages/<workload>/<stage>/<file>. The source of the stage baseline_<name> is
/// stages/<workload>/baselines/<name>.cpp or .cu.
struct StageNames {
  std::string workload;
  std::string stage;
  std::string source;   ///< path from the root of the repository
  std::string program;  ///< <workload>-<stage>, or <workload>-<stage>-cpu on the CPU device
};

/// Returns the names of the stage of a program.
StageNames names_of(const StageProgram& program);

/// Returns "f64" or "f32".
std::string name_of(Precision precision);

/// The parameters as a JSON object. Integer parameters have JSON integers as values.
Json parameters_json(const StageProgram& program, const std::vector<double>& values);

/// Maps the name of a parameter to the largest value that the stage accepts. The map contains only
/// parameters whose limit is lower in this stage than in the workload.
std::map<std::string, double> limits_of(const StageProgram& program);

/// The JSON that `--describe` prints. The JSON contains the tolerance for the default data set.
Json describe(const StageProgram& program);

}  // namespace staircase
