/// \file
/// The runner: runs the stages of a workload in order on one problem, and prints a table of the
/// results.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ceilings.hpp>
#include <harness/file.hpp>
#include <harness/machine.hpp>
#include <harness/number.hpp>
#include <harness/process.hpp>
#include <harness/program.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <staircase/error.hpp>

#include "ladder.hpp"
#include "options.hpp"
#include "recording.hpp"
#include "source.hpp"

namespace staircase {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The command-line argument that selects every workload.
constexpr const char* every_workload = "all";

/// The directory of the stage programs, and the directory whose subdirectory stages/ contains the
/// sources.
struct Directories {
  fs::path programs, source;
};

/// The directories of the installation or, if the runner is not installed, of the build.
Directories default_directories() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path installed = (here / INSTALLED_PROGRAMS).lexically_normal();
  if (fs::is_directory(installed))
    return {installed, (here / INSTALLED_SOURCES).lexically_normal()};
  return {here.parent_path().parent_path() / "stages", "."};
}

std::optional<Options> read_options(int argc, char** argv) {
  Options options;
  const Directories directories = default_directories();
  options.programs = directories.programs;
  options.source = directories.source;
  CLI::App app{"Runs the stages of a workload in order on the same problem and prints one table",
               "climb"};
  app.add_option("WORKLOAD", options.workloads,
                 "Workloads to run, or all (default: the first in --list)");
  app.add_flag("--step", options.step,
               "Show idea, diff, run and verdict of one stage at a time; a key continues");
  app.add_flag("--list", options.list, "List the workloads with their stages and data sets");
  app.add_option("--stages", options.stages,
                 "Stages to run: numbers, ranges or names, for example 00,02-03,openmp");
  app.add_option("--reference", options.reference,
                 "Check against this stage instead of stage zero: a number or a name");
  app.add_option("--reference-set", options.reference_assignments,
                 "Change a parameter for the reference stage only: KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--device", options.device,
                 "Run only the stages for a device: cpu, gpu or cpu-device (default all)");
  app.add_option("--dataset", options.datasets, "Data sets to run, separated by commas, or all");
  app.add_option("--set", options.assignments, "Change a parameter of the data set: KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--input", options.inputs,
                 "Read your own data: FILE.npy; one --input for each array of the workload")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--precision", options.precisions,
                 "Precisions to run: f64 (default), f32 or f64,f32");
  app.add_option("--repeat", options.repeat, "Timed solves per stage (default 5)");
  app.add_option("--warmup", options.warmup, "Untimed solves before the timed ones (default 1)");
  app.add_flag("--awake", options.awake,
               "Run an empty kernel before the timed phase, so that the GPU is not idle");
  app.add_option("--ranks", options.ranks,
                 "MPI ranks of a stage that runs on ranks (default: one per core, at most 4)");
  app.add_option("--json", options.json,
                 "Write the records of all runs to FILE; - is standard output");
  app.add_flag("--targets", options.targets,
               "Print the build targets that this command needs, and run nothing");
  app.add_option("--programs", options.programs, "Directory that contains the stage programs");
  app.add_option("--source", options.source,
                 "Directory that contains stages/ with the sources, for the diffs")
      ->take_last();
  if (!parse_command_line(app, argc, argv)) return {};
  return options;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

