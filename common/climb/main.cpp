/// \file
/// The runner: runs the stages of a workload in order on one problem and prints one table.

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

/// Stands for every workload.
constexpr const char* all_of_them = "all";

/// Where the stage programs are, and the directory that their sources are named from.
struct Places {
  fs::path programs, source;
};

/// What an installed runner was installed with; else the programs that were built with it.
Places default_places() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path installed = (here / INSTALLED_PROGRAMS).lexically_normal();
  if (fs::is_directory(installed))
    return {installed, (here / INSTALLED_SOURCES).lexically_normal()};
  return {here.parent_path().parent_path() / "stages", "."};
}

std::optional<Options> read_options(int argc, char** argv) {
  Options options;
  const Places places = default_places();
  options.programs = places.programs;
  options.source = places.source;
  CLI::App app{"Runs the stages of a workload in order on the same problem and prints one table",
               "climb"};
  app.add_option("WORKLOAD", options.workloads,
                 "Workloads to run, or all (default the first that --list shows)");
  app.add_flag("--step", options.step,
               "Walk: idea, diff, run and verdict of each stage, then a key");
  app.add_flag("--list", options.list, "List the workloads, their stages and data sets");
  app.add_option("--stages", options.stages,
                 "Stages: numbers, ranges, names, as in 00,02-03,openmp");
  app.add_option("--reference", options.reference,
                 "Hold the stages to this one instead of stage zero: a number or a name");
  app.add_option("--reference-set", options.reference_assignments,
                 "Change a parameter of the stage that the others are held to: KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--device", options.device,
                 "Only stages of a device: cpu, gpu or cpu-device (default all)");
  app.add_option("--dataset", options.datasets, "Data sets, separated by commas, or all");
  app.add_option("--set", options.assignments, "Change a parameter of the data set: KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--input", options.inputs,
                 "Run on your own data: FILE.npy; once for each that the workload takes")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--precision", options.precisions, "f64 (default), f32 or f64,f32");
  app.add_option("--repeat", options.repeat, "Timed solves of a stage (default 5)");
  app.add_option("--warmup", options.warmup, "Solves before the timed ones (default 1)");
  app.add_flag("--awake", options.awake,
               "Wake the GPU before the phase that is timed, by an empty kernel");
  app.add_option("--ranks", options.ranks,
                 "Processes of a stage that runs on ranks (default the cores, at most 4)");
  app.add_option("--json", options.json,
                 "Write the records of all runs: FILE, or - for standard output");
  app.add_flag("--targets", options.targets,
               "Run nothing; print what would have to be built, one target per line");
  app.add_option("--programs", options.programs, "Where the stage programs are");
  app.add_option("--source", options.source,
                 "Where the directory stages/ with the sources is, for the diffs")
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

/// Refuses a value that is not among those allowed.
void check_choice(const std::string& what, const std::string& value,
                  const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw BadInput(
        fmt::format("there is no {} '{}'; there is {}", what, value, fmt::join(allowed, ", ")));
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

/// The programs of each workload, in the order in which the workloads are listed.
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
    for (std::size_t p = 0; p < programs.size(); ++p) {
      std::string devices = programs[p].device;
      const Program& program = programs[p];
      while (p + 1 < programs.size() && programs[p + 1].stage == program.stage)
        devices += ", " + programs[++p].device;
      text += fmt::format("  {:<20} {:<15}  {:<14} {}\n", program.stage, devices,
                          said_in(root / program.source, "title"),
                          said_in(root / program.source, "idea"));
    }
  }
  return text;
}

/// The data sets to run: those asked for, or the first, or the reduced one on the CPU device.
std::vector<std::string> datasets_of(const Program& program, const Options& options) {
  const auto names = keys_of(program.description().at("datasets"));
  if (options.datasets == "all") return names;
  if (options.datasets.empty())
    return {options.device == "cpu-device" ? reduced_dataset : program.text("default_dataset")};
  const auto chosen = split(options.datasets);
  for (const auto& dataset : chosen) check_choice("data set", dataset, names);
  return chosen;
}

