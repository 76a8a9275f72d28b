/// \file
/// The options of the runner.

#pragma once

#include <string>
#include <vector>

namespace staircase {

/// The options as strings. The code that uses an option converts and checks its value.
struct Options {
  std::vector<std::string> workloads;
  std::string stages, reference, device = "all", datasets, precisions = "f64";
  std::vector<std::string> assignments, reference_assignments;
  std::vector<std::string> inputs;
  std::string repeat = "5", warmup = "1", ranks, json;
  std::string programs, source;
  bool awake = false, step = false, list = false, targets = false;
};

}  // namespace staircase
