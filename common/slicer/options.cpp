#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <staircase/error.hpp>

namespace slicer {
namespace {

namespace fs = std::filesystem;

/// The macro that a compiler defines with -fopenmp.
constexpr const char* openmp = "-D_OPENMP=201511";

/// The build's compile_commands.json: in the directory that the command line names, or in a
/// directory above the file, or in the subdirectory `build` of such a directory.
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

/// The words of the command in an entry of compile_commands.json, which has one of two forms.
std::vector<std::string> command_of(const nlohmann::json& entry) {
  if (entry.contains("arguments")) return entry.at("arguments").get<std::vector<std::string>>();
  return words_of(entry.at("command"));
}

/// The arguments of a command that affect the meaning of a source: include directories, macros and
/// the standard of the language.
std::vector<std::string> meaning_of(const std::vector<std::string>& words,
                                    const fs::path& directory) {
  std::vector<std::string> arguments;
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (words[w].starts_with("-std=")) arguments.push_back(words[w]);
    if (words[w] == "-include" && w + 1 < words.size()) {
      const fs::path header = directory / words[w + 1];
      arguments.insert(arguments.end(),
                       {"-include", fs::exists(header) ? header.string() : words[w + 1]});
      ++w;
      continue;
    }
    for (const std::string option : {"-isystem", "-iquote", "-idirafter", "-I", "-D", "-U"}) {
      if (!words[w].starts_with(option)) continue;
      const bool is_macro = option == "-D" || option == "-U";
      std::string said = words[w].substr(option.size());
      if (said.empty() && w + 1 < words.size()) said = words[++w];
      arguments.push_back(option + (is_macro ? said : (directory / said).string()));
      break;
    }
  }
  return arguments;
}

/// The arguments of the command line without OpenMP. With -fopenmp, libclang would hide the loops
/// of OpenMP. Only the macro _OPENMP remains, because the slicer reads the pragmas itself.
/// \throws BadInput if an argument is passed to one part of the compiler, where its effect is
/// unknown
std::vector<std::string> without_openmp(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::string& option = arguments[a];
    const bool is_passed_on = option == "-Xclang" || option == "-Xpreprocessor";
    if (is_passed_on && a + 1 < arguments.size()) ++a;
    const std::string& argument = arguments[a];
    const bool is_openmp = argument == "-fopenmp" || argument.starts_with("-fopenmp=") ||
                           argument == "-fopenmp-simd" || argument == "-qopenmp";
    if (is_passed_on && !is_openmp)
      throw staircase::BadInput(
          fmt::format("the option '{}' after -- is not allowed, because its effect is not known",
                      &option == &argument ? option : option + " " + argument));
    kept.push_back(is_openmp ? openmp : argument);
  }
  return kept;
}

/// The number of words, beginning with argument `at`, that request an output file of the compiler,
/// such as a list of dependencies; 0 if this argument requests no output file.
/// \param has_value whether -MD is followed by the name of its file, as in -Wp,-MD,FILE
std::size_t words_for_output(const std::vector<std::string>& arguments, std::size_t at,
                             bool has_value) {
  static const std::set<std::string> alone{"-c",
                                           "-S",
                                           "-E",
                                           "-M",
                                           "-MM",
                                           "-MP",
                                           "-MG",
                                           "-MV",
                                           "-emit-llvm",
                                           "-MD",
                                           "-MMD",
                                           "--write-dependencies",
                                           "--write-user-dependencies",
                                           "--dependencies",
                                           "--user-dependencies"};
  static const std::set<std::string> with_value{"-o",
                                                "--output",
                                                "-MF",
                                                "-MT",
                                                "-MQ",
                                                "-MJ",
                                                "--serialize-diagnostics",
                                                "-serialize-diagnostics",
                                                "-dumpdir",
                                                "-index-store-path"};
  const std::string& argument = arguments[at];
  const bool is_named = has_value && (argument == "-MD" || argument == "-MMD");
  if (with_value.contains(argument) || is_named) return 2;
  if (alone.contains(argument)) return 1;
  for (const char* beginning : {"-save-temps", "--save-temps", "-MF", "-MT", "-MQ", "-MJ", "-o",
                                "--output=", "-ftime-trace", "-fdump-"})
    if (argument.starts_with(beginning)) return 1;
  return 0;
}

