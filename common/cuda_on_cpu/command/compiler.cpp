#include "compiler.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "../rewriter/process.hpp"

namespace cuda_on_cpu::command {
namespace {

namespace fs = std::filesystem;

#ifdef __clang__
constexpr bool built_by_clang = true;
#else
constexpr bool built_by_clang = false;
#endif

/// The release of GCC's C++ library and the minor version of the GNU C library with which this
/// command was built; 0 for other libraries.
#ifdef _GLIBCXX_RELEASE
constexpr int built_with_release = _GLIBCXX_RELEASE;
#else
constexpr int built_with_release = 0;
#endif
#ifdef __GLIBC_MINOR__
constexpr int built_with_glibc = __GLIBC_MINOR__;
#else
constexpr int built_with_glibc = 0;
#endif

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

bool is_program(const std::string& name) {
  const auto can_run = [](const fs::path& path) {
    return fs::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != name.npos) return can_run(name);
  std::istringstream path(value_of("PATH"));
  for (std::string directory; std::getline(path, directory, ':');)
    if (can_run(fs::path(directory) / name)) return true;
  return false;
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The compiler that the user has named; empty if there is none.
Words named(const Options& options) {
  if (!options.compiler.empty()) return {options.compiler};
  if (const std::string chosen = value_of("NVCC_CCBIN"); !chosen.empty()) return {chosen};
  const std::string built_with = CXX_COMPILER;
  return built_with.empty() ? words_of(value_of("CXX")) : Words{};
}

Words search() {
  for (const auto* name : {"g++", "clang++"})
    if (is_program(name)) return {name};
  throw std::runtime_error(
      "cuda-on-cpu: there is no C++ compiler on the PATH; install g++ or clang++ (Debian, Ubuntu: "
      "apt install g++), or select one with -ccbin or CXX");
}

/// Properties of a compiler: whether it is clang, the release of its C++ library, and the minor
/// version of its C library.
struct Properties {
  int is_clang = 0, release = 0, glibc = 0;
};

/// Queries the properties of the compiler from its preprocessor.
Properties properties_of(const Compiler& compiler, const Options& options) {
  const std::string question =
      "#include <cstddef>\n"
      "#ifndef __clang__\n#define __clang__ 0\n#endif\n"
      "#ifndef _GLIBCXX_RELEASE\n#define _GLIBCXX_RELEASE 0\n#endif\n"
      "#ifndef __GLIBC_MINOR__\n#define __GLIBC_MINOR__ 0\n#endif\n"
      "cuda_on_cpu __clang__ _GLIBCXX_RELEASE __GLIBC_MINOR__\n";
  Words command = compiler.words;
  for (const auto& word : options.compile)
    if (word.starts_with("-stdlib=")) command.push_back(word);
  command.insert(command.end(), {"-E", "-P", "-x", "c++", "-"});
  std::string answer;
  const int status = rewriter::run(command, &question, &answer);
  const std::string mark = "cuda_on_cpu ";
  const auto begin = answer.find(mark);
  Properties properties;
  if (status != 0 || begin == answer.npos ||
      !(std::istringstream(answer.substr(begin + mark.size())) >> properties.is_clang >>
        properties.release >> properties.glibc))
    throw std::runtime_error(
        "cuda-on-cpu: '" + compiler.words[0] +
        "' is not a C++ compiler, or its C++ library is not installed (Debian, Ubuntu: apt "
        "install g++)");
  return properties;
}

/// Checks that the compiler's libraries are recent enough. The libraries of the device are
/// archives, whose calls of the C++ and C libraries must be resolved when a program is linked.
void require_libraries(const Compiler& compiler, const Properties& properties) {
  const auto refuse = [&](const std::string& found, const std::string& needed) {
    throw std::runtime_error(
        "cuda-on-cpu: '" + compiler.words[0] + "' uses " + found +
        ", but cuda-on-cpu was built with " + needed +
        "; select a newer compiler with -ccbin, or build cuda-on-cpu on this machine");
  };
  if (properties.release < built_with_release)
    refuse(properties.release == 0 ? "a C++ library other than that of GCC"
                                   : "the C++ library of GCC " + std::to_string(properties.release),
           "that of GCC " + std::to_string(built_with_release));
  if (properties.glibc < built_with_glibc)
    refuse("version 2." + std::to_string(properties.glibc) + " of the C library",
           "version 2." + std::to_string(built_with_glibc));
}

}  // namespace

Compiler find_compiler(const Options& options) {
  Compiler compiler{named(options)};
  if (compiler.words.empty() && *CXX_COMPILER != '\0') return {{CXX_COMPILER}, built_by_clang};
  if (compiler.words.empty()) compiler.words = search();
  if (!is_program(compiler.words[0]))
    throw std::runtime_error("cuda-on-cpu: the compiler '" + compiler.words[0] +
                             "' is not found; select another one with -ccbin or CXX");
  const Properties properties = properties_of(compiler, options);
  compiler.is_clang = properties.is_clang != 0;
  require_libraries(compiler, properties);
  return compiler;
}

}  // namespace cuda_on_cpu::command
