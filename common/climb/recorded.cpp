#include "recorded.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

namespace staircase {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What an object says and what lies below its key `parts`, each with what the object says of all.
std::vector<Json> taken_apart(Json whole, const char* parts) {
  const Json inner = std::move(whole.at(parts));
  whole.erase(parts);
  std::vector<Json> merged;
  for (const Json& part : inner) {
    merged.push_back(whole);
    merged.back().update(part);  // what a part says of itself goes first
  }
  return merged;
}

}  // namespace

Recordings::Recordings(const fs::path& root) {
  std::error_code none;
  const fs::path directory = root / "docs" / "results" / reference_machine;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.path().extension() == ".json") read(entry.path());
  for (auto& [problem, runs] : runs_) sort_as_book(runs);
}

/// The newest revision's first; of those of one revision, which were made in one session, the one
/// with most repeats.
void Recordings::sort_as_book(std::vector<Run>& runs) {
  std::map<std::string, std::string> newest;  // the last date of each revision
  for (const Run& run : runs) newest[run.revision] = std::max(newest[run.revision], run.date);
  std::sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) {
    return std::tuple(newest.at(a.revision), a.repeats, a.date) >
           std::tuple(newest.at(b.revision), b.repeats, b.date);
  });
}

void Recordings::read(const fs::path& path) try {
  Json recording = Json::parse(std::ifstream(path));
  if (recording.contains("sweep") || !recording.contains("runs")) return;
  for (const Json& run : taken_apart(std::move(recording), "runs")) {
    Run found{run.at("ceilings").at("gpu").at("name"), run.at("revision"), run.at("date"), 0, {}};
    for (const Json& record : taken_apart(run, "records")) {
      if (!record.contains("seconds")) continue;
      found.repeats = std::max(found.repeats, record.at("repeats").size());
      found.times[record.at("stage")] = {record.at("device") == "gpu",
                                         record.at("seconds").at("median"),
                                         record.value("of_limit", 0.0)};
    }
    runs_[{run.at("workload"), run.at("dataset"), run.at("precision")}].push_back(found);
  }
} catch (const Json::exception&) {
  // The rest of such a file is not shown.
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
                    over(zero), over(before),           time.of_limit};
  }
  return {};
}

}  // namespace staircase
