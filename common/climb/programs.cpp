#include "programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <harness/process.hpp>
#include <set>
#include <sstream>
#include <staircase/error.hpp>

namespace staircase {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json description_of(const fs::path& program) {
  if (!fs::exists(program))
    throw BadInput(fmt::format("'{}' is not built; ./climb builds the programs that it runs",
                               program.filename().string()));
  const ProcessResult result = run_process({program, "--describe"});
  auto json = nlohmann::ordered_json::parse(result.out, nullptr, false);
  if (result.status != 0 || !json.is_object())
    throw BadInput(fmt::format("'{} --describe' failed: {}", program.filename().string(),
                               result.err.empty() ? "it printed no JSON" : result.err));
  return json;
}

/// The number at the beginning of a stage's name, or -1 for a baseline.
int number_of(const std::string& stage) {
  return stage.starts_with("baseline_") ? -1 : std::stoi(stage.substr(0, 2));
}

/// Converts a text to the number of a stage, or to -1 if the text is not a number.
int parse_number(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/// Whether an item of `--stages`, such as 02, 01-03, openmp or baseline_lapack, selects a stage.
bool selected_by(const std::string& item, const std::string& stage) {
  const int number = number_of(stage);
  if (item == stage || (number >= 0 && item == stage.substr(3))) return true;
  const auto dash = item.find('-');
  const int first = parse_number(item.substr(0, dash));
  const int last = dash == std::string::npos ? first : parse_number(item.substr(dash + 1));
  return first >= 0 && number >= first && number <= last;
}

/// Splits the name of a program, <workload>-<stage> or <workload>-<stage>-cpu, into the workload
/// and the stage. The workload and the stage are empty for any other name.
std::pair<std::string, std::string> parse_name(std::string name) {
  if (name.ends_with("-cpu")) name.resize(name.size() - 4);
  const auto dash = name.find('-');
  if (dash == std::string::npos) return {};
  const std::string stage = name.substr(dash + 1);
  const bool numbered =
      stage.size() > 3 && stage[2] == '_' && parse_number(stage.substr(0, 2)) >= 0;
  const bool named = numbered || stage.starts_with("baseline_");
  return named && stage.find_first_of(".-") == std::string::npos
             ? std::pair(name.substr(0, dash), stage)
             : std::pair<std::string, std::string>();
}

/// The programs in a list file. Each line contains the name of a program, its device and its
/// source. A program with the device "analysis" analyses the accesses of the program in the
/// previous line.
std::vector<Program> listed(const fs::path& list) {
  std::vector<Program> programs;
  std::ifstream lines(list);
  for (std::string name, device, source; lines >> name >> device >> source;) {
    const auto [workload, stage] = parse_name(name);
    if (device == "analysis")
      programs.back().analysed = true;
    else
      programs.push_back({list.parent_path() / name, workload, stage, device, source});
  }
  return programs;
}

/// The stage programs that exist in a directory, sorted by name.
std::vector<Program> built(const fs::path& directory) {
  std::error_code error;
  std::vector<Program> programs;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const auto [workload, stage] = parse_name(entry.path().filename());
    if (!stage.empty() && entry.is_regular_file() && ::access(entry.path().c_str(), X_OK) == 0)
      programs.push_back({entry.path(), workload, stage, {}, {}});
  }
  std::sort(programs.begin(), programs.end(), [](const Program& a, const Program& b) {
    return std::pair(a.workload, a.path.filename()) < std::pair(b.workload, b.path.filename());
  });
  for (Program& program : programs) {
    program.device = program.text("device");
    program.source = program.text("source");
    program.analysed = fs::exists(program.path.string() + "-analyze");
  }
  return programs;
}

}  // namespace

const nlohmann::ordered_json& Program::description() const {
  if (described->is_null()) *described = description_of(path);
  return *described;
}

std::vector<std::string> Program::precisions() const { return description().at("precisions"); }

bool Program::offers(const std::string& precision) const {
  const auto offered = precisions();
  return std::find(offered.begin(), offered.end(), precision) != offered.end();
}

std::vector<Program> find_programs(const fs::path& directory) {
  const fs::path list = directory / "programs.txt";
  std::vector<Program> programs = fs::exists(list) ? listed(list) : built(directory);
  if (programs.empty())
    throw BadInput(
        fmt::format("there are no stage programs in '{}'; build them with ./climb, or set "
                    "their directory with --programs",
                    directory.string()));
  return programs;
}

bool is_chosen(const Program& program, const std::vector<Program>& all, const Options& options) {
  if (options.device != "all") return options.device == program.device;
  return !program.on_cpu_device() || std::none_of(all.begin(), all.end(), [&](const Program& p) {
    return p.stage == program.stage && p.device == "gpu";
  });
}

std::vector<std::string> stages_of(const std::vector<Program>& programs) {
  std::vector<std::string> stages;
  for (const Program& program : programs) stages.push_back(program.stage);
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

std::vector<Program> select_stages(const std::vector<Program>& programs, const std::string& list) {
  if (list.empty()) return programs;
  std::set<const Program*> chosen;
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) {
    const auto before = chosen.size();
    for (const Program& program : programs)
      if (selected_by(item, program.stage)) chosen.insert(&program);
    if (chosen.size() > before) continue;
    throw BadInput(
        fmt::format("--stages takes numbers, ranges and names, and '{}' selects no stage; the "
                    "stages are {}",
                    item, fmt::join(stages_of(programs), ", ")));
  }
  std::vector<Program> selection;
  for (const Program& program : programs)
    if (chosen.contains(&program)) selection.push_back(program);
  return selection;
}

std::vector<Program> chosen_programs(const std::vector<Program>& all, const Options& options) {
  std::vector<Program> chosen = select_stages(all, options.stages);
  std::erase_if(chosen, [&](const Program& p) { return !is_chosen(p, all, options); });
  if (chosen.empty())
    throw BadInput(fmt::format("no stage of {} runs on the device '{}'", all.front().workload,
                               options.device));
  return chosen;
}

std::vector<Program> select_reference(const std::vector<Program>& programs,
                                      const std::string& item) {
  std::vector<Program> selection;
  for (const Program& program : programs)
    if (selected_by(item.empty() ? programs.front().stage : item, program.stage))
      selection.push_back(program);
  if (const auto stages = stages_of(selection); stages.size() != 1)
    throw BadInput(
        fmt::format("--reference takes the number or the name of one stage, and '{}' selects {}; "
                    "the stages of {} are {}",
                    item, stages.empty() ? "none" : fmt::format("{}", fmt::join(stages, " and ")),
                    programs.front().workload, fmt::join(stages_of(programs), ", ")));
  return selection;
}

}  // namespace staircase
