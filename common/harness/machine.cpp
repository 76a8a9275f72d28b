#include "machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace staircase {
namespace {

/// The text after `separator` in the first line that begins with `key`, without surrounding spaces
/// and quotation marks. The text is empty if there is no such line.
std::string value_in(const std::filesystem::path& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto begin = line.find_first_not_of(" \t\"", line.find(separator) + 1);
    const auto end = line.find_last_not_of(" \t\"");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }
  return "";
}

/// The value of `key` in a file, converted from KiB to bytes; 0 if the file has no such key.
double kibibytes_in(const char* path, std::string_view key) {
  return 1024 * std::strtod(value_in(path, key, ':').c_str(), nullptr);
}

/// The number at the beginning of a file; infinity if the file cannot be read or does not begin
/// with a number.
double number_in(const std::filesystem::path& path) {
  double number;
  return std::ifstream(path) >> number ? number : std::numeric_limits<double>::infinity();
}

}  // namespace

Machine this_machine() {
  utsname kernel{};
  ::uname(&kernel);
  std::string cpu = value_in("/proc/cpuinfo", "model name", ':');
  if (cpu.empty()) cpu = kernel.machine;
  std::string system = value_in("/etc/os-release", "PRETTY_NAME", '=');
  if (system.empty()) system = kernel.sysname;
  return {cpu, omp_get_num_procs(), kibibytes_in("/proc/meminfo", "MemTotal"), system,
#ifdef __clang__
          "clang " __clang_version__
#else
          "g++ " __VERSION__
#endif
  };
}

std::string slug(std::string_view text) {
  std::string slug;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug;
}

std::string Machine::name() const {
  return fmt::format("{}-{}-core{}", slug(cpu), cores, cores == 1 ? "" : "s");
}

nlohmann::ordered_json to_json(const Machine& machine) {
  return {{"name", machine.name()},   {"cpu", machine.cpu},
          {"cores", machine.cores},   {"memory_bytes", machine.memory},
          {"system", machine.system}, {"compiler", machine.compiler}};
}

double available_memory(const std::filesystem::path& control_group) {
  const double machine = kibibytes_in("/proc/meminfo", "MemAvailable");
  const double limit = number_in(control_group / "memory.max");
  const double used = number_in(control_group / "memory.current");
  if (!std::isfinite(limit) || !std::isfinite(used)) return machine;
  // Pages of the file cache count as used memory, but the system can reclaim them.
  const auto statistics = control_group / "memory.stat";
  double files = 0;
  for (const char* key : {"inactive_file ", "active_file "})
    files += std::strtod(value_in(statistics, key, ' ').c_str(), nullptr);
  return std::clamp(limit - used + files, 0.0, machine);
}

double peak_memory() {
  // Unlike VmHWM, the value of getrusage() includes the memory of the parent process, because a new
  // process starts as a copy of its parent.
  if (const double peak = kibibytes_in("/proc/self/status", "VmHWM"); peak > 0) return peak;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

cpu_set_t usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const int places = omp_get_num_places();
  if (places == 0) ::sched_getaffinity(0, sizeof cores, &cores);
  for (int place = 0; place < places; ++place) {
    std::vector<int> own(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, own.data());
    for (const int core : own) CPU_SET(core, &cores);
  }
  return cores;
}

int thread_count() { return omp_get_max_threads(); }

std::string utc_now() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace staircase
