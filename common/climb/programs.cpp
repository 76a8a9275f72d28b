#include "programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <staircase/error.hpp>
#include <staircase/process.hpp>

namespace staircase {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json description_of(const fs::path& program) {
  const ProcessResult result = run_process({program, "--describe"});
  auto json = nlohmann::ordered_json::parse(result.out, nullptr, false);
  if (result.status != 0 || !json.is_object())
    throw BadInput(fmt::format("'{}' does not describe itself: {}", program.filename().string(),
                               result.err.empty() ? "it prints no JSON" : result.err));
  return json;
}

/// The two digits in front of a stage's name, or -1 for a yardstick.
int number_of(const std::string& stage) {
  return stage.starts_with("yardstick_") ? -1 : std::stoi(stage.substr(0, 2));
}

bool selected_by(const std::string& item, const std::string& stage) {
  static const std::regex range("(\\d\\d?)(-(\\d\\d?))?");
  const int number = number_of(stage);
  std::smatch match;
  if (!std::regex_match(item, match, range))
    return item == stage || (number >= 0 && item == stage.substr(3));
  const int first = std::stoi(match[1]);
  const int last = match[3].matched ? std::stoi(match[3]) : first;
  return number >= first && number <= last;
}

}  // namespace

std::vector<Program> find_programs(const fs::path& directory) {
  static const std::regex name("([a-z0-9_]+)-((\\d\\d|yardstick)_[a-z0-9_]+)(-cpu)?");
  std::error_code error;
  std::vector<Program> programs;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string file = entry.path().filename();
    std::smatch match;
    if (std::regex_match(file, match, name) && entry.is_regular_file() &&
        ::access(entry.path().c_str(), X_OK) == 0)
      programs.push_back({entry.path(), match[1], match[2], {}});
  }
  if (programs.empty())
    throw BadInput(
        fmt::format("there are no stage programs in '{}'; build them with ./climb, or name "
                    "their directory with --programs",
                    directory.string()));
  std::sort(programs.begin(), programs.end(), [](const Program& a, const Program& b) {
    return std::pair(a.workload, a.path.filename()) < std::pair(b.workload, b.path.filename());
  });
  for (Program& program : programs) program.description = description_of(program.path);
  return programs;
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
    std::vector<std::string> stages;
    for (const Program& program : programs) stages.push_back(program.stage);
    throw BadInput(
        fmt::format("--stages takes numbers, ranges and names, and '{}' selects none; the "
                    "stages are {}",
                    item, fmt::join(stages, ", ")));
  }
  std::vector<Program> selection;
  for (const Program& program : programs)
    if (chosen.contains(&program)) selection.push_back(program);
  return selection;
}

}  // namespace staircase
