#include "analysis.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace staircase {

std::optional<Analysis> read_analysis(const std::filesystem::path& report) {
  const auto json = nlohmann::json::parse(std::ifstream(report), nullptr, false);
  if (!json.is_object()) return {};
  Sectors sectors;
  for (const auto& kernel : json.at("kernels"))
    for (const char* kind : {"global_loads", "global_stores", "global_atomics"}) {
      if (!kernel.contains(kind)) continue;
      const auto& accesses = kernel.at(kind);
      sectors.requests += accesses.at("requests").get<double>();
      sectors.moved += accesses.at("sectors").get<double>();
      sectors.ideal += accesses.at("ideal_sectors").get<double>();
    }
  Analysis analysis;
  if (sectors.requests > 0) analysis.sectors = sectors;
  if (const auto& errors = json.at("errors"); !errors.empty())
    analysis.error = errors.front().at("sentence");
  return analysis;
}

}  // namespace staircase