/// The arguments without the options that request output files, because the slicer only reads the
/// source.
/// \throws BadInput if the name of a file is missing after its option
std::vector<std::string> without_outputs(const std::vector<std::string>& arguments,
                                         bool is_of_preprocessor = false) {
  std::vector<std::string> kept;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::size_t words = words_for_output(arguments, a, is_of_preprocessor);
    if (words > arguments.size() - a)
      throw staircase::BadInput(
          fmt::format("the option '{}' after -- lacks its value", arguments[a]));
    if (words > 0) {
      a += words - 1;
    } else if (arguments[a].starts_with("-Wp,")) {
      std::vector<std::string> parts;
      std::istringstream all(arguments[a].substr(4));
      for (std::string part; std::getline(all, part, ',');) parts.push_back(part);
      parts = without_outputs(parts, true);
      if (!parts.empty()) kept.push_back(fmt::format("-Wp,{}", fmt::join(parts, ",")));
    } else {
      kept.push_back(arguments[a]);
    }
  }
  return kept;
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

/// Whether an argument is the include directory of the CPU device's headers. These headers replace
/// CUDA's own, so the slicer passes this argument only for CUDA sources, and for sources that the
/// build compiles with these headers.
bool is_stand_in(const std::string& argument) {
  for (const std::string option : {"-I", "-isystem"})
    if (argument.starts_with(option))
      return fs::weakly_canonical(argument.substr(option.size())) ==
             fs::weakly_canonical(CUDA_HEADERS);
  return false;
}

/// The compiler arguments with which the build compiles a file. For a file that the build does not
/// compile, the result contains all include directories of the other files.
std::vector<std::string> from_build(const Options& options) {
  const auto commands = find_commands(options);
  if (!commands) return {};
  std::vector<std::string> headers;
  try {
    const fs::path wanted = fs::weakly_canonical(options.file);
    for (const auto& entry : nlohmann::json::parse(std::ifstream(*commands))) {
      const fs::path directory = entry.at("directory").get<std::string>();
      const std::vector<std::string> arguments = meaning_of(command_of(entry), directory);
      const fs::path listed = fs::weakly_canonical(directory / entry.at("file").get<std::string>());
      if (listed == wanted || contains_source(listed, wanted)) return arguments;
      for (const std::string& argument : arguments)
        if ((argument.starts_with("-I") || argument.starts_with("-isystem")) &&
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

/// Resolves a path that begins with ../ relative to the directory of the running program, as in a
/// package. Returns any other path unchanged.
std::string placed(const std::string& path) {
  if (!path.starts_with("../")) return path;
  return (fs::read_symlink("/proc/self/exe").parent_path() / path).lexically_normal();
}

}  // namespace

namespace {

/// The compiler's arguments that select C11.
std::vector<std::string> language_c() {
  return {"-std=gnu11", "-Wno-everything", openmp,           "-idirafter",
          OMP_HEADERS,  "-idirafter",      COMPILER_HEADERS, "-xc"};
}

}  // namespace

std::vector<std::string> language(bool is_cuda) {
  // There is no -fopenmp, which would hide the loops of OpenMP, but sources may include <omp.h>.
  // The omp.h of libclang comes first if it is installed, then the omp.h of the slicer. The omp.h
  // of GCC comes last, because libclang rejects its attributes. The compiler checks the formats of
  // {fmt}, so libclang need not.
  std::vector<std::string> words{
      "-std=c++20", "-Wno-everything", "-DFMT_CONSTEVAL=", openmp,
      "-idirafter", OMP_HEADERS,       "-idirafter",       COMPILER_HEADERS};
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
  if (!is_cuda && is_c(options.file)) arguments = {language_c(), {}, {}};
  arguments.header = placed(arguments.header);
  for (std::string& word : arguments.words) word = placed(word);
  if (!fs::exists(arguments.precompiled)) arguments.precompiled.clear();
  const std::vector<std::string> more = options.arguments.empty()
                                            ? from_build(options)
                                            : without_outputs(without_openmp(options.arguments));
  arguments.words.insert(arguments.words.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace slicer
