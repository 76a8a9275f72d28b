/// \file
/// A stage with its type of problem erased, so that the harness is compiled only once.

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

/// A parameter of a problem. Values are double; integers up to 2^53 are exact.
struct ParameterInfo {
  std::string name;
  bool integer;
  double min;
  double max;
  std::string help;
};

/// The values of the parameters of a named problem, in the order of the workload's parameters.
struct NamedValues {
  std::string name;
  std::vector<double> values;
};

/// The format of an array that `--input` reads.
struct InputFormat {
  std::size_t rank;     ///< number of dimensions; the smallest one if `greatest_rank` is larger
  double min;           ///< smallest allowed value of an element
  double max;           ///< largest allowed value of an element
  double typical;       ///< tests use values up to this, from the larger of -typical and min
  std::string meaning;  ///< description for the help text and messages, such as "the matrix A"
  std::size_t least_elements = 1;               ///< smallest allowed length of a row
  std::size_t most_elements = ~std::size_t{0};  ///< largest allowed length
  std::optional<double> first =
      {};  ///< value of the first element of each row in tests, if it is special
  /// Names of the extents, if the problem has several arrays. Tests use equal values for extents of
  /// equal names.
  std::vector<std::string> extents = {};
  std::size_t greatest_rank = rank;  ///< largest allowed number of dimensions
};

/// A stage and its current problem, which the command line selects.
struct StageProgram {
  std::string source_file;
  const Device* device;
  std::string title;
  std::string idea;
  std::string needs;  ///< hardware that it needs in addition to a GPU; may be empty
  std::string note;
  std::set<std::string> threaded;     ///< stages whose ranks have several threads each
  std::vector<Precision> precisions;  ///< the precisions that it offers; the first is the default
  std::vector<ParameterInfo> parameters;
  std::vector<NamedValues> datasets;
  std::vector<NamedValues> test_cases;
  std::vector<InputFormat> inputs;  ///< one for each `--input`, in this order
  std::function<void(const std::vector<double>&)> set_values;
  std::function<std::vector<double>()> values;
  std::function<void(std::vector<NpyArray>)> set_inputs;
  std::function<void(Precision)> check;
  std::function<void(Precision)> prepare;  ///< generates the input; empty if there is none
  std::function<Work(Precision)> work;
  std::function<Tolerance(Precision)> tolerance;
  std::string timed_phase;  ///< the phase whose time is compared; empty for the solve
  std::function<void(const NpyArray&)> check_solution;  ///< empty if every input has a solution
  /// Number of elements that the kernels of a stage read and write; empty if it is unknown.
  std::function<std::optional<double>(const std::string& stage)> traffic;
  /// By stage: the largest values of parameters that it accepts, by name, if less than `max`.
  std::map<std::string, std::map<std::string, double>> limits;
  std::function<void(NpyArray&)> finish;  ///< converts the solution for users; empty if not needed
  std::function<Part()> part;             ///< the part of this rank; empty without ranks
  std::function<NpyArray(Precision, Timeline&)> solve;
};

/// Runs the program of a stage; returns the exit status.
int run_program(int argc, char** argv, const StageProgram& program);

}  // namespace staircase
