#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <staircase/error.hpp>

namespace slicer {
namespace {

namespace fs = std::filesystem;

/// The build's compile_commands.json: in the directory that the command line names, or in a
/// directory above the file or its subdirectory `build`.
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

/// The words of a command, divided as a shell divides them.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = 0;
  for (std::size_t c = 0; c < command.size(); ++c) {
    const bool is_quote = quote ? command[c] == quote : command[c] == '"' || command[c] == '\'';
    const bool is_escape = command[c] == '\\' && quote != '\'' && c + 1 < command.size();
    const bool is_gap = !quote && (command[c] == ' ' || command[c] == '\n');
    if (!is_gap && !is_in_word) words.emplace_back();
    is_in_word = !is_gap;
    if (is_quote)
      quote = quote ? 0 : command[c];
    else if (!is_gap)
      words.back() += is_escape ? command[++c] : command[c];
  }
  return words;
}

/// The arguments of a command that affect the meaning of a source: include directories and macros.
std::vector<std::string> meaning_of(const std::string& command, const fs::path& directory) {
  std::vector<std::string> arguments;
  const std::vector<std::string> words = words_of(command);
  for (std::size_t w = 0; w < words.size(); ++w)
    for (const std::string option : {"-I", "-isystem", "-D"}) {
      if (!words[w].starts_with(option)) continue;
      std::string said = words[w].substr(option.size());
      if (said.empty() && w + 1 < words.size()) said = words[++w];
      arguments.push_back(option + (option == "-D" ? said : (directory / said).string()));
      break;
    }
  return arguments;
}

/// The arguments of the command line. With -fopenmp, libclang would hide the loops of OpenMP, so
/// only the macro _OPENMP remains: the slicer reads the pragmas itself.
std::vector<std::string> without_openmp(std::vector<std::string> arguments) {
  for (std::string& argument : arguments)
    if (argument == "-fopenmp" || argument.starts_with("-fopenmp=") || argument == "-qopenmp")
      argument = "-D_OPENMP=201511";
  return arguments;
}

/// Whether a source of the build includes the wanted source: a unity build of Meson or CMake lists
/// only a file that includes several sources by their absolute paths.
bool contains_source(const fs::path& listed, const fs::path& wanted) {
  if (listed.filename().string().find("unity") == std::string::npos) return false;
  std::ifstream lines(listed);
  for (std::string line; std::getline(lines, line);)
    for (const char* quotes : {"<>", "\"\""})
      if (line.starts_with("#include") &&
          line.find(quotes[0] + wanted.string() + quotes[1]) != std::string::npos)
        return true;
  return false;
}

/// Whether an argument names the CPU device's headers. They stand in for CUDA's own, so only CUDA
/// sources get them, and sources that the build compiles with them.
bool is_stand_in(const std::string& argument) {
  for (const std::string option : {"-I", "-isystem"})
    if (argument.starts_with(option))
      return fs::weakly_canonical(argument.substr(option.size())) ==
             fs::weakly_canonical(CUDA_HEADERS);
  return false;
}

/// The arguments of the build for a file. For a file that the build does not compile, they are all
/// include directories of the other files.
std::vector<std::string> from_build(const Options& options) {
  const auto commands = find_commands(options);
  if (!commands) return {};
  std::vector<std::string> headers;
  try {
    const fs::path wanted = fs::weakly_canonical(options.file);
    for (const auto& entry : nlohmann::json::parse(std::ifstream(*commands))) {
      const fs::path directory = entry.at("directory").get<std::string>();
      const std::vector<std::string> arguments = meaning_of(entry.at("command"), directory);
      const fs::path listed = fs::weakly_canonical(directory / entry.at("file").get<std::string>());
      if (listed == wanted || contains_source(listed, wanted)) return arguments;
      for (const std::string& argument : arguments)
        if (!argument.starts_with("-D") &&
            std::find(headers.begin(), headers.end(), argument) == headers.end())
          headers.push_back(argument);
    }
  } catch (const nlohmann::json::exception&) {
    throw staircase::BadInput(
        fmt::format("the file '{}' is no list of commands", commands->string()));
  }
  std::erase_if(headers, is_stand_in);
  return headers;
}

/// A path that begins with ../ is relative to the program, as in a package. Others stay unchanged.
std::string placed(const std::string& path) {
  if (!path.starts_with("../")) return path;
  return (fs::read_symlink("/proc/self/exe").parent_path() / path).lexically_normal();
}

}  // namespace

std::vector<std::string> language(bool is_cuda) {
  // There is no -fopenmp, which would hide the loops of OpenMP, but sources may include <omp.h>. The
  // omp.h of libclang comes first if it is installed, then that of the slicer. GCC's comes last,
  // because libclang rejects its attributes. The compiler checks the formats of {fmt}, so libclang
  // need not.
  std::vector<std::string> words{"-std=c++20", "-Wno-everything", "-DFMT_CONSTEVAL=", "-idirafter",
                                 OMP_HEADERS,  "-idirafter",      COMPILER_HEADERS};
  if (!is_cuda)
    words.push_back("-xc++");
  else
    for (const char* word :
         {"-I", LIBRARY_HEADERS, "-I", CUDA_HEADERS, "-xcuda", "--cuda-host-only", "-nocudainc",
          "-nocudalib", "-D__CUDACC__", "-DSTAIRCASE_CUDA_ON_CPU"})
      words.push_back(word);
  return words;
}

Arguments compiler_arguments(const Options& options, bool is_cuda) {
  Arguments arguments{language(is_cuda), is_cuda ? CUDA_HEADER : "",
                      is_cuda ? PRECOMPILED_CUDA : PRECOMPILED_CXX};
  arguments.header = placed(arguments.header);
  for (std::string& word : arguments.words) word = placed(word);
  if (!fs::exists(arguments.precompiled)) arguments.precompiled.clear();
  const std::vector<std::string> more =
      options.arguments.empty() ? from_build(options) : without_openmp(options.arguments);
  arguments.words.insert(arguments.words.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace slicer
