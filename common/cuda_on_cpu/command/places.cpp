#include "places.hpp"

#include <filesystem>

namespace cuda_on_cpu::command {

Places find_places() {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path here = self.parent_path();
  // Where it was built, the libraries lie beside it; what is installed may be moved as a whole.
  const bool is_built = std::filesystem::exists(here / "libcuda_on_cpu.a");
  const auto place = [&](const char* built, const char* installed) {
    return (here / (is_built ? built : installed)).lexically_normal();
  };
  return {self, place(BUILT_HEADERS, INSTALLED_HEADERS), place(".", INSTALLED_LIBRARIES)};
}

}  // namespace cuda_on_cpu::command
