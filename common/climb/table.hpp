/// \file
/// The table that the runner prints.

#pragma once

#include <optional>

#include "measure.hpp"
#include "recorded.hpp"
#include "source.hpp"

namespace staircase {

/// A stage's outcome with what the table sets beside it.
///
/// What ran on the CPU device is checked only: its time says nothing of the stage.
struct Row {
  Outcome outcome;
  double over_zero = 0;               ///< speed-up over stage zero, 0 if unknown
  double over_step = 0;               ///< speed-up over the stage that it continues, 0 if unknown
  double of_limit = 0;                ///< share of the device's limit, 0 if unknown
  double of_copy = 0;                 ///< share of the GPU's copy bandwidth, 0 if unknown
  std::optional<Recorded> recorded;   ///< of a stage for a GPU, where there is none
  std::optional<LinesChanged> lines;  ///< against the stage that it continues
  std::optional<Sectors> sectors;     ///< that the kernels moved, if the CPU device counted them

  bool timed() const { return outcome.ran() && !outcome.program.on_cpu_device(); }
  bool checked() const { return outcome.ran() && outcome.program.on_cpu_device(); }
};

/// What the rows of a table may say, which is known before the first stage has run.
struct TableContents {
  std::vector<Program> programs;  ///< a row each
  bool times = false, in_all = false, recorded = false, over_zero = false, over_step = false;
  bool of_limit = false, of_copy = false, sectors = false, lines = false;
};

struct Column;

/// A table whose lines can be printed one by one: no width depends on what a stage's run says.
class Table {
 public:
  /// \param width in columns. What is too wide has its ideas shortened, then left out, and then
  ///              the columns that a reader misses least.
  Table(const TableContents& contents, int width, bool colour);

  /// The titles of the columns, underlined.
  std::string head() const;

  /// The line of a stage; the first yardstick's has a rule above it.
  std::string line(const Row& row);

  /// What did not run or is wrong, and what words and marks in the table mean.
  std::string notes(const std::vector<Row>& rows) const;

 private:
  std::string rule() const;
  std::string entries(const Row& row) const;

  bool colour_;
  bool under_rule_ = false;
  int stage_width_ = 5, idea_width_ = 4;  // without ideas, their width is 0
  std::vector<const Column*> columns_;
};

/// A time in a fitting unit: "1.063 s", "12.40 ms", "7.031 us".
std::string time_text(double seconds);

/// What the error column says: "stage zero", "reference", "exact", "3.4e-06", or the verdict.
std::string error_text(const Outcome& outcome);

/// Sectors per request and the fewest possible: "14.8 / 7.9".
std::string sectors_text(const Sectors& sectors);

}  // namespace staircase
