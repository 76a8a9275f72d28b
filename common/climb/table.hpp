/// \file
/// The table that the runner prints.

#pragma once

#include <ceilings.hpp>
#include <optional>

#include "measure.hpp"
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
  std::optional<LinesChanged> lines;  ///< against the stage that it continues
  std::optional<Sectors> sectors;     ///< that the kernels moved, if the CPU device counted them

  bool timed() const { return outcome.ran() && !outcome.program.on_cpu_device(); }
  bool checked() const { return outcome.ran() && outcome.program.on_cpu_device(); }
};

/// Renders a heading and one line a stage, yardsticks under a rule; `width` is in columns.
std::string render_table(const std::string& heading, const std::vector<Row>& rows, int width,
                         bool colour);

/// A time in a fitting unit: "1.063 s", "12.40 ms", "7.031 us".
std::string time_text(double seconds);

/// What the error column says: "stage zero", "reference", "exact", "3.4e-06", or the verdict.
std::string error_text(const Outcome& outcome);

/// Sectors a request and the fewest possible: "14.8 / 7.9".
std::string sectors_text(const Sectors& sectors);

}  // namespace staircase
