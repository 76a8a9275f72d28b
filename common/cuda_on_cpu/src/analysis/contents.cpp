#include "contents.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {
namespace {

constexpr std::size_t most_of_array = std::size_t{1} << 20;  // larger arrays are left out
// The first record beyond this size ends the file.
constexpr std::size_t most_of_file = std::size_t{16} << 20;

struct Contents {
  const char* path = std::getenv("CUDA_ON_CPU_CONTENTS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "wb");
  std::size_t written = 0;
  std::map<unsigned, std::string> last = {};  ///< bytes by the index of the allocation
  std::mutex mutex = {};
};

Contents& contents() {
  static auto& contents = indestructible<Contents>();
  return contents;
}

}  // namespace

void append_contents(const Launch& launch, const char* when) {
  Contents& c = contents();
  if (c.file == nullptr) return;
  const std::scoped_lock lock(c.mutex);
  auto arrays = nlohmann::ordered_json::array();
  std::string bytes;
  for (const Argument& argument : pointers_of(launch)) {
    bool is_changed = false;
    if (argument.bytes <= most_of_array) {
      std::string now(argument.base, argument.bytes);
      std::string& last = c.last[argument.number];
      is_changed = now != last;
      if (is_changed) bytes += last = std::move(now);
    }
    arrays.push_back({{"number", argument.number},
                      {"offset", argument.offset},
                      {"bytes", argument.bytes},
                      {"words", argument.words},
                      {"changed", is_changed}});
  }
  const std::string line = nlohmann::ordered_json{{"when", when},
                                                  {"kernel", launch.kernel},
                                                  {"arrays", arrays},
                                                  {"others", other_words_of(launch)}}
                               .dump() +
                           "\n";
  if (c.written + line.size() + bytes.size() > most_of_file) {
    // Later records refer to the bytes of this one.
    std::fclose(std::exchange(c.file, nullptr));
    return;
  }
  c.written += line.size() + bytes.size();
  std::fwrite(line.data(), 1, line.size(), c.file);
  std::fwrite(bytes.data(), 1, bytes.size(), c.file);
  std::fflush(c.file);
}

}  // namespace cuda_on_cpu::analysis
