/// \file
/// Runs stage programs on one problem, and checks each result against a reference, usually stage
/// zero.

#pragma once

#include <functional>
#include <harness/compare.hpp>
#include <harness/file.hpp>
#include <harness/process.hpp>
#include <harness/statistics.hpp>
#include <optional>

#include "analysis.hpp"
#include "programs.hpp"

namespace staircase {

/// The problem that all stages solve, and the settings of the measurement.
struct RunSettings {
  std::string dataset;                   ///< name; empty for the workload's default
  std::vector<std::string> assignments;  ///< key=value
  /// Additional assignments for the reference stage only, for example its number of GPUs.
  std::vector<std::string> reference_assignments;
  std::vector<std::string> inputs;  ///< paths of .npy files; may be empty
  std::string precision = "f64";
  int repeat = 5;
  int warmup = 1;
  int ranks = 1;       ///< number of processes of a stage with MPI ranks
  bool awake = false;  ///< whether to run an empty GPU kernel before the timed phase
};

/// The data set for checks, which every workload provides. This data set is small enough for the
/// CPU device.
inline constexpr const char* reduced_dataset = "tiny";

/// Whether a stage could run, and whether its solution matches the reference.
enum class Verdict {
  reference,         ///< the stage is the reference itself, in f64
  matches,           ///< the error does not exceed the tolerance
  differs,           ///< the stage computed a solution, but its error exceeds the tolerance
  failed,            ///< the program ended with an error
  not_available,     ///< missing hardware, or an unsupported precision
  not_for_this_size  ///< the problem exceeds the limits of the stage
};

/// Returns a verdict in words, for example "matches" or "not available".
std::string name_of(Verdict verdict);

/// The name of the reference in messages, unless the user selected another stage as the reference.
inline constexpr const char* stage_zero = "stage zero";

/// The result of running a stage once.
struct Outcome {
  Program program;
  std::string reference;  ///< name of the reference: "stage zero" or a stage
  Verdict verdict;
  double error;                   ///< difference from the reference; NaN if not compared
  std::string reason;             ///< a sentence about the verdict; empty if the stage matches
  nlohmann::ordered_json record;  ///< output of `--json`; null without a solution

  bool ran() const { return record.is_object(); }
  bool solved() const { return verdict == Verdict::reference || verdict == Verdict::matches; }
  bool refused() const {
    return verdict == Verdict::not_available || verdict == Verdict::not_for_this_size;
  }
  double median() const { return record.at("seconds").at("median").get<double>(); }
  Summary seconds() const;
  /// The median time of the complete solves in seconds. The value is present only if the stages are
  /// compared by the time of one phase.
  std::optional<double> total_seconds() const;
};

/// Runs the stages of one workload on one problem.
class Measurement {
 public:
  /// A function that is called repeatedly while a program runs. Its argument is a line with the
  /// name of the program and the elapsed seconds.
  using Progress = std::function<void(const std::string&)>;

  /// \param zero stage zero of the workload
  /// \param reference the stage against which all others are checked: stage zero, or another
  /// correct stage if stage zero would take too long
  Measurement(Program zero, Program reference, RunSettings settings, Progress progress);

  /// The stage against which all others are checked.
  const Program& reference() const { return reference_; }

  /// Runs a stage and checks its solution. If there is no reference solution yet, the reference
  /// runs first, in f64.
  Outcome run(const Program& program);

  /// Whether the program that analyses the memory accesses of a stage has been built.
  static bool can_analyse(const Program& program);

  /// Analyses the memory accesses of a stage on the CPU device. The result is empty if
  /// can_analyse() is false.
  std::optional<Analysis> analyse(const Program& program);

  /// The median time of stage zero, in seconds, in the chosen precision. If stage zero is the
  /// reference but was not timed, this is the time of one solve. The result is 0 if the time is
  /// unknown.
  double zero_median();

 private:
  Outcome unsolved(const Program& program, Verdict verdict, const std::string& reason) const;
  std::optional<ProcessResult> solve(const Program& program, const RunSettings& settings,
                                     const std::vector<std::string>& command);
  Outcome execute(const Program& program, const RunSettings& settings);
  Outcome run_once(const Program& program, RunSettings once, const std::string& precision);
  void compare_with_reference(Outcome& outcome, const NpyArray& solution);
  void ensure_reference();

  Program zero_;
  Program reference_;
  RunSettings settings_;
  Progress progress_;
  TemporaryDirectory directory_;
  NpyArray expected_;       // solution of the reference in f64; empty before its run
  double zero_median_ = 0;  // seconds; 0 before stage zero has run
};

}  // namespace staircase
