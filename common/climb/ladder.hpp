/// \file
/// The stages of one workload on one problem: run, printed as a table, or walked one by one.

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
/// A stage for the GPU that finds none is run on the CPU device instead, on the reduced data set.
class Ladder {
 public:
  /// Takes a part of what is shown.
  using Print = std::function<void(const std::string&)>;

  /// \param all every program of the workload, stage zero first
  /// \param recordings what is shown of stages for a GPU where there is none
  /// \throws BadInput if the options choose no stage, or no reference
  Ladder(const std::vector<Program>& all, const Options& options, RunSettings settings,
         const Ceilings& ceilings, const Recordings& recordings);

  /// Runs every chosen stage, with a progress line, and prints the table: each line once its stage
  /// has run, and nothing before the first has, which may refuse the problem.
  void run(const Print& print);

  /// Walks: idea, diff, run and verdict of each stage, then waits for a key.
  void walk();

  /// The records of the stages that have run.
  nlohmann::ordered_json json() const;

  /// Whether every stage matches the reference. A stage whose hardware is missing does not count,
  /// but one at least must have run.
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
  std::string compared(const Program& program, double over_zero, double over_step) const;
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
