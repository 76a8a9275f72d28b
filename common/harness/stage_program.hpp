/// \file
/// A stage whose problem's type is erased, so that the harness is compiled once.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "npy.hpp"
#include "ranks.hpp"
#include "recorded_timeline.hpp"
#include "work.hpp"

namespace staircase {

/// A parameter whose problem's type is erased; integers up to 2^53 are exact.
struct ParameterInfo {
  std::string name;
  bool integer;
  double min;
  double max;
  std::string help;
};

/// The parameters of a named problem, in the order of the workload's parameters.
struct NamedValues {
  std::string name;
  std::vector<double> values;
};

/// An array that `--input` reads.
struct InputFormat {
  std::size_t rank;     ///< number of dimensions, the least if `greatest_rank` is more
  double min;           ///< the least value allowed
  double max;           ///< the greatest value allowed
  double typical;       ///< tests draw values up to this, from its negative or min if greater
  std::string meaning;  ///< what it holds, for the help text
  std::size_t least_elements = 1;               ///< the fewest elements of a row allowed
  std::size_t most_elements = ~std::size_t{0};  ///< the most
  std::optional<double> first = {};  ///< what tests make the first of a row, if it is special
  /// Names of its extents, where a problem has several such arrays: tests make those equal that
  /// have the same name.
  std::vector<std::string> extents = {};
  std::size_t greatest_rank = rank;  ///< the most dimensions allowed
};

/// A stage on a problem that the command line chooses.
struct StageProgram {
  std::string source_file;
  const Device* device;
  std::string title;
  std::string idea;
  std::string needs;  ///< the hardware that it needs beside a GPU, or empty
  std::string note;
  std::set<std::string> threaded;     ///< stages whose ranks have several threads each
  std::vector<Precision> precisions;  ///< that it offers; the first is the default
  std::vector<ParameterInfo> parameters;
  std::vector<NamedValues> datasets;
  std::vector<NamedValues> test_cases;
  std::vector<InputFormat> inputs;  ///< one for each `--input`, in their order
  std::function<void(const std::vector<double>&)> set_values;
  std::function<std::vector<double>()> values;
  std::function<void(std::vector<NpyArray>)> set_inputs;
  std::function<void(Precision)> check;
  std::function<void(Precision)> prepare;  ///< makes the input; empty if there is nothing to make
  std::function<Work(Precision)> work;
  std::function<Tolerance(Precision)> tolerance;
  std::string timed_phase;  ///< by whose time stages are compared; empty for the whole solve
  std::function<void(const NpyArray&)> check_solution;  ///< empty if every input has a solution
  /// The numbers that the kernels of a stage read and write, each once; nothing if none are known.
  std::function<std::optional<double>(const std::string& stage)> traffic;
  /// By stage, the most that it takes of a parameter, by name, if that is less than `max`.
  std::map<std::string, std::map<std::string, double>> limits;
  std::function<void(NpyArray&)> finish;  ///< empty if users read a solution as it is
  std::function<Part()> part;  ///< what a rank has of the problem's array; empty without ranks
  std::function<NpyArray(Precision, Timeline&)> solve;
};

/// Runs a stage whose types are erased; returns the exit status.
int run_program(int argc, char** argv, const StageProgram& program);

}  // namespace staircase
