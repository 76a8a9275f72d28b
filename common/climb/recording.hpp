/// \file
/// The text format of recordings: the output of `--json`, and the files below docs/results.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staircase {

/// The text of a recording: one line per entry, one per run and one per record.
///
/// A record omits the keys `workload`, `dataset`, `precision`, `parameters` and `input` if they
/// have the same values in the run. A record also omits the keys `machine`, `revision` and `date`
/// if they have the same values in the recording. A reader restores the complete record by copying
/// these keys. docs/measure/recordings.py reads and writes the same format.
std::string recording_text(const nlohmann::ordered_json& recording);

}  // namespace staircase