/// The precisions to run: those asked for in which one of the chosen stages solves.
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

/// The workloads to run: those asked for, all of them, or the first.
Workloads chosen_workloads(const Workloads& all, const Options& options) {
  const auto& wanted = options.workloads;
  const auto is_wanted = [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  if (is_wanted(all_of_them) || options.list) return all;
  if (wanted.empty()) return {all.front()};
  Workloads chosen = all;
  std::erase_if(chosen, [&](const auto& workload) { return !is_wanted(workload.first); });
  return chosen;
}

/// What else there is to run, where nothing was asked for.
std::string others_text(const Workloads& all) {
  std::vector<std::string> names;
  for (const auto& [name, programs] : all) names.push_back(name);
  names.erase(names.begin());
  if (names.empty()) return "";
  return fmt::format("Other workloads: {}. ./climb {} runs one of them, ./climb all every one.\n",
                     fmt::join(names, ", "), names.front());
}

/// What all programs that analyse accesses share, a target of its own in the build.
constexpr auto shared_by_analyses = "shared_by_analyses";

/// What has to be built for a table: the programs of the chosen stages for the chosen device, with
/// what analyses them where the CPU device was asked for, stage zero and the reference. A list
/// needs each stage zero. Stages that were named have all their programs for the CPU device: their
/// pages start them. Those that no table needs follow behind an empty line, and can wait until it
/// is there; for a whole ladder, what they share, so that nobody who names stages waits for it.
std::string targets_text(const Workloads& workloads, const Options& options) {
  std::set<std::string> needed, later;
  const auto target = [](const Program& program) {
    return "stages/" + program.path.filename().string();
  };
  const auto twin = [&](const Program& program) { return target(program) + "-analyze"; };
  for (const auto& [workload, programs] : workloads) {
    needed.insert(target(programs.front()));
    if (options.list) continue;
    for (const Program& program : select_reference(programs, options.reference))
      if (is_chosen(program, programs, options)) needed.insert(target(program));
    for (const Program& program : chosen_programs(programs, options)) {
      needed.insert(target(program));
      if (program.analysed && options.device == "cpu-device") needed.insert(twin(program));
    }
    if (options.device != "all") continue;
    for (const Program& program : select_stages(programs, options.stages)) {
      if (options.stages.empty()) {
        if (program.analysed) later.insert(shared_by_analyses);
      } else if (program.on_cpu_device()) {
        needed.insert(target(program));
        if (program.analysed) later.insert(twin(program));
      }
    }
  }
  std::string text = fmt::format("{}\n", fmt::join(needed, "\n"));
  if (!later.empty()) text += fmt::format("\n{}\n", fmt::join(later, "\n"));
  return text;
}

/// Refuses a stage, a reference or a data set that one of the workloads does not have, and
/// precisions in which none of the stages solves.
void check_stages(const Options& options, const Workloads& chosen) {
  std::set<std::string> offered;
  bool solves = false;
  for (const auto& [name, programs] : chosen) {
    const Program reference = select_reference(programs, options.reference).front();
    if (!reference.offers("f64"))
      throw BadInput(fmt::format("--reference takes a stage that solves in f64, and {} does not",
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

/// Refuses what can be refused before anything runs.
void check_options(const Options& options, const Workloads& workloads) {
  std::vector<std::string> names = names_of(workloads);
  names.push_back(all_of_them);
  for (const auto& workload : options.workloads) check_choice("workload", workload, names);
  check_choice("device", options.device, {"all", "cpu", "gpu", "cpu-device"});
  if (split(options.precisions).empty()) check_choice("precision", "", {"f64", "f32"});
  for (const auto& precision : split(options.precisions))
    check_choice("precision", precision, {"f64", "f32"});
  if (options.step && !options.json.empty())
    throw BadInput("--step and --json exclude each other; --json needs a whole run");
  if (!options.json.empty() && options.json != "-") check_writable(options.json);
}

/// The limits of this machine; the GPU's only if a stage for it may run.
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
    // The stages for a GPU that cannot be measured say themselves what is wrong; the others run.
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
