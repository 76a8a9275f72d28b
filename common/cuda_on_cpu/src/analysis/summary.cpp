#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reported.hpp"

namespace cuda_on_cpu::analysis {
namespace {

constexpr std::uint64_t sectors_of_wavefront = 4;  // a wavefront moves 4 * 32 bytes

/// The cost of a line's accesses minus their ideal cost, in sectors.
std::uint64_t waste_of(const Site& site) {
  const std::uint64_t waste = site.cost - std::min(site.cost, site.ideal);
  return site.space == Space::shared ? sectors_of_wavefront * waste : waste;
}

std::string found(const std::vector<ReportedFinding>& reported) {
  std::map<std::string, unsigned> kinds;
  unsigned errors = 0;
  for (const ReportedFinding& each : reported)
    if (!each.finding.is_note) {
      ++errors;
      ++kinds[each.finding.kind];
    }
  if (errors == 0) return "No error was found.";
  std::string list;
  for (const auto& [kind, count] : kinds)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", kind, count);
  return fmt::format("{} error{} found: {}.", errors, errors == 1 ? " was" : "s were", list);
}

struct Worst {
  Line line;
  Site site;
};

/// Finds the line with the largest cost beyond the ideal cost. If no line exceeds its ideal cost,
/// the line with the most requests is chosen.
/// \returns false if there are no accesses
bool find_worst(const std::vector<Counted>& counted, Worst& worst) {
  bool any = false;
  const auto rank = [](const Site& site) { return std::pair(waste_of(site), site.requests); };
  for (const Counted& kernel : counted)
    for (const auto& [line, site] : kernel.sites)
      if (!any || rank(site) > rank(worst.site)) {
        worst = {line, site};
        any = true;
      }
  return any;
}

std::string sentence_about(const Worst& worst) {
  const auto per_request = [&](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(worst.site.requests);
  };
  if (waste_of(worst.site) == 0) return "All accesses have their ideal cost.";
  return fmt::format("The {} at {} wastes most: {:.1f} {} per request instead of {:.1f}.",
                     access_name(worst.site), place_text(worst.line), per_request(worst.site.cost),
                     worst.site.space == Space::shared ? "wavefronts" : "sectors",
                     per_request(worst.site.ideal));
}

/// A sentence about the blocks that were not analysed; empty if there are none.
std::string left_out_of(const std::vector<Counted>& counted) {
  std::uint64_t blocks = 0, left_out = 0;
  for (const Counted& each : counted) {
    blocks += each.kernel.blocks;
    left_out += each.kernel.left_out;
  }
  if (left_out == 0) return "";
  return fmt::format(
      " Of {} blocks, {} only ran, and were neither checked nor counted (CUDA_ON_CPU_BLOCKS).",
      blocks, left_out);
}

}  // namespace

std::string summary_of(const std::vector<ReportedFinding>& reported,
                       const std::vector<Counted>& counted) {
  Worst worst;
  const bool any = find_worst(counted, worst);
  std::string summary = found(reported) + ' ';
  summary += any ? sentence_about(worst) : "No kernel accessed memory.";
  summary += left_out_of(counted);
  const auto first = std::find_if(reported.begin(), reported.end(),
                                  [](const ReportedFinding& t) { return !t.finding.is_note; });
  const Line look = first != reported.end() ? first->line : any ? worst.line : Line{};
  if (look.number != 0)
    summary += fmt::format(" Look first at {}: {}", place_text(look), text_of(look));
  return summary;
}

}  // namespace cuda_on_cpu::analysis
