#include "cache.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <harness/file.hpp>
#include <staircase/error.hpp>

namespace staircase {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The path of the file with the ceilings of a device. The path is empty if neither XDG_CACHE_HOME
/// nor HOME names a directory.
fs::path cache_file(const std::string& device) {
  fs::path directory;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    directory = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    directory = fs::path(home) / ".cache";
  return directory.empty() ? directory : directory / "staircase" / ("ceilings-" + device + ".json");
}

}  // namespace

Json read_cache(const std::string& device) {
  std::ifstream file(cache_file(device));
  const auto json = Json::parse(file, nullptr, false);
  return json.is_object() ? json : Json(nullptr);
}

void write_cache(const std::string& device, const Json& ceilings) {
  const fs::path file = cache_file(device);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (file.empty() || error) return;
  try {
    write_file(file, {ceilings.dump(2) + "\n"});
  } catch (const Failure&) {
    // Without a cache, the next run measures again, which takes only a few seconds.
  }
}

}  // namespace staircase
