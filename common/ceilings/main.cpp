/// \file
/// Prints the peak rates of this machine.

#include <CLI/CLI.hpp>
#include <harness/file.hpp>
#include <harness/machine.hpp>
#include <harness/program.hpp>

#include "ceilings.hpp"

namespace {

staircase::Exit run(int argc, char** argv) {
  CLI::App app{"Measures the peak rates of this machine: arithmetic and copies", "ceilings"};
  bool measure = false, json = false;
  app.add_flag("--measure", measure, "Measure again, even if the rates are cached");
  app.add_flag("--json", json, "Print the rates as JSON");
  if (!staircase::parse_command_line(app, argc, argv)) return staircase::Exit::solved;
  auto ceilings = staircase::cached_ceilings(measure);
  if (const auto gpu = staircase::this_gpu())
    ceilings.gpu = staircase::cached_ceilings(*gpu, measure);
  staircase::write_stdout(json ? to_json(ceilings).dump(2) + "\n"
                               : to_text(staircase::this_machine(), ceilings));
  return staircase::Exit::solved;
}

}  // namespace

int main(int argc, char** argv) {
  return staircase::run_guarded("ceilings", [&] { return run(argc, argv); });
}
