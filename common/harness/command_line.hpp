/// \file
/// The command line of a stage program, and the problem that it asks for.

#pragma once

#include <optional>
#include <string>
#include <vector>
#include "stage_program.hpp"

namespace staircase {

/// What the command line says, as text.
struct StageOptions {
  std::string dataset;
  std::vector<std::string> assignments;
  std::vector<std::string> inputs;
  std::string output, json;
  std::string precision, repeat = "1", warmup = "0";
  std::string report, blocks;
  bool analyze = false;
  bool awake = false;
  bool describe = false;
};

/// Reads the command line; nothing if only help was asked for.
/// \throws BadInput if an argument is unknown or lacks its value
std::optional<StageOptions> read_options(int argc, char** argv, const StageProgram& program);

/// Sets the program's problem to what the options ask for; returns the name of its data set.
/// \throws BadInput if a value is not allowed or the input file cannot be used
std::string make_problem(const StageProgram& program, const StageOptions& options,
                         Precision precision);

}  // namespace staircase
