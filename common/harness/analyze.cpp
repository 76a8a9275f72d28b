#include "analyze.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <staircase/error.hpp>

#include "describe.hpp"
#include "file.hpp"
#include "number.hpp"

namespace staircase {

void run_analysed(char** argv, const StageProgram& program, const StageOptions& options) {
  const std::string name = names_of(program).program;
  if (program.device->kind == "cpu")
    throw BadInput(
        fmt::format("--analyze checks kernels, and {} has none; leave --analyze out", name));
  if (program.device->kind != "cpu-device")
    throw BadInput(fmt::format("--analyze needs the CPU device; run {}-cpu --analyze", name));
  if (!options.report.empty()) {
    check_writable(options.report);
    ::setenv("CUDA_ON_CPU_REPORT", options.report.c_str(), 1);
  }
  if (!options.blocks.empty()) {
    parse_integer("--blocks", options.blocks, 1, 1e9);
    ::setenv("CUDA_ON_CPU_BLOCKS", options.blocks.c_str(), 1);
  }
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  if (self.filename().string().ends_with("-analyze")) return;
  const std::string analysed = self.string() + "-analyze";
  ::execv(analysed.c_str(), argv);
  throw NotAvailable(fmt::format(
      "the analysed program '{}' has not been built; ./climb --device cpu-device builds it",
      std::filesystem::path(analysed).filename().string()));
}

}  // namespace staircase
