/// \file
/// Recordings as text: what `--json` writes, and the files below docs/results hold.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staircase {

/// The text of a recording: a line for each entry of it, one for each of its runs, and one for each
/// record, without what it shares with its run or with the recording.
///
/// A reader has a whole record again by taking what it lacks from its run (`workload`, `dataset`,
/// `precision`, `parameters`, `input`) and from the recording (`machine`, `revision`, `date`).
/// docs/measure/recordings.py reads and writes the same.
std::string recording_text(const nlohmann::ordered_json& recording);

}  // namespace staircase
