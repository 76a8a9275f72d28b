/// \file
/// Runs the stages of one workload on one problem and shows them as a table or one at a time.

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
/// On a machine without a GPU, stages for the GPU run on the CPU device with the reduced data set.
class Ladder {
 public:
  /// Receives the output piece by piece.
  using Print = std::function<void(const std::string&)>;

  /// \param all every program of the workload, stage zero first
  /// \param recordings times that are shown for GPU stages on a machine without a GPU
  /// \throws BadInput if the options select no stage or no reference
  Ladder(const std::vector<Program>& all, const Options& options, RunSettings settings,
         const Ceilings& ceilings, const Recordings& recordings);

  /// Runs every chosen stage and prints the table line by line; a progress line shows the running
  /// stage. Nothing is printed before the first stage has run, since that stage may reject the
  /// problem.
  void run(const Print& print);

  /// For each stage: prints its idea and diff, runs it, prints the verdict and waits for a key.
  void walk();

  /// The records of the stages that have run, as `--json` writes them.
  nlohmann::ordered_json json() const;

  /// Whether at least one stage has run and all of them match the reference. Stages that are not
  /// available on this machine are ignored.
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
  Measurement reduced_;  // on the CPU device
  std::vector<Program> chosen_;
  std::vector<Row> rows_;
  std::map<std::string, double> medians_;  // by stage
};

}  // namespace staircase
