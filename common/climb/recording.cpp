#include "recording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <vector>

namespace staircase {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array of_recording{"machine", "revision", "date"};
constexpr std::array of_problem{"parameters", "input"};
constexpr std::array of_run{"workload", "dataset", "precision", "parameters", "input"};

/// The first line of a run. This line contains all entries of the run except `records`. It also
/// contains the parameters and the input of the first record with the same data set as the run.
Json shared_by(const Json& run) {
  Json shared = run;
  shared.erase("records");
  const Json& records = run.at("records");
  const auto solved = std::find_if(records.begin(), records.end(), [&](const Json& record) {
    return record.contains("dataset") && record.at("dataset") == run.at("dataset");
  });
  if (solved != records.end())
    for (const char* key : of_problem)
      if (solved->contains(key)) shared[key] = solved->at(key);
  return shared;
}

/// Removes each of `keys` from `record` if `other` has the same value for this key.
template <class Keys>
void remove_equal(Json& record, const Keys& keys, const Json& other) {
  for (const char* key : keys)
    if (record.contains(key) && other.contains(key) && record.at(key) == other.at(key))
      record.erase(key);
}

/// The text of a run: one line with the values that its records share, and one line per record.
std::string run_text(const Json& run, const Json& recording) {
  const Json shared = shared_by(run);
  std::vector<std::string> records;
  for (Json record : run.at("records")) {
    remove_equal(record, of_recording, recording);
    remove_equal(record, of_run, shared);
    records.push_back(record.dump());
  }
  std::string head = shared.dump();
  head.pop_back();
  return fmt::format("{},\"records\":[\n{}\n]}}", head, fmt::join(records, ",\n"));
}

}  // namespace

std::string recording_text(const Json& recording) {
  std::string head;
  for (const auto& [key, value] : recording.items())
    if (key != "runs") head += fmt::format("{}:{},\n", Json(key).dump(), value.dump());
  std::vector<std::string> runs;
  for (const Json& run : recording.at("runs")) runs.push_back(run_text(run, recording));
  return fmt::format("{{\n{}\"runs\":[\n{}\n]\n}}\n", head, fmt::join(runs, ",\n"));
}

}  // namespace staircase
