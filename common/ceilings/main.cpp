/// \file
/// Prints the limits of this machine.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <staircase/error.hpp>
#include <staircase/file.hpp>
#include <staircase/machine.hpp>

#include "ceilings.hpp"

namespace {

void run(int argc, char** argv) {
  CLI::App app{"Measures what this machine can at best reach", "ceilings"};
  bool measure = false, json = false;
  app.add_flag("--measure", measure, "Measure again, even if the ceilings are cached");
  app.add_flag("--json", json, "Print them as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return staircase::write_stdout(app.help());
  } catch (const CLI::ParseError& error) {
    throw staircase::BadInput(fmt::format("{}; see --help", error.what()));
  }
  const auto ceilings = staircase::cached_ceilings(measure);
  const auto machine = staircase::this_machine();
  staircase::write_stdout(
      json ? to_json(ceilings).dump(2) + "\n"
           : fmt::format("{}, {} cores: {}\n", machine.cpu, machine.cores, to_text(ceilings)));
}

}  // namespace

int main(int argc, char** argv) {
  staircase::guard_standard_streams();
  try {
    run(argc, argv);
    return 0;
  } catch (const staircase::Failure& failure) {
    fmt::print(stderr, "ceilings: {}\n", failure.what());
    return static_cast<int>(failure.status());
  }
}
