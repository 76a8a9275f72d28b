/// \file
/// The report as SARIF, which editors and code hosts display. The CPU device writes SARIF, too.

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "report.hpp"

namespace slicer {
namespace {

using Json = nlohmann::ordered_json;

/// The path of a file; relative to the working directory, as code hosts expect, if the file is
/// below this directory.
std::string uri_of(const std::string& file) {
  const std::string here = std::filesystem::current_path().string() + '/';
  return file.starts_with(here) ? file.substr(here.size()) : file;
}

Json location_of(const std::string& file, int line) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", {{"startLine", line}}}}}};
}

class Results {
 public:
  explicit Results(const std::string& file) : file_(file) {}

  void add(const std::string& rule, bool is_error, int line, const std::string& text) {
    all_.push_back({{"ruleId", rule},
                    {"level", is_error ? "error" : "note"},
                    {"message", {{"text", text}}},
                    {"locations", Json::array({location_of(file_, line)})}});
    if (names_.insert(rule).second)
      rules_.push_back({{"id", rule}, {"shortDescription", {{"text", rule}}}});
  }

  Json json() const {
    const Json driver{{"name", "slice"}, {"rules", rules_}};
    const Json run{{"tool", {{"driver", driver}}}, {"results", all_}};
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({run})}};
  }

 private:
  const std::string& file_;
  Json all_ = Json::array(), rules_ = Json::array();
  std::set<std::string> names_;
};

}  // namespace

Json sarif_of(const Checked& checked, bool with_reductions) {
  Results results(checked.file);
  for (const auto& [function, findings] : checked.functions)
    for (const Finding& found : findings) {
      if (found.claim == Claim::refuted || found.claim == Claim::unknown)
        results.add(found.claim == Claim::refuted ? "refuted" : "not-decided",
                    found.claim == Claim::refuted, found.pragma->line,
                    fmt::format("{}: {}", found.pragma->text, found.why));
      for (const Assumption& assumption : found.assumptions)
        results.add("assumed", false, assumption.line, "assumed: " + assumption.text);
    }
  for (const Pragma* pragma : checked.lost)
    results.add("not-decided", false, pragma->line,
                fmt::format("{}: its loop was not found", pragma->text));
  for (const Pragma* pragma : checked.uncovered)
    results.add("not-covered", false, pragma->line,
                fmt::format("{}: the directive is not covered", pragma->text));
  for (const auto& [loop, rulings] : checked.rulings)
    for (const Ruling& ruling : rulings)
      if (ruling.is_refused(with_reductions))
        results.add("illegal", true, ruling.request.line,
                    fmt::format("{}: {}", ruling.request.text, ruling.reason));
  return results.json();
}

}  // namespace slicer
