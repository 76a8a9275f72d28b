#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "describe.hpp"
#include "run.hpp"

namespace staircase {
namespace {

/// The first elements of a solution as text.
std::string beginning(const NpyArray& solution) {
  return std::visit(
      [](const auto& values) {
        const auto shown = std::min<std::ptrdiff_t>(16, std::ssize(values));
        std::string text;
        for (std::ptrdiff_t i = 0; i < shown; ++i)
          text += fmt::format(" {:.8g}", static_cast<double>(values[i]));
        return text + (std::ssize(values) > shown ? " ..." : "");
      },
      solution.values);
}

/// A line with the median time of each phase. `where` is appended to the names of the phases.
std::string phases_text(const std::vector<Repeat>& repeats,
                        std::vector<PhaseTotal> (RecordedTimeline::*totals)() const,
                        const char* where) {
  std::string text;
  const auto phases = (repeats[0].timeline.*totals)();
  for (std::size_t p = 0; p < phases.size(); ++p) {
    std::vector<double> seconds;
    for (const auto& repeat : repeats) seconds.push_back((repeat.timeline.*totals)()[p].seconds);
    text += fmt::format("\n  {:<22} {:10.6f} s", phases[p].name + where, summarise(seconds).median);
  }
  return text;
}

}  // namespace

std::string summary_of(const StageProgram& program, const Run& run) {
  std::vector<std::string> parameters;
  const std::vector<double> values = program.values();
  for (std::size_t p = 0; p < values.size(); ++p)
    parameters.push_back(fmt::format("{} = {}", program.parameters[p].name, values[p]));
  std::string text = fmt::format("{}: {}\n{} ({}), {}\n", names_of(program).program, program.idea,
                                 run.dataset, fmt::join(parameters, ", "), name_of(run.precision));
  text += fmt::format("time      {:10.6f} s", run.seconds.median);
  if (!program.timed_phase.empty()) text += "  for the phase " + program.timed_phase;
  if (run.awake) text += ", GPU awake";
  if (run.repeats.size() > 1)
    text += fmt::format("  median of {}, from {:.6f} to {:.6f} s", run.repeats.size(),
                        run.seconds.min, run.seconds.max);
  text += phases_text(run.repeats, &RecordedTimeline::totals, "");
  text += phases_text(run.repeats, &RecordedTimeline::overlapping_totals, " (overlapping)");
  if (program.device->ranks != nullptr)
    text += fmt::format("\nranks     {}", program.device->ranks->count());
  const auto shape = program.part ? program.part().shape : run.solution.shape;
  return text +
         fmt::format("\nsolution  ({}):{}\n", fmt::join(shape, ", "), beginning(run.solution));
}

}  // namespace staircase
