#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <staircase/error.hpp>
#include <utility>

#include "device.hpp"
#include "memory.hpp"
#include "parts.hpp"
#include "run.hpp"

namespace staircase {
namespace {

/// The time that is compared between stages, in seconds: the duration of the timed phase, or of the
/// complete solve if the program has no timed phase.
/// \throws WrongResult if the stage did not mark the timed phase
double timed_seconds(const StageProgram& program, double whole, const RecordedTimeline& timeline) {
  if (program.timed_phase.empty()) return whole;
  for (const auto& totals : {timeline.totals(), timeline.overlapping_totals()})
    for (const auto& [name, seconds] : totals)
      if (name == program.timed_phase) return seconds;
  throw WrongResult(fmt::format("the stage has recorded no phase named {}", program.timed_phase));
}

void check_finite(const NpyArray& solution) {
  std::visit(
      [](const auto& values) {
        const std::size_t bad = first_that(values.size(), [&](std::size_t i) {
          return !std::isfinite(static_cast<double>(values[i]));
        });
        if (bad < values.size())
          throw WrongResult(fmt::format("the solution is wrong: element {} of {} is {}", bad,
                                        values.size(), values[bad]));
      },
      solution.values);
}

/// A timed solve on ranks, with the time and the phases of the slowest rank.
Repeat slowest_of(const StageProgram& program, double seconds, const RecordedTimeline& own) {
  Repeat repeat{program.device->ranks->maximum(seconds), {}, {}, {}};
  for (const std::string& text : program.device->ranks->all_texts(own.to_text()))
    repeat.of_ranks.push_back(RecordedTimeline::from_text(text));
  repeat.timeline = *std::max_element(
      repeat.of_ranks.begin(), repeat.of_ranks.end(), [&](const auto& a, const auto& b) {
        return timed_seconds(program, 0, a) < timed_seconds(program, 0, b);
      });
  return repeat;
}

/// The duration, in seconds, of a copy on the GPU that transfers as many bytes as the problem's
/// compulsory memory traffic. The result is empty if the program does not use a GPU, or if too
/// little memory is available.
std::optional<double> copy_seconds(const StageProgram& program, Precision precision) {
  if (program.device->seconds_to_copy == nullptr) return {};
  const double bytes = program.work(precision).bytes;
  if (bytes > program.device->free_memory() / 2) return {};
  return program.device->seconds_to_copy(bytes);
}

}  // namespace

Run run_repeats(const StageProgram& program, const RunOptions& options) {
  const auto& [precision, warmup, repeat, awake] = options;
  Run run{};
  run.precision = precision;
  const Ranks* const ranks = program.device->ranks;
  const bool on_processor = program.device->free_memory == nullptr;
  // The tutor compares a wrong solution with the correct one, so it needs all elements.
  const bool accepts_wrong = std::getenv("STAIRCASE_ACCEPT_WRONG") != nullptr;
  for (int r = -warmup; r < repeat; ++r) {
    run.solution = {};  // frees the previous solution, because two may not fit into memory
    if (ranks != nullptr) ranks->maximum(0);  // a barrier, so that all ranks start together
    RecordedTimeline timeline =
        awake ? RecordedTimeline(program.timed_phase, program.device->wake) : RecordedTimeline();
    run.solution = program.solve(precision, timeline);
    timeline.end();
    const double seconds = timeline.now();
    run.awake = timeline.hook_was_called();
    if (!accepts_wrong) {
      if (program.check_solution) program.check_solution(run.solution);
      check_finite(run.solution);
    }
    run.array_bytes = static_cast<double>((on_processor ? host_arrays() : device_arrays()).most());
    if (r < 0) continue;
    run.repeats.push_back(
        ranks != nullptr
            ? slowest_of(program, seconds, timeline)
            : Repeat{seconds, std::move(timeline), {}, copy_seconds(program, precision)});
  }
  if (program.finish) program.finish(run.solution);
  std::vector<double> samples;
  for (const Repeat& one : run.repeats)
    samples.push_back(timed_seconds(program, one.seconds, one.timeline));
  run.seconds = summarise(samples);
  return run;
}

}  // namespace staircase