/// Checks that a value is one of the allowed values.
/// \throws BadInput if the value is not allowed; `what` names the kind of value in the message
void check_choice(const std::string& what, const std::string& value,
                  const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw BadInput(
        fmt::format("there is no {} '{}'; choose from {}", what, value, fmt::join(allowed, ", ")));
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

/// The programs of each workload, in the order in which workloads are listed.
using Workloads = std::vector<std::pair<std::string, std::vector<Program>>>;

Workloads all_workloads(const Options& options) {
  Workloads workloads;
  for (Program& program : find_programs(options.programs)) {
    if (workloads.empty() || workloads.back().first != program.workload)
      workloads.push_back({program.workload, {}});
    workloads.back().second.push_back(std::move(program));
  }
  return workloads;
}

std::vector<std::string> names_of(const Workloads& workloads) {
  std::vector<std::string> names;
  for (const auto& [name, programs] : workloads) names.push_back(name);
  return names;
}

std::string list_text(const Workloads& workloads, const fs::path& root) {
  std::string text;
  for (const auto& [name, programs] : workloads) {
    text += fmt::format("{} (data sets: {})\n", name,
                        fmt::join(keys_of(programs.front().description().at("datasets")), ", "));
    std::size_t stages = 0, titles = 0;
    for (const Program& program : programs) {
      stages = std::max(stages, program.stage.size());
      titles = std::max(titles, field_of(root / program.source, "title").size());
    }
    for (std::size_t p = 0; p < programs.size(); ++p) {
      std::string devices = programs[p].device;
      const Program& program = programs[p];
      while (p + 1 < programs.size() && programs[p + 1].stage == program.stage)
        devices += ", " + programs[++p].device;
      text += fmt::format("  {:<{}}  {:<15}  {:<{}}  {}\n", program.stage, stages, devices,
                          field_of(root / program.source, "title"), titles,
                          field_of(root / program.source, "idea"));
    }
  }
  return text;
}

/// The data sets that `--dataset` selects. The default is the workload's default data set, or the
/// reduced data set on the CPU device.
std::vector<std::string> datasets_of(const Program& program, const Options& options) {
  const auto names = keys_of(program.description().at("datasets"));
  if (options.datasets == "all") return names;
  if (options.datasets.empty())
    return {options.device == "cpu-device" ? reduced_dataset : program.text("default_dataset")};
  const auto chosen = split(options.datasets);
  for (const auto& dataset : chosen) check_choice("data set", dataset, names);
  return chosen;
}

/// The requested precisions that at least one of the chosen stages supports.
std::vector<std::string> precisions_of(const std::vector<Program>& programs,
                                       const Options& options) {
  std::vector<std::string> precisions = split(options.precisions);
  const auto chosen = chosen_programs(programs, options);
  std::erase_if(precisions, [&](const std::string& precision) {
    return std::none_of(chosen.begin(), chosen.end(),
                        [&](const Program& program) { return program.offers(precision); });
  });
  return precisions;
}

/// The workloads that the command line selects: the named workloads, all workloads for `all`, or
/// the first workload if there is no name.
Workloads chosen_workloads(const Workloads& all, const Options& options) {
  const auto& wanted = options.workloads;
  const auto is_wanted = [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  if (is_wanted(every_workload) || options.list) return all;
  if (wanted.empty()) return {all.front()};
  Workloads chosen = all;
  std::erase_if(chosen, [&](const auto& workload) { return !is_wanted(workload.first); });
  return chosen;
}

/// Returns a line that lists all other workloads. The runner prints this line if the command line
/// names no workload.
std::string others_text(const Workloads& all) {
  std::vector<std::string> names;
  for (const auto& [name, programs] : all) names.push_back(name);
  names.erase(names.begin());
  if (names.empty()) return "";
  return fmt::format(
      "Other workloads: {}. ./climb {} runs one of them, ./climb all runs all of them.\n",
      fmt::join(names, ", "), names.front());
}

/// The build target that all programs with access analysis depend on.
constexpr auto shared_by_analyses = "shared_by_analyses";

/// The build targets that a command line requires, one per line.
///
/// A table requires stage zero, the reference, and the programs of the chosen stages for the chosen
/// device. `--device cpu-device` additionally requires the programs that analyse accesses. `--list`
/// requires stage zero of each workload. For stages that `--stages` selects, the list also contains
/// the programs for the CPU device, because commands on the pages of the book start these programs.
///
/// Targets after an empty line are not required for the table, and may be built later. With
/// `--stages`, they are the programs that analyse the accesses of the selected stages. Without
/// `--stages`, the only such target is the one on which all these programs depend.
std::string targets_text(const Workloads& workloads, const Options& options) {
  std::set<std::string> needed, later;
  const auto target = [](const Program& program) {
    return "stages/" + program.path.filename().string();
  };
  const auto analysed = [&](const Program& program) { return target(program) + "-analyze"; };
  for (const auto& [workload, programs] : workloads) {
    needed.insert(target(programs.front()));
    if (options.list) continue;
    for (const Program& program : select_reference(programs, options.reference))
      if (is_chosen(program, programs, options)) needed.insert(target(program));
    for (const Program& program : chosen_programs(programs, options)) {
      needed.insert(target(program));
      if (program.analysed && options.device == "cpu-device") needed.insert(analysed(program));
    }
    if (options.device != "all") continue;
    for (const Program& program : select_stages(programs, options.stages)) {
      if (options.stages.empty()) {
        if (program.analysed) later.insert(shared_by_analyses);
      } else if (program.on_cpu_device()) {
        needed.insert(target(program));
        if (program.analysed) later.insert(analysed(program));
      }
    }
  }
  std::string text = fmt::format("{}\n", fmt::join(needed, "\n"));
  if (!later.empty()) text += fmt::format("\n{}\n", fmt::join(later, "\n"));
  return text;
}

/// Checks that each workload has the selected stages, reference and data sets, and that at least
/// one stage supports one of the precisions.
/// \throws BadInput if a selection is not available
void check_stages(const Options& options, const Workloads& chosen) {
  std::set<std::string> offered;
  bool solves = false;
  for (const auto& [name, programs] : chosen) {
    const Program reference = select_reference(programs, options.reference).front();
    if (!reference.offers("f64"))
      throw BadInput(fmt::format("--reference needs a stage that solves in f64, and {} does not",
                                 reference.stage));
    datasets_of(programs.front(), options);
    solves = solves || !precisions_of(programs, options).empty();
    for (const Program& program : chosen_programs(programs, options))
      for (const auto& precision : program.precisions()) offered.insert(precision);
  }
  if (!solves)
    throw BadInput(fmt::format("--precision must be {} for these stages, not '{}'",
                               fmt::join(offered, " or "), options.precisions));
}

/// Checks the options that do not depend on a workload. The runner calls this function before any
/// program runs.
/// \throws BadInput if a value is not allowed
void check_options(const Options& options, const Workloads& workloads) {
  std::vector<std::string> names = names_of(workloads);
  names.push_back(every_workload);
  for (const auto& workload : options.workloads) check_choice("workload", workload, names);
  check_choice("device", options.device, {"all", "cpu", "gpu", "cpu-device"});
  if (split(options.precisions).empty()) check_choice("precision", "", {"f64", "f32"});
  for (const auto& precision : split(options.precisions))
    check_choice("precision", precision, {"f64", "f32"});
  if (options.step && !options.json.empty())
    throw BadInput("--step and --json exclude each other; --json needs a complete run");
  if (!options.json.empty() && options.json != "-") check_writable(options.json);
}

/// The peak rates of this machine. The rates of the GPU are measured only if a GPU stage may run.
Ceilings ceilings_for(const Workloads& workloads, const Options& options) {
  Ceilings ceilings = cached_ceilings();
  const auto for_gpu = [](const Program& program) { return program.device == "gpu"; };
  const bool may_run = std::any_of(workloads.begin(), workloads.end(), [&](const auto& workload) {
    return std::any_of(workload.second.begin(), workload.second.end(), for_gpu);
  });
  if (!may_run || options.device == "cpu" || options.device == "cpu-device") return ceilings;
  try {
    if (const auto gpu = this_gpu()) ceilings.gpu = cached_ceilings(*gpu);
  } catch (const Failure&) {
    // The GPU cannot be measured. GPU stages report the reason themselves, and all other stages
    // run.
  }
  return ceilings;
}

Exit run(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) return Exit::solved;
  const Workloads all = all_workloads(*options);
  check_options(*options, all);
  if (options->list && !options->targets) {
    write_stdout(list_text(all, options->source));
    return Exit::solved;
  }
  const Workloads workloads = chosen_workloads(all, *options);
  if (options->targets) {
    write_stdout(targets_text(workloads, *options));
    return Exit::solved;
  }
  check_stages(*options, workloads);
  RunSettings settings;
  settings.assignments = options->assignments;
  settings.reference_assignments = options->reference_assignments;
  settings.inputs = options->inputs;
  settings.repeat = static_cast<int>(parse_integer("--repeat", options->repeat, 1, 1e6));
  settings.warmup = static_cast<int>(parse_integer("--warmup", options->warmup, 0, 1e6));
  settings.awake = options->awake;
  settings.ranks = options->ranks.empty()
                       ? std::min(this_machine().cores, 4)
                       : static_cast<int>(parse_integer("--ranks", options->ranks, 1, 65536));

  const Ceilings ceilings = ceilings_for(workloads, *options);
  const bool no_gpu = !ceilings.gpu && options->device == "all";
  const Recordings recordings =
      no_gpu ? Recordings(options->source, names_of(workloads)) : Recordings();
  const Machine machine = this_machine();
  Json runs = Json::array();
  bool all_well = true;
  for (const auto& [name, programs] : workloads)
    for (const auto& dataset : datasets_of(programs.front(), *options))
      for (const auto& precision : precisions_of(programs, *options)) {
        settings.dataset = dataset;
        settings.precision = precision;
        Ladder ladder(programs, *options, settings, ceilings, recordings);
        if (options->step)
          ladder.walk();
        else
          ladder.run([&](const std::string& text) {
            if (options->json != "-") write_stdout(text);
          });
        runs.push_back(ladder.json());
        all_well = all_well && ladder.all_well();
      }
  if (options->workloads.empty() && options->json != "-") write_stdout(others_text(all));
  const Json recording{{"machine", to_json(machine)},
                       {"ceilings", to_json(ceilings)},
                       {"revision", revision()},
                       {"date", utc_now()},
                       {"runs", runs}};
  if (options->json == "-") write_stdout(recording_text(recording));
  if (!options->json.empty() && options->json != "-")
    write_file(options->json, {recording_text(recording)});
  return all_well ? Exit::solved : Exit::wrong;
}

}  // namespace
}  // namespace staircase

int main(int argc, char** argv) {
  const staircase::InterruptsDeferred deferred;
  return staircase::run_guarded("climb", [&] { return staircase::run(argc, argv); });
}
