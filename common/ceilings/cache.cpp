#include "cache.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <staircase/error.hpp>
#include <staircase/file.hpp>

namespace staircase {
namespace {

namespace fs = std::filesystem;

/// Empty if the user has no home.
fs::path cache_file(const Machine& machine) {
  fs::path directory;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    directory = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    directory = fs::path(home) / ".cache";
  return directory.empty() ? directory
                           : directory / "staircase" / ("ceilings-" + machine.name() + ".json");
}

}  // namespace

std::optional<Ceilings> read_cache(const Machine& machine) {
  std::ifstream file(cache_file(machine));
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return {};
  const auto rate = [&](const char* key) {
    const auto value = json.find(key);
    return value != json.end() && value->is_number() ? value->get<double>() : 0.0;
  };
  const Ceilings ceilings{rate("flops_f64"), rate("flops_f32"), rate("flops_f64_one_core"),
                          rate("flops_f32_one_core"), rate("copy_bytes_per_second")};
  const bool whole = ceilings.flops_f64 > 0 && ceilings.flops_f32 > 0 &&
                     ceilings.flops_f64_one > 0 && ceilings.flops_f32_one > 0 &&
                     ceilings.bandwidth > 0;
  return whole ? std::optional(ceilings) : std::nullopt;
}

void write_cache(const Machine& machine, const Ceilings& ceilings) {
  const fs::path file = cache_file(machine);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (file.empty() || error) return;
  try {
    write_file(file, {to_json(ceilings).dump(2) + "\n"});
  } catch (const Failure&) {
    // A cache that cannot be written costs a second at the next run, nothing else.
  }
}

}  // namespace staircase
