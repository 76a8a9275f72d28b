/// \file
/// Recordings as text: what `--json` writes, and what the files below docs/results contain.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staircase {

/// The text of a recording: one line per entry, per run and per record.
///
/// A record omits each key whose value is the same in its run (`workload`, `dataset`, `precision`,
/// `parameters`, `input`) or of the recording (`machine`, `revision`, `date`). A reader restores
/// the complete record by copying these keys. docs/measure/recordings.py reads and writes this
/// format, too.
std::string recording_text(const nlohmann::ordered_json& recording);

}  // namespace staircase
