/// \file
/// The command line of a stage program, and the selection of the problem.

#pragma once

#include <optional>
#include <string>
#include <vector>
#include "stage_program.hpp"

namespace staircase {

/// The options of the command line, as texts.
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

/// Reads the command line. For --help, prints the help text and returns an empty optional.
/// \throws BadInput if an argument is unknown or lacks its value
std::optional<StageOptions> read_options(int argc, char** argv, const StageProgram& program);

/// Sets the problem of the program from the options: data set, parameters and input files.
/// \returns the name of the data set, or "custom" if parameters or input files were given
/// \throws BadInput if a value is not allowed or an input file cannot be used
/// \throws NotAvailable if the problem exceeds the limits of the stage
std::string make_problem(const StageProgram& program, const StageOptions& options,
                         Precision precision);

}  // namespace staircase
