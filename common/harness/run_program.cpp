#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <optional>
#include <staircase/error.hpp>
#include <staircase/file.hpp>
#include <staircase/machine.hpp>
#include <staircase/number.hpp>
#include <staircase/stage.hpp>
#include <staircase/statistics.hpp>

#include "describe.hpp"

namespace staircase {
namespace {

/// What the command line says, as text.
struct Options {
  std::string dataset;
  std::vector<std::string> assignments;
  std::string input, output, json;
  std::string precision = "f64", repeat = "1", warmup = "0";
  bool describe = false;
};

/// One timed solve.
struct Repeat {
  double seconds;
  std::vector<PhaseTotal> phases;
};

std::string joined(const std::vector<NamedValues>& named) {
  std::vector<std::string> names;
  for (const auto& n : named) names.push_back(n.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Reads the command line; nothing if only help was asked for.
std::optional<Options> read_options(int argc, char** argv, const StageProgram& program) {
  const StageNames names = names_of(program);
  Options options;
  CLI::App app{fmt::format("{} ({}): {}", names.program(), program.title, program.idea),
               names.program()};
  app.allow_extras();
  std::string set_help = "Change a parameter:";
  for (const auto& p : program.parameters) set_help += fmt::format(" {} ({});", p.name, p.help);
  set_help.back() = '.';
  app.add_option(
      "--dataset", options.dataset,
      fmt::format("Data set: {} (default {})", joined(program.datasets), program.datasets[0].name));
  app.add_option("--set", options.assignments, set_help)
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--input", options.input, "Read " + program.input.meaning)->type_name("FILE.npy");
  app.add_option("--output", options.output, "Write the solution")->type_name("FILE.npy");
  app.add_option("--precision", options.precision, "f64 (default) or f32")->type_name("P");
  app.add_option("--repeat", options.repeat, "Timed solves (default 1)")->type_name("N");
  app.add_option("--warmup", options.warmup, "Solves before the timed ones (default 0)")
      ->type_name("N");
  app.add_option("--json", options.json, "Write a record of the run; - is standard output")
      ->type_name("FILE|-");
  app.add_flag("--describe", options.describe, "Print what this stage is, as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_stdout(app.help());
    return {};
  } catch (const CLI::ParseError& error) {
    throw BadInput(fmt::format("{}; see --help", error.what()));
  }
  if (const auto rest = app.remaining(); !rest.empty())
    throw BadInput(fmt::format(
        "unknown argument '{}'; allowed are --dataset, --set, --input, --output, --precision, "
        "--repeat, --warmup, --json, --describe and --help",
        rest.front()));
  return options;
}

/// Applies `key=value` to the parameters' values; returns which parameter it was.
std::size_t assign(const StageProgram& program, std::string_view assignment,
                   std::vector<double>& values) {
  const auto equals = assignment.find('=');
  const std::string_view key = assignment.substr(0, equals);
  const auto& parameters = program.parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterInfo& p) { return p.name == key; });
  if (equals == std::string_view::npos || found == parameters.end()) {
    std::vector<std::string> names;
    for (const auto& p : parameters) names.push_back(p.name);
    throw BadInput(fmt::format("--set takes KEY=VALUE, not '{}'; the keys are {}", assignment,
                               fmt::join(names, ", ")));
  }
  const auto index = static_cast<std::size_t>(found - parameters.begin());
  const auto parse = found->integer ? parse_integer : parse_real;
  values[index] = parse(found->name, assignment.substr(equals + 1), found->min, found->max);
  return index;
}

/// Refuses an input array of another rank or with values out of range.
void check_input(const InputFormat& format, const NpyArray& input, const std::string& path) {
  if (input.shape.size() != format.rank)
    throw BadInput(fmt::format("the file '{}' holds an array of {} dimensions; {} must have {}",
                               path, input.shape.size(), format.meaning, format.rank));
  if (!std::holds_alternative<std::vector<double>>(input.values) &&
      !std::holds_alternative<std::vector<float>>(input.values))
    throw BadInput(
        fmt::format("the file '{}' holds elements of type '{}'; {} must be '<f4' or '<f8'", path,
                    input.dtype(), format.meaning));
  if (input.size() == 0)
    throw BadInput(fmt::format("the file '{}' is empty; {} must have at least one element", path,
                               format.meaning));
  const std::vector<double> values = input.as_double();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] >= format.min && values[i] <= format.max))
      throw BadInput(fmt::format("element {} of the file '{}' is {}; {} must be from {} to {}", i,
                                 path, values[i], format.meaning, format.min, format.max));
}

