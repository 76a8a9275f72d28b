/// \file
/// A stage without its type of problem (type erasure), so that the harness is compiled only once.

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

/// A parameter of a problem. The values are double, which represents integers up to 2^53 exactly.
struct ParameterInfo {
  std::string name;
  bool integer;
  double min;
  double max;
  std::string help;
};

/// The parameter values of a named problem, in the order of the workload's parameters.
struct NamedValues {
  std::string name;
  std::vector<double> values;
};

/// The format of an input array for `--input`.
struct InputFormat {
  std::size_t rank;     ///< number of dimensions; the minimum if `greatest_rank` is larger
  double min;           ///< smallest allowed value of an element
  double max;           ///< largest allowed value of an element
  double typical;       ///< tests use values from max(-typical, min) to `typical`
  std::string meaning;  ///< description for the help text and messages, such as "the matrix A"
  std::size_t least_elements = 1;               ///< minimum number of elements per row
  std::size_t most_elements = ~std::size_t{0};  ///< maximum number of elements per row
  std::optional<double> first =
      {};  ///< value of the first element of each row in tests, if it is fixed
  /// The names of the extents, if the problem has several input arrays. Tests use equal values for
  /// extents with equal names.
  std::vector<std::string> extents = {};
  std::size_t greatest_rank = rank;  ///< maximum number of dimensions
};

/// A stage, and the problem that the command line has selected.
struct StageProgram {
  std::string source_file;
  const Device* device;
  std::string title;
  std::string idea;
  std::string needs;  ///< required hardware in addition to a GPU; may be empty
  std::string note;
  std::set<std::string> threaded;     ///< stages whose ranks have several threads each
  std::vector<Precision> precisions;  ///< supported precisions; the first is the default
  std::vector<ParameterInfo> parameters;
  std::vector<NamedValues> datasets;
  std::vector<NamedValues> test_cases;
  std::vector<InputFormat> inputs;  ///< one format for each `--input`, in this order
  std::function<void(const std::vector<double>&)> set_values;
  std::function<std::vector<double>()> values;
  std::function<void(std::vector<NpyArray>)> set_inputs;
  std::function<void(Precision)> check;
  std::function<void(Precision)> prepare;  ///< generates the input; empty if not needed
  std::function<Work(Precision)> work;
  std::function<Tolerance(Precision)> tolerance;
  std::string timed_phase;  ///< the phase whose time is compared; empty for the complete solve
  std::function<void(const NpyArray&)> check_solution;  ///< empty if every problem has a solution
  /// The number of elements that the kernels of a stage read and write; empty if the number is
  /// unknown.
  std::function<std::optional<double>(const std::string& stage)> traffic;
  /// Maps the name of a stage, and then the name of a parameter, to the largest value that the
  /// stage accepts. Contains only limits below the parameter's `max`.
  std::map<std::string, std::map<std::string, double>> limits;
  std::function<void(NpyArray&)> finish;  ///< converts the solution for users; may be empty
  std::function<Part()> part;             ///< returns the part of this rank; empty without ranks
  std::function<NpyArray(Precision, Timeline&)> solve;
};

/// Runs the program of a stage and returns the exit status.
int run_program(int argc, char** argv, const StageProgram& program);

}  // namespace staircase
