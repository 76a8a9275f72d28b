#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <staircase/error.hpp>

#include "analyze.hpp"
#include "command_line.hpp"
#include "describe.hpp"
#include "device.hpp"
#include "file.hpp"
#include "machine.hpp"
#include "number.hpp"
#include "program.hpp"
#include "ranks.hpp"
#include "run.hpp"

namespace staircase {
namespace {

/// Refuses a problem whose input and solution alone are more than the host has, before its input is
/// made. What a solve needs beside them is refused when its arrays are made.
void check_memory(const StageProgram& program, Precision precision) {
  const Ranks* const ranks = program.device->ranks;
  const double needed = program.work(precision).bytes;
  const double available = available_memory() * (ranks != nullptr ? ranks->machines() : 1);
  if (needed > available)
    throw NotEnoughMemory(
        fmt::format("this problem takes {:.0f} bytes of the host's memory for input and solution, "
                    "and {:.0f} bytes are available; choose a smaller one",
                    needed, available));
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

/// Writes the solution to a file: a rank its part of it.
void write_solution(const StageProgram& program, const std::string& path,
                    const NpyArray& solution) {
  if (program.part && program.device->ranks != nullptr)
    program.device->ranks->write(path, solution, program.part());
  else
    write_npy(path, solution);
}

void run(int argc, char** argv, const StageProgram& program) {
  const auto options = read_options(argc, argv, program);
  if (!options) return;
  if (options->describe) return write_stdout(describe(program).dump(2) + "\n");

  if (options->analyze) run_analysed(argv, program, *options);
  if (!options->analyze && !options->report.empty())
    throw BadInput("--report is what --analyze found; add --analyze");
  if (!options->analyze && !options->blocks.empty())
    throw BadInput("--blocks are what --analyze takes of a launch; add --analyze");

  // Refuse everything that can be refused before any work is done.
  const Precision precision = precision_of(program, options->precision);
  const auto repeat = static_cast<int>(parse_integer("--repeat", options->repeat, 1, 1e6));
  const auto warmup = static_cast<int>(parse_integer("--warmup", options->warmup, 0, 1e6));
  if (options->awake && program.device->wake == nullptr)
    throw BadInput("--awake is for a GPU, and this stage runs on the processor");
  const std::string dataset = make_problem(program, *options, precision);
  const bool talks = program.device->ranks == nullptr || program.device->ranks->number() == 0;
  if (!options->output.empty() && talks) check_writable(options->output);
  if (!options->json.empty() && options->json != "-" && talks) check_writable(options->json);

  program.device->prepare();
  check_memory(program, precision);
  if (program.prepare) program.prepare(precision);

  Run solved = run_repeats(program, {precision, warmup, repeat, options->awake});
  solved.dataset = dataset;
  for (const std::string& input : options->inputs)
    solved.inputs.push_back(std::filesystem::path(input).filename());
  if (!options->output.empty()) write_solution(program, options->output, solved.solution);
  if (!talks) return;
  if (options->json.empty()) return write_stdout(summary_of(program, solved));
  const std::string text = record_of(program, solved).dump(2) + "\n";
  if (options->json == "-") return write_stdout(text);
  write_file(options->json, {text});
}

}  // namespace

int run_program(int argc, char** argv, const StageProgram& program) {
  const Ranks* const ranks = program.device->ranks;
  if (ranks != nullptr) tell_failures_by(ranks->fail);
  return run_guarded(names_of(program).program, [&] {
    if (ranks != nullptr && ranks->launched_as() != 0) mute_stdout();
    run(argc, argv, program);
    if (ranks != nullptr) ranks->finish();
    return Exit::solved;
  });
}

}  // namespace staircase
