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

/// One timed solve.
struct Repeat {
  double seconds;
  std::vector<PhaseTotal> phases;
};

double needed_memory(const StageProgram& program, Precision precision) {
  return program.reals() * bytes_of(precision);
}

void check_memory(const StageProgram& program, Precision precision) {
  const double needed = needed_memory(program, precision);
  const double available = program.available_memory();
  if (needed > available)
    throw NotEnoughMemory(
        fmt::format("{} needs {:.0f} bytes of memory for this problem, and {:.0f} bytes are "
                    "available; choose a "
                    "smaller one with --set",
                    names_of(program).program, needed, available));
}

void check_finite(const NpyArray& solution) {
  const std::vector<double> values = solution.as_double();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad != values.end())
    throw WrongResult(fmt::format("the solution is wrong: element {} of {} is {}",
                                  bad - values.begin(), values.size(), *bad));
}

/// The work that any stage has to do, and the traffic of this one's kernels.
Json modelled(const StageProgram& program, Precision precision) {
  const Work work = program.work(precision);
  Json json{{"flops", work.flops}, {"bytes", work.bytes}};
  if (program.traffic) json["traffic_bytes"] = program.traffic() * bytes_of(precision);
  return json;
}

Json record(const StageProgram& program, const std::string& dataset, const StageOptions& options,
            Precision precision, const std::vector<Repeat>& repeats, const Summary& seconds) {
  const StageNames names = names_of(program);
  Json repeats_json = Json::array();
  for (const auto& repeat : repeats) {
    Json phases = Json::object();
    for (const auto& phase : repeat.phases) phases[phase.name] = phase.seconds;
    repeats_json.push_back({{"seconds", repeat.seconds}, {"phases", phases}});
  }
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
          {"repeats", repeats_json},
          {"modelled", modelled(program, precision)},
          {"tolerance", tolerance_json(program.tolerance(precision))},
          {"memory",
           {{"modelled_bytes", needed_memory(program, precision)}, {"peak_bytes", peak_memory()}}},
          {"revision", revision()},
          {"date", utc_now()}};
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
  if (repeats.size() > 1)
    text += fmt::format("  median of {}, from {:.6f} to {:.6f} s", repeats.size(), seconds.min,
                        seconds.max);
  for (std::size_t p = 0; p < repeats[0].phases.size(); ++p) {
    std::vector<double> phase;
    for (const auto& repeat : repeats) phase.push_back(repeat.phases[p].seconds);
    text +=
        fmt::format("\n  {:<22} {:10.6f} s", repeats[0].phases[p].name, summarise(phase).median);
  }
  const std::vector<double> all = solution.as_double();
  const std::vector<double> first(all.begin(),
                                  all.begin() + std::min<std::ptrdiff_t>(16, std::ssize(all)));
  return text + fmt::format("\nsolution  ({}): {:.8g}{}\n", fmt::join(solution.shape, ", "),
                            fmt::join(first, " "), all.size() > first.size() ? " ..." : "");
}

void run(int argc, char** argv, const StageProgram& program) {
  const auto options = read_options(argc, argv, program);
  if (!options) return;
  if (options->describe) return write_stdout(describe(program).dump(2) + "\n");

  if (options->analyze) run_analysed(argv, program, options->report);
  if (!options->analyze && !options->report.empty())
    throw BadInput("--report is what --analyze found; add --analyze");

  // Refuse everything that can be refused before any work is done.
  if (options->precision != "f64" && options->precision != "f32")
    throw BadInput(fmt::format("--precision must be f64 or f32, not '{}'", options->precision));
  const Precision precision = options->precision == "f64" ? Precision::f64 : Precision::f32;
  const double repeat_count = parse_integer("--repeat", options->repeat, 1, 1e6);
  const double warmup_count = parse_integer("--warmup", options->warmup, 0, 1e6);
  const std::string dataset = make_problem(program, *options, precision);
  if (!options->output.empty()) check_writable(options->output);
  if (!options->json.empty() && options->json != "-") check_writable(options->json);

  program.prepare_device();
  check_memory(program, precision);

  NpyArray solution;
  std::vector<Repeat> repeats;
  for (double r = -warmup_count; r < repeat_count; ++r) {
    Timeline timeline;
    solution = program.solve(precision, timeline);
    timeline.end();
    const double seconds = timeline.now();
    check_finite(solution);
    if (r >= 0) repeats.push_back({seconds, timeline.totals()});
  }

  std::vector<double> samples;
  for (const auto& repeat : repeats) samples.push_back(repeat.seconds);
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
