/// \file
/// The description of a stage program (`--describe`), and its names.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include "stage_program.hpp"

namespace staircase {

using Json = nlohmann::ordered_json;

/// The names of a stage, which follow from the path of its source,
/// stages/<workload>/<stage>/<file>.
struct StageNames {
  std::string workload;
  std::string stage;
  std::string source;   ///< path from the root of the repository
  std::string program;  ///< <workload>-<stage>, or <workload>-<stage>-cpu on the CPU device
};

/// The names of a program's stage.
StageNames names_of(const StageProgram& program);

/// "f64" or "f32".
std::string name_of(Precision precision);

/// The parameters as a JSON object; values of integer parameters are JSON integers.
Json parameters_json(const StageProgram& program, const std::vector<double>& values);

/// The largest values of parameters that the stage accepts, by name of the parameter; only
/// parameters for which the stage has a lower limit than the workload.
std::map<std::string, double> limits_of(const StageProgram& program);

/// The JSON that `--describe` prints. It contains the tolerance for the default data set.
Json describe(const StageProgram& program);

}  // namespace staircase
