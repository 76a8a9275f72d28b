#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <staircase/error.hpp>

#include "clauses.hpp"

namespace slicer {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const Loop& loop) {
  return loop.variable ? "for " + loop.variable->name : "loop";
}

std::string line_of(const Finding& found, bool with_reductions) {
  std::string verdict = slicer::name_of(found.verdict);
  if (found.verdict == Verdict::reduction && with_reductions)
    verdict += fmt::format(" ({})", fmt::join(found.reductions, ", "));
  const bool has_more = found.verdict == Verdict::dependent || found.verdict == Verdict::unknown;
  return fmt::format("  line {:<4} {:<10} {}{}\n", found.loop->line, name_of(*found.loop), verdict,
                     has_more ? ": " + found.reason : "");
}

std::string claim_of(const Finding& found) {
  return fmt::format("  line {:<4} {}: {}{}{}\n", found.pragma->line, found.pragma->text,
                     slicer::name_of(found.claim), found.claim == Claim::proved ? "" : ": ",
                     found.why);
}

std::string line_of(const Ruling& ruling, bool with_reductions) {
  const bool is_allowed = ruling.legality == Legality::reduction && with_reductions;
  std::string said =
      ruling.legality == Legality::unknown ? "beyond affine: " + ruling.reason
      : is_allowed ? fmt::format("legal up to rounding ({})", fmt::join(ruling.reductions, ", "))
                   : slicer::name_of(ruling.legality);
  if (ruling.legality == Legality::legal && !ruling.reason.empty()) said += "; " + ruling.reason;
  if (ruling.is_refused(with_reductions)) said += ": " + ruling.reason;
  if (ruling.legality == Legality::reduction && !with_reductions)
    said += ", which --reductions allows";
  return fmt::format("  line {:<4} {}: {}\n", ruling.request.line, ruling.request.text, said);
}

Json json_of(const Values& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}

Json json_of(const Pair& pair) {
  return {{"kind", pair.kind},
          {"element", pair.element},
          {"source", json_of(pair.source)},
          {"sink", json_of(pair.sink)},
          {"sizes", json_of(pair.sizes)}};
}

Json json_of(const Ruling& ruling) {
  return {{"line", ruling.request.line},
          {"request", ruling.request.text},
          {"verdict", slicer::name_of(ruling.legality)},
          {"pair", ruling.pair ? json_of(*ruling.pair) : Json()},
          {"reason", ruling.reason}};
}

/// The assumptions of all verdicts and rulings. If several loops of a function need the same
/// assumption, the line of the first loop is listed.
std::string assumptions_of(const Checked& checked) {
  std::set<std::pair<int, std::string>> all;
  for (const auto& [function, findings] : checked.functions) {
    std::set<std::string> known;
    const auto note = [&](const std::vector<Assumption>& assumptions) {
      for (const Assumption& assumption : assumptions)
        if (known.insert(assumption.text).second) all.insert({assumption.line, assumption.text});
    };
    for (const Finding& found : findings) {
      note(found.assumptions);
      for (const auto& [loop, rulings] : checked.rulings)
        for (const Ruling& ruling : rulings)
          if (loop == found.loop) note(ruling.assumptions);
    }
  }
  std::string text = all.empty() ? "" : "Assumed\n";
  for (const auto& [line, assumed] : all) text += fmt::format("  line {:<4} {}\n", line, assumed);
  return text;
}

Json json_of(const std::vector<Assumption>& assumptions) {
  Json all = Json::array();
  for (const Assumption& assumption : assumptions)
    all.push_back({{"line", assumption.line}, {"text", assumption.text}});
  return all;
}

}  // namespace

bool Checked::is_refuted(bool with_reductions) const {
  const bool is_illegal = std::any_of(rulings.begin(), rulings.end(), [&](const auto& of_loop) {
    return std::any_of(of_loop.second.begin(), of_loop.second.end(),
                       [&](const Ruling& ruling) { return ruling.is_refused(with_reductions); });
  });
  return is_illegal || std::any_of(functions.begin(), functions.end(), [](const auto& function) {
           return std::any_of(function.second.begin(), function.second.end(),
                              [](const Finding& found) { return found.claim == Claim::refuted; });
         });
}