/// Makes the problem that the options ask for; returns the name of its data set.
std::string make_problem(const StageProgram& program, const Options& options, Precision precision) {
  const std::string dataset = options.dataset.empty() ? program.datasets[0].name : options.dataset;
  const auto named = std::find_if(program.datasets.begin(), program.datasets.end(),
                                  [&](const NamedValues& d) { return d.name == dataset; });
  if (named == program.datasets.end())
    throw BadInput(fmt::format("there is no data set '{}'; the data sets are {}", dataset,
                               joined(program.datasets)));
  std::vector<double> values = named->values;
  std::vector<std::size_t> assigned;
  for (const auto& assignment : options.assignments)
    assigned.push_back(assign(program, assignment, values));
  program.set_values(values);
  if (!options.input.empty()) {
    const NpyArray input = read_npy(options.input);
    check_input(program.input, input, options.input);
    program.set_input(input);
    for (const std::size_t p : assigned)
      if (program.values()[p] != values[p])
        throw BadInput(fmt::format("{} = {} was set, but the file '{}' says {}",
                                   program.parameters[p].name, values[p], options.input,
                                   program.values()[p]));
  }
  program.check(precision);
  return options.assignments.empty() && options.input.empty() ? dataset : "custom";
}

double needed_memory(const StageProgram& program, Precision precision) {
  return program.reals() * bytes_of(precision);
}

void check_memory(const StageProgram& program, Precision precision) {
  const double needed = needed_memory(program, precision);
  const double available = available_memory();
  if (needed > available)
    throw NotEnoughMemory(
        fmt::format("{} needs {:.0f} bytes of memory for this problem, and {:.0f} bytes are "
                    "available; choose a "
                    "smaller one with --set",
                    names_of(program).program(), needed, available));
}

void check_finite(const NpyArray& solution) {
  const std::vector<double> values = solution.as_double();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad != values.end())
    throw WrongResult(fmt::format("the solution is wrong: element {} of {} is {}",
                                  bad - values.begin(), values.size(), *bad));
}

Json record(const StageProgram& program, const std::string& dataset, const Options& options,
            Precision precision, const std::vector<Repeat>& repeats, const Summary& seconds) {
  const StageNames names = names_of(program);
  const Machine machine = this_machine();
  const Work work = program.work(precision);
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
          {"device", device()},
          {"threads", thread_count()},
          {"machine",
           {{"name", machine.name()},
            {"cpu", machine.cpu},
            {"cores", machine.cores},
            {"memory_bytes", machine.memory},
            {"system", machine.system},
            {"compiler", machine.compiler}}},
          {"seconds", {{"min", seconds.min}, {"median", seconds.median}, {"max", seconds.max}}},
          {"repeats", repeats_json},
          {"modelled", {{"flops", work.flops}, {"bytes", work.bytes}}},
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
  std::string text = fmt::format("{}: {}\n{} ({}), {}\n", names_of(program).program(), program.idea,
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

  // Refuse everything that can be refused before any work is done.
  if (options->precision != "f64" && options->precision != "f32")
    throw BadInput(fmt::format("--precision must be f64 or f32, not '{}'", options->precision));
  const Precision precision = options->precision == "f64" ? Precision::f64 : Precision::f32;
  const double repeat_count = parse_integer("--repeat", options->repeat, 1, 1e6);
  const double warmup_count = parse_integer("--warmup", options->warmup, 0, 1e6);
  const std::string dataset = make_problem(program, *options, precision);
  check_memory(program, precision);
  if (!options->output.empty()) check_writable(options->output);
  if (!options->json.empty() && options->json != "-") check_writable(options->json);

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
  guard_standard_streams();
  const auto report = [&](Exit status, std::string_view sentence) {
    fmt::print(stderr, "{}: {}\n", names_of(program).program(), sentence);
    return static_cast<int>(status);
  };
  try {
    run(argc, argv, program);
    return static_cast<int>(Exit::solved);
  } catch (const Failure& failure) {
    return report(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(Exit::exhausted, "the machine has not enough memory for this problem");
  } catch (const std::exception& error) {
    return report(Exit::wrong, error.what());
  }
}

}  // namespace staircase
