#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <staircase/error.hpp>
#include <staircase/file.hpp>
#include <staircase/machine.hpp>
#include <staircase/number.hpp>
#include <staircase/program.hpp>
#include <staircase/stage.hpp>
#include <staircase/statistics.hpp>

#include "analyze.hpp"
#include "command_line.hpp"
#include "describe.hpp"

namespace staircase {
namespace {

/// One timed solve, and on a GPU a copy of what the problem has to read and write.
struct Repeat {
  double seconds;
  Timeline timeline;
  std::optional<double> copy_seconds;
};

/// The time of a solve by which stages are compared.
double timed_seconds(const StageProgram& program, const Repeat& repeat) {
  if (program.timed_phase.empty()) return repeat.seconds;
  for (const auto& totals : {repeat.timeline.totals(), repeat.timeline.totals_beside()})
    for (const auto& [name, seconds] : totals)
      if (name == program.timed_phase) return seconds;
  throw WrongResult(fmt::format("no phase was called {}", program.timed_phase));
}

double needed_memory(const StageProgram& program, Precision precision) {
  return program.reals() * bytes_of(precision);
}

/// Refuses a problem for which the memory does not suffice. On the processor, solve() keeps input
/// and solution in the host's memory with all else; beside a device, the host has these two alone,
/// unless its memory is the device's, too.
void check_memory(const StageProgram& program, Precision precision, double host_memory) {
  const auto check = [&](double needed, double available, const char* memory) {
    if (needed > available)
      throw NotEnoughMemory(
          fmt::format("{} needs {:.0f} bytes of {} for this problem, and {:.0f} bytes are "
                      "available; choose a smaller one with --set",
                      names_of(program).program, needed, memory, available));
  };
  const double solve_needs = needed_memory(program, precision);
  if (!program.device_memory) return check(solve_needs, host_memory, "the host's memory");
  const bool one_memory = program.device == "cpu-device";
  check(program.work(precision).bytes + (one_memory ? solve_needs : 0), host_memory,
        "the host's memory");
  check(solve_needs, program.device_memory(), "the device's memory");
}

void check_finite(const NpyArray& solution) {
  std::visit(
      [](const auto& values) {
        const auto bad = std::find_if(values.begin(), values.end(), [](auto v) {
          return !std::isfinite(static_cast<double>(v));
        });
        if (bad != values.end())
          throw WrongResult(fmt::format("the solution is wrong: element {} of {} is {}",
                                        bad - values.begin(), values.size(), *bad));
      },
      solution.values);
}

/// How long the GPU takes to read and write once what any stage has to read and write.
std::optional<double> copy_seconds(const StageProgram& program, Precision precision) {
  if (!program.seconds_to_copy) return {};
  const double bytes = program.work(precision).bytes;
  if (bytes > program.device_memory() / 2) return {};
  return program.seconds_to_copy(bytes);
}

/// The first elements of a solution, as text.
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

/// The work that any stage has to do, and the traffic of this one's kernels.
Json modelled(const StageProgram& program, Precision precision) {
  const Work work = program.work(precision);
  Json json{{"flops", work.flops}, {"bytes", work.bytes}};
  if (work.matrix) json["matrix"] = true;
  if (program.traffic) json["traffic_bytes"] = program.traffic() * bytes_of(precision);
  return json;
}

/// A repeat's time, and what it consists of.
Json to_json(const Repeat& repeat) {
  Json json{{"seconds", repeat.seconds}, {"phases", Json::object()}};
  for (const auto& [name, seconds] : repeat.timeline.totals()) json["phases"][name] = seconds;
  for (const auto& [name, begin, end] : repeat.timeline.beside())
    json["beside"].push_back({{"name", name}, {"begin", begin}, {"end", end}});
  if (repeat.copy_seconds) json["copy_seconds"] = *repeat.copy_seconds;
  if (!repeat.timeline.remark().empty()) json["remark"] = repeat.timeline.remark();
  return json;
}

Json record(const StageProgram& program, const std::string& dataset, const StageOptions& options,
            Precision precision, const std::vector<Repeat>& repeats, const Summary& seconds) {
  const StageNames names = names_of(program);
  Json repeats_json = Json::array();
  for (const auto& repeat : repeats) repeats_json.push_back(to_json(repeat));
  const std::string input = std::filesystem::path(options.input).filename();
  return {{"workload", names.workload},
          {"stage", names.stage},
          {"title", program.title},
          {"dataset", dataset},
          {"parameters", parameters_json(program, program.values())},
          {"input", input.empty() ? Json(nullptr) : Json(input)},
          {"precision", name_of(precision)},
          {"device", program.device},
          {"device_name", program.device_name()},
          {"threads", thread_count()},
          {"machine", to_json(this_machine())},
          {"seconds", {{"min", seconds.min}, {"median", seconds.median}, {"max", seconds.max}}},
          {"timed_phase", program.timed_phase.empty() ? Json(nullptr) : Json(program.timed_phase)},
          {"repeats", repeats_json},
          {"modelled", modelled(program, precision)},
          {"tolerance", to_json(program.tolerance(precision))},
          {"memory",
           {{"modelled_bytes", needed_memory(program, precision)}, {"peak_bytes", peak_memory()}}},
          {"revision", revision()},
          {"date", utc_now()}};
}

/// A line for each phase with its median.
std::string phases_text(const std::vector<Repeat>& repeats,
                        std::vector<PhaseTotal> (Timeline::*totals)() const, const char* where) {
  std::string text;
  const auto phases = (repeats[0].timeline.*totals)();
  for (std::size_t p = 0; p < phases.size(); ++p) {
    std::vector<double> seconds;
    for (const auto& repeat : repeats) seconds.push_back((repeat.timeline.*totals)()[p].seconds);
    text += fmt::format("\n  {:<22} {:10.6f} s", phases[p].name + where, summarise(seconds).median);
  }
  return text;
}

/// What a person reads when no file was asked for.
std::string summary_text(const StageProgram& program, const std::string& dataset,
                         Precision precision, const std::vector<Repeat>& repeats,
                         const Summary& seconds, const NpyArray& solution) {
  std::vector<std::string> parameters;
  const std::vector<double> values = program.values();
  for (std::size_t p = 0; p < values.size(); ++p)
    parameters.push_back(fmt::format("{} = {}", program.parameters[p].name, values[p]));
  std::string text = fmt::format("{}: {}\n{} ({}), {}\n", names_of(program).program, program.idea,
                                 dataset, fmt::join(parameters, ", "), name_of(precision));
  text += fmt::format("time      {:10.6f} s", seconds.median);
  if (!program.timed_phase.empty()) text += "  of the phase " + program.timed_phase;
  if (repeats.size() > 1)
    text += fmt::format("  median of {}, from {:.6f} to {:.6f} s", repeats.size(), seconds.min,
                        seconds.max);
  text += phases_text(repeats, &Timeline::totals, "");
  text += phases_text(repeats, &Timeline::totals_beside, ", beside them");
  if (const std::string& remark = repeats[0].timeline.remark(); !remark.empty())
    text += "\nremark    " + remark;
  return text +
         fmt::format("\nsolution  ({}):{}\n", fmt::join(solution.shape, ", "), beginning(solution));
}

/// The precision asked for, among those that the stage offers.
Precision precision_of(const StageProgram& program, const std::string& asked) {
  std::vector<std::string> names;
  for (const Precision precision : program.precisions) {
    if (name_of(precision) == asked) return precision;
    names.push_back(name_of(precision));
  }
  throw BadInput(fmt::format("--precision must be {}, not '{}'", fmt::join(names, " or "), asked));
}

void run(int argc, char** argv, const StageProgram& program) {
  const auto options = read_options(argc, argv, program);
  if (!options) return;
  if (options->describe) return write_stdout(describe(program).dump(2) + "\n");

  if (options->analyze) run_analysed(argv, program, options->report);
  if (!options->analyze && !options->report.empty())
    throw BadInput("--report is what --analyze found; add --analyze");

  // Refuse everything that can be refused before any work is done.
  const Precision precision = precision_of(program, options->precision);
  const double repeat_count = parse_integer("--repeat", options->repeat, 1, 1e6);
  const double warmup_count = parse_integer("--warmup", options->warmup, 0, 1e6);
  const double host_memory = available_memory();  // before an input is read, which needs some of it
  const std::string dataset = make_problem(program, *options, precision);
  if (!options->output.empty()) check_writable(options->output);
  if (!options->json.empty() && options->json != "-") check_writable(options->json);

  program.prepare_device();
  check_memory(program, precision, host_memory);
  if (program.prepare) program.prepare();

  NpyArray solution;
  std::vector<Repeat> repeats;
  for (double r = -warmup_count; r < repeat_count; ++r) {
    solution = {};  // two at a time may be too many
    Timeline timeline;
    solution = program.solve(precision, timeline);
    timeline.end();
    const double seconds = timeline.now();
    if (program.check_solution) program.check_solution(solution);
    check_finite(solution);
    if (r >= 0) repeats.push_back({seconds, std::move(timeline), copy_seconds(program, precision)});
  }

  std::vector<double> samples;
  for (const auto& repeat : repeats) samples.push_back(timed_seconds(program, repeat));
  const Summary seconds = summarise(samples);
  if (!options->output.empty()) write_npy(options->output, solution);
  if (options->json.empty())
    return write_stdout(summary_text(program, dataset, precision, repeats, seconds, solution));
  const std::string text =
      record(program, dataset, *options, precision, repeats, seconds).dump(2) + "\n";
  if (options->json == "-") return write_stdout(text);
  write_file(options->json, {text});
}

}  // namespace

int run_program(int argc, char** argv, const StageProgram& program) {
  return run_guarded(names_of(program).program, [&] {
    run(argc, argv, program);
    return Exit::solved;
  });
}

}  // namespace staircase
