#include "settings.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "diagnostics.hpp"
#include "indestructible.hpp"

namespace cuda_on_cpu {
namespace {

std::uint64_t number(const char* name, std::uint64_t standard, std::uint64_t most) {
  const char* value = std::getenv(name);
  if (value == nullptr) return standard;
  const std::string_view text(value);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most)
    refuse(std::string(name) + " must be an integer from 1 to " + std::to_string(most) + ", not '" +
           value + "'");
  return number;
}

Schedule read_schedule() {
  Schedule schedule;
  const char* value = std::getenv("CUDA_ON_CPU_SCHEDULE");
  if (value != nullptr && !schedule.read(value))
    refuse(
        "CUDA_ON_CPU_SCHEDULE must be ascending, descending or random:SEED with a number, not '" +
        std::string(value) + "'");
  return schedule;
}

Settings read_settings() {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const std::uint64_t physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                 static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const char* report = std::getenv("CUDA_ON_CPU_REPORT");
  return {static_cast<unsigned>(number("CUDA_ON_CPU_THREADS", cores, 1024)),
          static_cast<int>(number("CUDA_ON_CPU_DEVICES", 1, 64)),
          static_cast<int>(number("CUDA_ON_CPU_PEERS", 64, 64)),
          number("CUDA_ON_CPU_MEMORY", physical / 2, most),
          number("CUDA_ON_CPU_LOST_AT", most, most),
          static_cast<int>(number("CUDA_ON_CPU_CAPABILITY", 90, 90)),
          static_cast<unsigned>(number("CUDA_ON_CPU_PATIENCE", 10, 86400)),
          report == nullptr ? "" : report,
          std::getenv("CUDA_ON_CPU_QUIET") != nullptr,
          number("CUDA_ON_CPU_BLOCKS", most, most),
          read_schedule()};
}

}  // namespace

const Settings& settings() {
  static const auto& settings = indestructible_from(read_settings);
  return settings;
}

}  // namespace cuda_on_cpu
