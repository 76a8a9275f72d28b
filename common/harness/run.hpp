/// \file
/// One run of a stage program: what was solved, and what its repeats took.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorded_timeline.hpp"
#include "stage_program.hpp"
#include "statistics.hpp"

namespace staircase {

/// One timed solve, and on a GPU a copy of what the problem has to read and write.
struct Repeat {
  double seconds;
  RecordedTimeline timeline;               ///< of the rank that took longest
  std::vector<RecordedTimeline> of_ranks;  ///< by rank; empty for a program that has no ranks
  std::optional<double> copy_seconds;
};

/// A problem, solved a number of times.
struct Run {
  std::string dataset;
  std::vector<std::string> inputs;  ///< the names of the user's own files, or none
  Precision precision;
  bool awake;  ///< whether the GPU was woken before the phase that is timed
  std::vector<Repeat> repeats;
  Summary seconds;     ///< of the times by which stages are compared
  double array_bytes;  ///< the most that arrays held at once: on the device, if there is one
  NpyArray solution;   ///< of the last repeat; what this rank has of it
};

/// How a problem is solved.
struct RunOptions {
  Precision precision;
  int warmup, repeat;
  bool awake;  ///< whether the GPU is woken before the phase that is timed
};

/// Solves a problem that make_problem() has made.
/// \throws NotEnoughMemory, WrongResult if the solution is not finite, and what the stage throws
Run run_repeats(const StageProgram& program, const RunOptions& options);

/// What `--json` writes.
nlohmann::ordered_json record_of(const StageProgram& program, const Run& run);

/// What a person reads where no file was asked for.
std::string summary_of(const StageProgram& program, const Run& run);

}  // namespace staircase
