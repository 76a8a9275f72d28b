#include "places.hpp"

#include <cstdlib>
#include <filesystem>

namespace cuda_on_cpu::command {
namespace {

namespace fs = std::filesystem;

/// The directory of the Thrust and CUB headers in a toolkit of CUDA 13 or later; empty if it is
/// missing.
std::string headers_in(const fs::path& directory) {
  const fs::path headers = directory / "include" / "cccl";
  return fs::exists(headers / "thrust" / "version.h") ? headers.string() : "";
}

/// The directory of the toolkit: the one that CUDA_HOME or CUDA_PATH names, or the default one.
std::string toolkit() {
  for (const auto* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* said = std::getenv(variable); said != nullptr && *said != '\0') return said;
  return "/usr/local/cuda";
}

}  // namespace

Places find_places() {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path here = self.parent_path();
  // In the build directory, the libraries are next to the command. After installation, their paths
  // are relative to that of the command.
  const bool is_built = std::filesystem::exists(here / "libcuda_on_cpu.a");
  const auto place = [&](const char* built, const char* installed) {
    return (here / (is_built ? built : installed)).lexically_normal();
  };
  return {self, place(BUILT_HEADERS, INSTALLED_HEADERS), place(".", INSTALLED_LIBRARIES), toolkit(),
          headers_in(toolkit())};
}

}  // namespace cuda_on_cpu::command
