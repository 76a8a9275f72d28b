/// \file
/// Runs stage programs on one problem and checks each result against stage zero or another
/// reference.

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

/// The problem that all stages solve, and how often they solve it.
struct RunSettings {
  std::string dataset;                   ///< empty for the workload's default
  std::vector<std::string> assignments;  ///< key=value
  /// Further assignments for the reference stage only, for example the number of its GPUs.
  std::vector<std::string> reference_assignments;
  std::vector<std::string> inputs;  ///< .npy files, or none
  std::string precision = "f64";
  int repeat = 5;
  int warmup = 1;
  int ranks = 1;       ///< processes of a stage that runs on MPI ranks
  bool awake = false;  ///< whether an empty kernel runs on the GPU before the timed phase
};

/// The data set that every workload has for checks. It is small enough for the CPU device.
inline constexpr const char* reduced_dataset = "tiny";

/// How the run of a stage ended.
enum class Verdict {
  reference,         ///< this is the reference itself, in f64
  matches,           ///< differs from the reference by at most the tolerance
  differs,           ///< solved, but differs from the reference by more than the tolerance
  failed,            ///< ended with an error
  not_available,     ///< needs other hardware, or does not offer the precision
  not_for_this_size  ///< the problem exceeds the limits of the stage
};

/// A verdict in words: "matches", "not available".
std::string name_of(Verdict verdict);

/// How messages name the reference unless the user selected another stage.
inline constexpr const char* stage_zero = "stage zero";

/// The result of running one stage.
struct Outcome {
  Program program;
  std::string reference;  ///< what it is checked against: "stage zero" or the name of a stage
  Verdict verdict;
  double error;                   ///< difference from the reference; NaN if nothing was compared
  std::string reason;             ///< a sentence; empty if the stage matches
  nlohmann::ordered_json record;  ///< what `--json` wrote; null if it did not solve

  bool ran() const { return record.is_object(); }
  bool solved() const { return verdict == Verdict::reference || verdict == Verdict::matches; }
  bool refused() const {
    return verdict == Verdict::not_available || verdict == Verdict::not_for_this_size;
  }
  double median() const { return record.at("seconds").at("median").get<double>(); }
  Summary seconds() const;
  /// The median time of complete solves in seconds, if only one phase of a solve is timed; else
  /// empty.
  std::optional<double> total_seconds() const;
};

/// Runs the stages of one workload on one problem.
class Measurement {
 public:
  /// Called repeatedly while a program runs, with a line that names it and the seconds so far.
  using Progress = std::function<void(const std::string&)>;

  /// \param zero stage zero of the workload
  /// \param reference the stage that the others are checked against: stage zero, or a stage that is
  ///                  known to be correct where stage zero would take too long
  Measurement(Program zero, Program reference, RunSettings settings, Progress progress);

  /// The stage that the others are checked against.
  const Program& reference() const { return reference_; }

  /// Runs a stage and checks its solution. If the solution of the reference is still missing, the
  /// reference runs in f64.
  Outcome run(const Program& program);

  /// Whether the program that analyses the memory accesses of a stage has been built.
  static bool can_analyse(const Program& program);

  /// Analyses the memory accesses of a stage on the CPU device; empty if can_analyse() is false.
  std::optional<Analysis> analyse(const Program& program);

  /// The median time of stage zero in seconds in the chosen precision. If stage zero was not timed
  /// but is the reference, this is the time of one solve. 0 if the time is unknown.
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
  NpyArray expected_;       // the solution of the reference in f64; empty until it has run
  double zero_median_ = 0;  // 0 until stage zero has run
};

}  // namespace staircase