Checked check(const std::string& file, const Source& source, const std::list<Function>& functions,
              const Requests& requests, bool is_strict) {
  Checked checked{file, {}, {}, {}, {}};
  std::set<unsigned> places;
  std::vector<const Pragma*> seen;
  for (const Function& function : functions) {
    std::vector<Finding> findings;
    for (const Loop& loop : function.loops) {
      if (loop.is_inlined) continue;
      findings.push_back(examine(function, loop, is_strict));
      seen.push_back(findings.back().pragma);
      if (const auto asked = requests.find(loop.range.first); asked != requests.end()) {
        checked.rulings.push_back({&loop, judge(function, loop, asked->second, is_strict)});
        places.insert(loop.range.first);
      }
    }
    if (!findings.empty()) checked.functions.push_back({&function, std::move(findings)});
  }
  for (const auto& [place, asked] : requests)
    if (!places.contains(place))
      throw staircase::BadInput(fmt::format("line {}: there is no loop after `{}`",
                                            asked.front().line, asked.front().text));
  for (const Pragma& pragma : source.pragmas())
    if (makes_parallel(pragma) && std::find(seen.begin(), seen.end(), &pragma) == seen.end())
      checked.lost.push_back(&pragma);
  for (const Pragma& pragma : source.pragmas()) {
    const bool is_seen = std::find(seen.begin(), seen.end(), &pragma) != seen.end();
    if (!makes_parallel(pragma) && !is_seen &&
        !uncovered(pragma, source.pragmas(pragma.statement)).empty())
      checked.uncovered.push_back(&pragma);
  }
  return checked;
}

std::string text_of(const Checked& checked, bool with_reductions) {
  std::string text = checked.file + "\n", claims;
  for (const auto& [function, findings] : checked.functions) {
    text += fmt::format("{}\n", function->name);
    for (const Finding& found : findings) {
      text += line_of(found, with_reductions);
      if (found.pragma) claims += claim_of(found);
    }
  }
  for (const Pragma* pragma : checked.lost)
    claims += fmt::format("  line {:<4} {}: beyond affine: its loop was not found\n", pragma->line,
                          pragma->text);
  for (const Pragma* pragma : checked.uncovered)
    claims += fmt::format("  line {:<4} {}: not covered\n", pragma->line, pragma->text);
  if (checked.functions.empty()) text += "There are no loops.\n";
  if (!claims.empty()) text += "OpenMP\n" + claims;
  if (!checked.rulings.empty()) text += "Transformations\n";
  for (const auto& [loop, rulings] : checked.rulings)
    for (const Ruling& ruling : rulings) text += line_of(ruling, with_reductions);
  return text + assumptions_of(checked);
}

Json json_of(const Checked& checked) {
  Json loops = Json::array();
  for (const auto& [function, findings] : checked.functions)
    for (const Finding& found : findings)
      loops.push_back({{"file", checked.file},
                       {"line", found.loop->line},
                       {"variable", found.loop->variable ? found.loop->variable->name : ""},
                       {"verdict", slicer::name_of(found.verdict)},
                       {"pair", found.pair ? json_of(*found.pair) : Json()},
                       {"reason", found.reason},
                       {"assumptions", json_of(found.assumptions)}});
  // Only a loop with a pragma has the key `claim`, and only a loop with requests has
  // `transformations`.
  std::size_t at = 0;
  for (const auto& [function, findings] : checked.functions)
    for (const Finding& found : findings) {
      Json& loop = loops[at++];
      if (found.pragma)
        loop["claim"] = {{"line", found.pragma->line},
                         {"pragma", found.pragma->text},
                         {"verdict", slicer::name_of(found.claim)},
                         {"pair", found.against ? json_of(*found.against) : Json()},
                         {"assumptions", json_of(found.assumptions)},
                         {"reason", found.why}};
      for (const auto& [of, rulings] : checked.rulings)
        if (of == found.loop)
          for (const Ruling& ruling : rulings) loop["transformations"].push_back(json_of(ruling));
    }
  return loops;
}

}  // namespace slicer
