/// \file
/// One run of a stage program: its problem, its repeated solves, and their times.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorded_timeline.hpp"
#include "stage_program.hpp"
#include "statistics.hpp"

namespace staircase {

/// The times of one timed solve in seconds.
struct Repeat {
  double seconds;                          ///< of the complete solve
  RecordedTimeline timeline;               ///< of the slowest rank
  std::vector<RecordedTimeline> of_ranks;  ///< by rank; empty for a program without ranks
  /// Time of a copy of the bytes that the problem must read and write; empty without a GPU.
  std::optional<double> copy_seconds;
};

/// A problem that was solved several times.
struct Run {
  std::string dataset;
  std::vector<std::string> inputs;  ///< the names of the input files, or none
  Precision precision;
  bool awake;  ///< whether an empty kernel ran before the timed phase
  std::vector<Repeat> repeats;
  Summary seconds;     ///< of the timed phase, or of the complete solve if no phase is timed
  double array_bytes;  ///< largest total size of arrays, in device memory if there is a device
  NpyArray solution;   ///< of the last repeat; on ranks, the part of this rank
};

/// Settings of a run.
struct RunOptions {
  Precision precision;
  int warmup, repeat;
  bool awake;  ///< whether an empty kernel runs before the timed phase
};

/// Solves the problem of the program repeatedly.
/// \throws WrongResult if a solution is not finite, and the exceptions of the stage
Run run_repeats(const StageProgram& program, const RunOptions& options);

/// The record that `--json` writes.
nlohmann::ordered_json record_of(const StageProgram& program, const Run& run);

/// The summary that is printed without `--json`.
std::string summary_of(const StageProgram& program, const Run& run);

}  // namespace staircase
