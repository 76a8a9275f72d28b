/// \file
/// Runs stage programs on one problem and holds each to stage zero, or to another reference.

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

/// The problem that all stages are run on, and how often.
struct RunSettings {
  std::string dataset;                   ///< empty for the workload's default
  std::vector<std::string> assignments;  ///< key=value
  /// Others for the stage that the others are held to, such as on how many GPUs it solves.
  std::vector<std::string> reference_assignments;
  std::vector<std::string> inputs;  ///< .npy files, or none
  std::string precision = "f64";
  int repeat = 5;
  int warmup = 1;
  int ranks = 1;       ///< of a stage that runs on ranks
  bool awake = false;  ///< whether a GPU is woken before the phase that is timed
};

/// The data set that every workload has for checks: so small that the CPU device is quick with it.
inline constexpr const char* reduced_dataset = "tiny";

/// How a stage's run ended.
enum class Verdict {
  reference,         ///< the reference in f64, which the others are held to
  matches,           ///< within the tolerance of the reference
  differs,           ///< solved, but not what the reference computes
  failed,            ///< did not solve
  not_available,     ///< it lacks hardware or the precision
  not_for_this_size  ///< the problem is larger than its idea fits
};

std::string name_of(Verdict verdict);

/// What the reference is called unless another stage was asked for.
inline constexpr const char* stage_zero = "stage zero";

/// What came out of running one stage.
struct Outcome {
  Program program;
  std::string reference;  ///< what it is held to: stage zero, or the name of a stage
  Verdict verdict;
  double error;                   ///< against the reference; NaN if there is nothing to compare
  std::string reason;             ///< a sentence, unless the stage matches
  nlohmann::ordered_json record;  ///< what `--json` wrote, null if it did not solve

  bool ran() const { return record.is_object(); }
  bool solved() const { return verdict == Verdict::reference || verdict == Verdict::matches; }
  bool refused() const {
    return verdict == Verdict::not_available || verdict == Verdict::not_for_this_size;
  }
  double median() const { return record.at("seconds").at("median").get<double>(); }
  Summary seconds() const;
  /// The median time of whole solves, if the stage is compared by one of their phases.
  std::optional<double> in_all() const;
};

/// Runs the stages of one workload on one problem.
class Measurement {
 public:
  /// Called with a line that says what is running, again and again.
  using Progress = std::function<void(const std::string&)>;

  /// \param zero stage zero of the workload
  /// \param reference what the stages are held to: stage zero, or where that takes too long a stage
  ///                  that can be trusted
  Measurement(Program zero, Program reference, RunSettings settings, Progress progress);

  /// The stage that the others are held to.
  const Program& reference() const { return reference_; }

  /// Runs a stage; runs the reference in f64 first if its solution is not there yet.
  Outcome run(const Program& program);

  /// Whether a program was built that analyses a stage's accesses.
  static bool can_analyse(const Program& program);

  /// Has the CPU device analyse a stage's accesses; nothing if no program for that was built.
  std::optional<Analysis> analyse(const Program& program);

  /// The median time of stage zero in the precision asked for, in seconds; where it was not
  /// measured, the time of a single run; 0 where it lacks the precision, or was not measured and is
  /// not the reference.
  double zero_median();

 private:
  Outcome unsolved(const Program& program, Verdict verdict, const std::string& reason) const;
  std::optional<ProcessResult> solve(const Program& program, const RunSettings& settings,
                                     const std::vector<std::string>& command);
  Outcome execute(const Program& program, const RunSettings& settings);
  Outcome run_once(const Program& program, RunSettings once, const std::string& precision);
  void compare_with_reference(Outcome& outcome, const NpyArray& solution);
  void need_reference();

  Program zero_;
  Program reference_;
  RunSettings settings_;
  Progress progress_;
  TemporaryDirectory directory_;
  NpyArray expected_;       // the reference's solution in f64, once it is there
  double zero_median_ = 0;  // 0 until stage zero has run
};

}  // namespace staircase
