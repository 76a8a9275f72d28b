/// \file
/// The table that the runner prints: one row per stage.

#pragma once

#include <optional>

#include "measure.hpp"
#include "recorded.hpp"
#include "source.hpp"

namespace staircase {

/// The outcome of one stage, and the ratios that the table shows for this stage.
///
/// A stage on the CPU device is checked but not timed, because the time of the emulation is
/// unrelated to the time on a GPU.
struct Row {
  Outcome outcome;
  double over_zero = 0;               ///< speed-up over stage zero; 0 if unknown
  double over_previous = 0;           ///< speed-up over the continued stage; 0 if unknown
  double of_peak = 0;                 ///< shortest possible time / measured time; 0 if unknown
  double of_copy = 0;                 ///< fraction of the GPU's copy bandwidth; 0 if unknown
  std::optional<Recorded> recorded;   ///< recorded time of a GPU stage, if this machine has no GPU
  std::optional<LinesChanged> lines;  ///< lines changed compared with the continued stage
  std::optional<Sectors> sectors;     ///< sectors that the kernels transfer, if they were counted

  bool timed() const { return outcome.ran() && !outcome.program.on_cpu_device(); }
  bool checked() const { return outcome.ran() && outcome.program.on_cpu_device(); }
};

/// The columns that a table contains. The columns are determined before the first stage has run.
struct TableContents {
  std::vector<Program> programs;  ///< the programs, with one row each
  bool times = false, totals = false, recorded = false, over_zero = false, over_previous = false;
  bool of_peak = false, of_copy = false, sectors = false, lines = false;
};

struct Column;

/// A table that can be printed line by line. Therefore no column width depends on the outcome of a
/// stage.
class Table {
 public:
  /// \param width the width of the terminal in characters. If the table is too wide, first the
  /// ideas are shortened, then omitted, and then the least important columns are dropped.
  Table(const TableContents& contents, int width, bool colour);

  /// The titles of the columns, and a horizontal rule below them.
  std::string head() const;

  /// The line of a stage. The line of the first baseline has a horizontal rule above it.
  std::string line(const Row& row);

  /// The lines below the table. These lines list the stages that did not run or failed the check,
  /// with the reasons. If the table contains the words *checked*, *recorded* or *sectors*, the
  /// lines also explain these words.
  std::string notes(const std::vector<Row>& rows) const;

 private:
  std::string rule() const;
  std::string entries(const Row& row) const;

  bool colour_;
  bool under_rule_ = false;
  int stage_width_ = 5, idea_width_ = 4;  // without ideas, idea_width_ is 0
  std::vector<const Column*> columns_;
};

/// Converts a time in seconds to a text with a suitable unit, for example "1.063 s", "12.40 ms" or
/// "7.031 us".
std::string time_text(double seconds);

/// The entry of the column *error*: "stage zero", "reference", "exact", "3.4e-06" or "DIFFERS".
std::string error_text(const Outcome& outcome);

/// The number of sectors per request / the smallest possible number, for example "14.8 / 7.9".
std::string sectors_text(const Sectors& sectors);

}  // namespace staircase
