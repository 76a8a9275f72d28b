/// \file
/// Says of the loops of a C++ file whether their iterations are independent.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <harness/file.hpp>
#include <harness/program.hpp>
#include <staircase/error.hpp>

#include "options.hpp"
#include "reader.hpp"
#include "report.hpp"

namespace slicer {
namespace {

using staircase::Exit;

std::optional<Options> read_options(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Says of each loop of a C++ file whether its iterations are independent, and why not",
      "slice"};
  app.add_flag("--check", options.check, "Examine the loops; nothing is written");
  app.add_flag("--reductions", options.reductions,
               "Name what the reductions add up, and let their order change");
  app.add_option("--json", options.json, "Write what was found: FILE, or - for standard output");
  app.add_option("-p", options.build, "Where compile_commands.json is (default: found upwards)");
  app.add_option("FILE", options.file, "The source");
  app.add_option("ARGUMENTS", options.arguments, "Behind --: arguments of the compiler, as -I");
  app.footer(
      "With --check, `#pragma staircase` in front of a nest asks whether a transformation is "
      "legal:\n"
      "interchange(i, j), tile(i: 32, j: 32), skew(j: 2 * i), distribute, fuse or expand(x).");
  if (!staircase::parse_command_line(app, argc, argv)) return {};
  return options;
}

void check_options(const Options& options) {
  if (!options.check) throw staircase::BadInput("nothing to do; there is --check FILE");
  if (options.file.empty()) throw staircase::BadInput("--check needs a FILE");
  if (!std::ifstream(options.file) || std::filesystem::is_directory(options.file))
    throw staircase::BadInput("the file '" + options.file + "' cannot be read");
  if (!options.json.empty() && options.json != "-") staircase::check_writable(options.json);
}

Exit run(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) return Exit::solved;
  check_options(*options);
  const Source source(options->file, compiler_arguments(*options));
  const auto functions = read_functions(source);
  const Requests requests = read_requests(read_directives(source));
  const Checked checked = check(options->file, source, functions, requests);
  const std::string json = json_of(checked).dump(2) + "\n";
  if (options->json == "-")
    staircase::write_stdout(json);
  else
    staircase::write_stdout(text_of(checked, options->reductions));
  if (!options->json.empty() && options->json != "-") staircase::write_file(options->json, {json});
  return checked.is_refuted(options->reductions) ? Exit::wrong : Exit::solved;
}

}  // namespace
}  // namespace slicer

int main(int argc, char** argv) {
  return staircase::run_guarded("slice", [&] { return slicer::run(argc, argv); });
}
