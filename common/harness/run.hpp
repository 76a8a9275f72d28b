/// \file
/// One run of a stage program: the problem, the repeated solves, and their times.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorded_timeline.hpp"
#include "stage_program.hpp"
#include "statistics.hpp"

namespace staircase {

/// The times of one timed solve, in seconds.
struct Repeat {
  double seconds;                          ///< time of the complete solve
  RecordedTimeline timeline;               ///< timeline of the slowest rank
  std::vector<RecordedTimeline> of_ranks;  ///< timelines by rank; empty without ranks
  /// The duration of a copy on the GPU that transfers as many bytes as the problem's compulsory
  /// memory traffic. The value is empty if the program does not use a GPU or has ranks, or if too
  /// little memory is free.
  std::optional<double> copy_seconds;
};

/// The results of solving one problem several times.
struct Run {
  std::string dataset;
  std::vector<std::string> inputs;  ///< names of the input files; may be empty
  Precision precision;
  bool awake;  ///< whether an empty kernel ran before the timed phase
  std::vector<Repeat> repeats;
  Summary seconds;     ///< times of the timed phase, or of the complete solve if no phase is timed
  double array_bytes;  ///< largest total size of arrays: in device memory if the program has
                       ///< kernels, otherwise in host memory
  NpyArray solution;   ///< solution of the last repeat; in an MPI program, the part that this
                       ///< rank owns
};

/// Settings of a run.
struct RunOptions {
  Precision precision;
  int warmup, repeat;
  bool awake;  ///< whether to run an empty kernel before the timed phase
};

/// Solves the problem of the program repeatedly.
/// \throws WrongResult if a solution contains an element that is not finite, or if the stage does
/// not mark the timed phase; exceptions of the stage propagate as well
Run run_repeats(const StageProgram& program, const RunOptions& options);

/// The JSON record of a run, which `--json` writes.
nlohmann::ordered_json record_of(const StageProgram& program, const Run& run);

/// The summary of a run, which the program prints without `--json`.
std::string summary_of(const StageProgram& program, const Run& run);

}  // namespace staircase
