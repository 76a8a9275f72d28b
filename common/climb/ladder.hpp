/// \file
/// Runs the stages of one workload on one problem, and shows the results in a table or one stage at
/// a time.

#pragma once

#include <ceilings.hpp>
#include <functional>
#include <map>

#include "measure.hpp"
#include "options.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace staircase {

/// Runs the chosen stages of one workload on one data set in one precision.
///
/// On a machine without a GPU, stages for the GPU run on the CPU device, with the reduced data set.
class Ladder {
 public:
  /// A function that prints a part of the output.
  using Print = std::function<void(const std::string&)>;

  /// \param all all programs of the workload, stage zero first
  /// \param recordings recorded times, which are shown for GPU stages on a machine without a GPU
  /// \throws BadInput if the options select no stage or no reference
  Ladder(const std::vector<Program>& all, const Options& options, RunSettings settings,
         const Ceilings& ceilings, const Recordings& recordings);

  /// Runs the chosen stages and prints the table line by line. A progress line shows the running
  /// stage. Nothing is printed before the first stage has run, because this stage may reject the
  /// problem.
  void run(const Print& print);

  /// For each stage: prints its idea and its diff, runs the stage, prints the verdict and waits for
  /// a key.
  void walk();

  /// The records of all stages that have run, in the format of `--json`.
  nlohmann::ordered_json json() const;

  /// Whether at least one stage has run and all results match the reference. Stages that are not
  /// available on this machine or for this size are ignored.
  bool all_well() const;

 private:
  std::string dataset() const;
  const Program* find(const std::string& stage, const std::string& device) const;
  const Program* before(const Program& program) const;
  std::filesystem::path source_of(const Program& program) const;
  bool is_custom() const;
  bool analyses() const;
  TableContents contents() const;
  bool takes_problem(const Program& program) const;
  Row outcome_of(const Program& program);
  Row check(const Program& program);
  void add_row(const Program& program);
  std::optional<Recorded> recorded(const Program& program) const;
  void compare_with_ceilings(Row& row) const;
  std::string problem() const;
  std::string heading() const;
  std::string introduction(const Program& program) const;
  std::string compared(const Program& program, double over_zero, double over_previous) const;
  std::string verdict_text(const Row& row) const;

  std::vector<Program> all_;
  const Options& options_;
  RunSettings settings_;
  const Ceilings& ceilings_;
  const Recordings& recordings_;
  ProgressLine progress_;
  Measurement measurement_;
  Measurement reduced_;  // for the CPU device
  std::vector<Program> chosen_;
  std::vector<Row> rows_;
  std::map<std::string, double> medians_;  // by the name of the stage
};

}  // namespace staircase
