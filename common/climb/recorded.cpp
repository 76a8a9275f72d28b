#include "recorded.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

namespace staircase {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The value of a key in a run or, if the run does not have this key, in the recording of the run.
const Json& value_of(const Json& run, const Json& recording, const char* key) {
  return run.contains(key) ? run.at(key) : recording.at(key);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Recordings::Recordings(const fs::path& root, const std::vector<std::string>& workloads) {
  std::error_code none;
  const fs::path directory = root / "docs" / "results" / reference_machine;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = text_of(entry.path());
    // Most recordings belong to other workloads, and parsing is slow. We therefore search the text
    // first.
    const auto mentions = [&](const std::string& workload) {
      return text.find(Json(workload).dump()) != std::string::npos;
    };
    if (std::any_of(workloads.begin(), workloads.end(), mentions)) read(text);
  }
  for (auto& [problem, runs] : runs_) sort_as_book(runs);
}

/// Sorts runs in the order in which the book selects them. Runs of the newest revision come first.
/// Among the runs of a revision, those with the most repeats come first.
void Recordings::sort_as_book(std::vector<Run>& runs) {
  std::map<std::string, std::string> newest;  // the last date of each revision
  for (const Run& run : runs) newest[run.revision] = std::max(newest[run.revision], run.date);
  std::sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
    return std::tuple(newest.at(a.revision), a.repeats, a.date) >
           std::tuple(newest.at(b.revision), b.repeats, b.date);
  });
}

void Recordings::read(const std::string& text) try {
  const Json recording = Json::parse(text);
  if (recording.contains("sweep") || !recording.contains("runs")) return;
  for (const Json& run : recording.at("runs")) {
    const auto of_run = [&](const char* key) -> const Json& {
      return value_of(run, recording, key);
    };
    Run found{of_run("ceilings").at("gpu").at("name"), of_run("revision"), of_run("date"), 0, {}};
    for (const Json& record : run.at("records")) {
      if (!record.contains("seconds")) continue;
      found.repeats = std::max(found.repeats, record.at("repeats").size());
      found.times[record.at("stage")] = {record.at("device") == "gpu",
                                         record.at("seconds").at("median"),
                                         record.value("of_limit", 0.0)};
    }
    runs_[{of_run("workload"), of_run("dataset"), of_run("precision")}].push_back(found);
  }
} catch (const Json::exception&) {
  // If an entry is malformed, its run and all later runs in the same file are ignored.
}

std::optional<Recorded> Recordings::find(const Problem& problem, const std::string& stage,
                                         const std::string& zero, const std::string& before) const {
  const auto of_problem = runs_.find(problem);
  if (of_problem == runs_.end()) return {};
  for (const Run& run : of_problem->second) {
    const auto found = run.times.find(stage);
    if (found == run.times.end() || !found->second.on_gpu) continue;
    const Time& time = found->second;
    const auto over = [&](const std::string& other) {
      const auto it = run.times.find(other);
      return it == run.times.end() || other == stage ? 0 : it->second.median / time.median;
    };
    return Recorded{run.gpu,    run.date.substr(0, 10), time.median,
                    over(zero), over(before),           time.of_peak};
  }
  return {};
}

}  // namespace staircase
