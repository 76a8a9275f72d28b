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

/// Checks, before the input is generated, that the input and the solution fit into host memory. The
/// arrays of a solve are checked when they are created.
/// \throws NotEnoughMemory if the input and the solution do not fit
void check_memory(const StageProgram& program, Precision precision) {
  const Ranks* const ranks = program.device->ranks;
  const double needed = program.work(precision).bytes;
  const double available = available_memory() * (ranks != nullptr ? ranks->machines() : 1);
  if (needed > available)
    throw NotEnoughMemory(
        fmt::format("this problem needs {:.0f} bytes of host memory for input and solution, and "
                    "{:.0f} bytes are available; choose a smaller problem",
                    needed, available));
}

/// Returns the precision with the given name.
/// \throws BadInput if the stage does not support this precision
Precision precision_of(const StageProgram& program, const std::string& asked) {
  std::vector<std::string> names;
  for (const Precision precision : program.precisions) {
    if (name_of(precision) == asked) return precision;
    names.push_back(name_of(precision));
  }
  throw BadInput(fmt::format("--precision must be {}, not '{}'", fmt::join(names, " or "), asked));
}

/// Writes the solution to a file. In a program with ranks, each rank writes its part.
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
    throw BadInput("--report writes the report of --analyze; add --analyze");
  if (!options->analyze && !options->blocks.empty())
    throw BadInput("--blocks limits --analyze; add --analyze");

  // All checks that need no computation come first.
  const Precision precision = precision_of(program, options->precision);
  const auto repeat = static_cast<int>(parse_integer("--repeat", options->repeat, 1, 1e6));
  const auto warmup = static_cast<int>(parse_integer("--warmup", options->warmup, 0, 1e6));
  if (options->awake && program.device->wake == nullptr)
    throw BadInput("--awake needs a GPU, and this stage runs on the processor");
  const std::string dataset = make_problem(program, *options, precision);
  const bool is_first = program.device->ranks == nullptr || program.device->ranks->number() == 0;
  if (!options->output.empty() && is_first) check_writable(options->output);
  if (!options->json.empty() && options->json != "-" && is_first) check_writable(options->json);

  program.device->prepare();
  check_memory(program, precision);
  if (program.prepare) program.prepare(precision);

  Run solved = run_repeats(program, {precision, warmup, repeat, options->awake});
  solved.dataset = dataset;
  for (const std::string& input : options->inputs)
    solved.inputs.push_back(std::filesystem::path(input).filename());
  if (!options->output.empty()) write_solution(program, options->output, solved.solution);
  if (!is_first) return;
  if (options->json.empty()) return write_stdout(summary_of(program, solved));
  const std::string text = record_of(program, solved).dump(2) + "\n";
  if (options->json == "-") return write_stdout(text);
  write_file(options->json, {text});
}

}  // namespace

int run_program(int argc, char** argv, const StageProgram& program) {
  const Ranks* const ranks = program.device->ranks;
  if (ranks != nullptr) set_failure_reporter(ranks->fail);
  return run_guarded(names_of(program).program, [&] {
    if (ranks != nullptr && ranks->launched_as() != 0) mute_stdout();
    run(argc, argv, program);
    if (ranks != nullptr) ranks->finish();
    return Exit::solved;
  });
}

}  // namespace staircase
