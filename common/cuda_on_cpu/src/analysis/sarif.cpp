#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "reported.hpp"

namespace cuda_on_cpu::analysis {
namespace {

using Json = nlohmann::ordered_json;

/// The path of a file. As code hosts require, the path is relative to the current directory if the
/// file is below this directory.
std::string uri_of(const std::string& file) {
  const std::string here = std::filesystem::current_path().string() + '/';
  return file.starts_with(here) ? file.substr(here.size()) : file;
}

Json location_of(const Line& line, const char* message = nullptr) {
  Json location{{"physicalLocation",
                 {{"artifactLocation", {{"uri", uri_of(line.file)}}},
                  {"region", {{"startLine", line.number}}}}}};
  if (message != nullptr) location["message"] = {{"text", message}};
  return location;
}

/// The name of a rule, which contains no blanks: "out-of-bounds" for "out of bounds".
std::string rule_of(std::string kind) {
  for (char& c : kind)
    if (c == ' ') c = '-';
  return kind;
}

Json result_of(const ReportedFinding& reported) {
  const Finding& f = reported.finding;
  std::string text = f.kind + ": " + f.sentence;
  if (!f.kernel.empty()) text += " (in " + f.kernel + ')';
  Json result{{"ruleId", rule_of(f.kind)},
              {"level", f.is_note ? "note" : "error"},
              {"message", {{"text", text}}},
              {"occurrenceCount", f.count}};
  if (reported.line.number != 0) result["locations"] = Json::array({location_of(reported.line)});
  if (reported.other_line.number != 0)
    result["relatedLocations"] =
        Json::array({location_of(reported.other_line, "the other access")});
  return result;
}

}  // namespace

std::string sarif_of(const std::vector<ReportedFinding>& reported) {
  Json results = Json::array(), rules = Json::array();
  std::set<std::string> names;
  for (const ReportedFinding& each : reported) {
    results.push_back(result_of(each));
    if (names.insert(rule_of(each.finding.kind)).second)
      rules.push_back({{"id", rule_of(each.finding.kind)},
                       {"shortDescription", {{"text", each.finding.kind}}}});
  }
  const Json driver{{"name", "cuda-on-cpu"}, {"rules", rules}};
  const Json run{{"tool", {{"driver", driver}}}, {"results", results}};
  return Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({run})}}
             .dump(1) +
         '\n';
}

}  // namespace cuda_on_cpu::analysis
