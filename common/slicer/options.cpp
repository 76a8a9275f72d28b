#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <staircase/error.hpp>

namespace slicer {
namespace {

namespace fs = std::filesystem;

/// The build's commands: where the command line says, or in a directory above the file or beside
/// it.
std::optional<fs::path> find_commands(const Options& options) {
  const std::string name = "compile_commands.json";
  if (!options.build.empty()) {
    const fs::path named = fs::path(options.build) / name;
    if (!fs::exists(named))
      throw staircase::BadInput(fmt::format("there is no '{}'", named.string()));
    return named;
  }
  for (fs::path above = fs::absolute(options.file).parent_path();; above = above.parent_path()) {
    for (const fs::path& place : {above / name, above / "build" / name})
      if (fs::exists(place)) return place;
    if (above == above.parent_path()) return {};
  }
}

/// The arguments of a command that say what a source means: where headers are, and definitions.
std::vector<std::string> meaning_of(const std::string& command, const fs::path& directory) {
  std::istringstream words(command);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) {
    if (word.starts_with("-I"))
      arguments.push_back("-I" + (directory / word.substr(2)).string());
    else if (word.starts_with("-isystem"))
      arguments.push_back("-isystem" + (directory / word.substr(8)).string());
    else if (word.starts_with("-D") && word.find_first_of("\"'\\") == word.npos)
      arguments.push_back(word);
  }
  return arguments;
}

/// What the build says of a file; for one that is not built itself, where all others find headers.
std::vector<std::string> from_build(const Options& options) {
  const auto commands = find_commands(options);
  if (!commands) return {};
  std::vector<std::string> headers;
  try {
    const fs::path wanted = fs::weakly_canonical(options.file);
    for (const auto& entry : nlohmann::json::parse(std::ifstream(*commands))) {
      const fs::path directory = entry.at("directory").get<std::string>();
      const std::vector<std::string> arguments = meaning_of(entry.at("command"), directory);
      if (fs::weakly_canonical(directory / entry.at("file").get<std::string>()) == wanted)
        return arguments;
      for (const std::string& argument : arguments)
        if (!argument.starts_with("-D") &&
            std::find(headers.begin(), headers.end(), argument) == headers.end())
          headers.push_back(argument);
    }
  } catch (const nlohmann::json::exception&) {
    throw staircase::BadInput(
        fmt::format("the file '{}' is no list of commands", commands->string()));
  }
  return headers;
}

}  // namespace

std::vector<std::string> compiler_arguments(const Options& options, bool is_cuda) {
  // Without OpenMP, which would hide its loops; but its header may be named. Formats of {fmt} are
  // left to the compiler.
  std::vector<std::string> arguments{"-std=c++20", "-Wno-everything",
                                     "-DFMT_CONSTEVAL=", "-idirafter", OMP_HEADERS};
  if (is_cuda)
    for (const char* said :
         {"-I", CUDA_HEADERS, "-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib",
          "-D__CUDACC__", "-DSTAIRCASE_CUDA_ON_CPU", "-include", CUDA_HEADER})
      arguments.push_back(said);
  const std::vector<std::string> more =
      options.arguments.empty() ? from_build(options) : options.arguments;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace slicer
