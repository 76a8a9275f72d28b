/// \file
/// The table that the runner prints: one row per stage.

#pragma once

#include <optional>

#include "measure.hpp"
#include "recorded.hpp"
#include "source.hpp"

namespace staircase {

/// The outcome of one stage, and the ratios that the table shows for it.
///
/// A stage that ran on the CPU device is checked and not timed, because the time of the emulation
/// is unrelated to the time on a GPU.
struct Row {
  Outcome outcome;
  double over_zero = 0;               ///< speed-up over stage zero; 0 if unknown
  double over_previous = 0;           ///< speed-up over the stage that it continues; 0 if unknown
  double of_peak = 0;                 ///< shortest possible time / measured time; 0 if unknown
  double of_copy = 0;                 ///< share of the GPU's copy bandwidth; 0 if unknown
  std::optional<Recorded> recorded;   ///< recorded time of a GPU stage, if this machine has no GPU
  std::optional<LinesChanged> lines;  ///< lines changed against the stage that it continues
  std::optional<Sectors> sectors;  ///< sectors moved by the kernels, if the CPU device counts them

  bool timed() const { return outcome.ran() && !outcome.program.on_cpu_device(); }
  bool checked() const { return outcome.ran() && outcome.program.on_cpu_device(); }
};

/// The columns that a table needs. They are known before the first stage has run.
struct TableContents {
  std::vector<Program> programs;  ///< one row for each
  bool times = false, totals = false, recorded = false, over_zero = false, over_previous = false;
  bool of_peak = false, of_copy = false, sectors = false, lines = false;
};

struct Column;

/// A table that can be printed line by line: no width depends on the outcome of a stage.
class Table {
 public:
  /// \param width of the terminal in characters. A table that is too wide gets shorter ideas, then
  ///              no ideas, and then loses its least important columns.
  Table(const TableContents& contents, int width, bool colour);

  /// The titles of the columns and the rule below them.
  std::string head() const;

  /// The line of a stage; the first baseline has a rule above it.
  std::string line(const Row& row);

  /// Lines below the table: which stages did not run or are wrong and why, and an explanation of
  /// the words *checked*, *recorded* and *sectors* if the table contains them.
  std::string notes(const std::vector<Row>& rows) const;

 private:
  std::string rule() const;
  std::string entries(const Row& row) const;

  bool colour_;
  bool under_rule_ = false;
  int stage_width_ = 5, idea_width_ = 4;  // without ideas, their width is 0
  std::vector<const Column*> columns_;
};

/// A time in seconds as text in a suitable unit: "1.063 s", "12.40 ms", "7.031 us".
std::string time_text(double seconds);

/// The entry of the column *error*: "stage zero", "reference", "exact", "3.4e-06" or "DIFFERS".
std::string error_text(const Outcome& outcome);

/// Sectors per request / the fewest possible sectors per request: "14.8 / 7.9".
std::string sectors_text(const Sectors& sectors);

}  // namespace staircase
