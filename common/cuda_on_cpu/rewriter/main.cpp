/// \file
/// Turns CUDA C++ into plain C++ for the CPU device, for a build that compiles the output itself:
///
///     rewrite_cuda SOURCE.cu OUTPUT.cpp DEPFILE COMPILER [FLAGS...] [--behind HEADER REWRITTEN]
///     rewrite_cuda HEADER REWRITTEN DEPFILE COMPILER [FLAGS...] --header
///
/// The compiler's preprocessor runs first, so that the rewriter also finds launches in macros and
/// headers. A header that many sources include can be rewritten separately with --header and then
/// precompiled. With --behind, the output includes the rewritten header instead of its text.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "process.hpp"
#include "rewrite.hpp"

namespace {

using cuda_on_cpu::rewriter::Command;

/// The arguments of the command, except for the compiler.
struct Options {
  std::string source, output, depfile;
  std::string header, rewritten;  ///< the header to rewrite (--header) or to include first
                                  ///< (--behind), and its rewritten form (only --behind)
  bool is_header = false;         ///< whether only the header is rewritten
};

std::string content_of(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw std::runtime_error("'" + name + "' cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A preprocessed text in two parts: the header that the preprocessor inserted first, and the rest.
struct Begun {
  std::string header, rest;
};

/// Splits a text at the line markers of g++ or clang++ that enclose the header. The header is empty
/// if there are no such markers.
Begun take_apart(const std::string& text, const std::string& header) {
  const std::string name = (header.starts_with('/') ? "" : "./") + header;
  const std::string enters = "# 1 \"" + name + "\" 1\n";
  const std::size_t entered = text.find(enters);
  const std::size_t left = std::min(text.find("# 0 \"<command-line>\" 2\n", entered),
                                    text.find("# 2 \"<built-in>\" 2\n", entered));
  if (left == text.npos) return {"", text};
  const std::size_t begin = entered + enters.size();
  return {"# 1 \"" + name + "\"\n" + text.substr(begin, left - begin),
          text.substr(text.find('\n', left) + 1)};
}

/// The text with an include of the rewritten header instead of the header's text. The text is
/// unchanged if the header was rewritten differently in this source, because names in the source
/// can affect the result.
std::string behind_header(const std::string& text, const Options& options) {
  const auto [header, rest] = take_apart(text, options.header);
  if (header != content_of(options.rewritten)) return text;
  const auto directory = std::filesystem::absolute(options.output).parent_path();
  const auto name = std::filesystem::proximate(options.rewritten, directory);
  return "#include \"" + name.string() + "\"\n" + rest;
}

int make(const Options& options, Command compiler) {
  const bool guards =
      std::find(compiler.begin(), compiler.end(), "-DCUDA_ON_CPU_ANALYSE") != compiler.end();
  if (!options.header.empty()) compiler.insert(compiler.end(), {"-include", options.header});
  compiler.insert(compiler.end(), {"-E", "-x", "c++", "-MD", "-MF", options.depfile, "-MT",
                                   options.output, options.source});
  std::string text;
  if (const int status = cuda_on_cpu::rewriter::run(compiler, nullptr, &text); status != 0)
    return status;
  text = cuda_on_cpu::rewriter::rewrite(std::move(text), guards, options.is_header);
  if (options.is_header)
    text = take_apart(text, options.header).header;
  else if (!options.header.empty())
    text = behind_header(text, options);
  std::ofstream file(options.output);
  file << text;
  if (!file.flush()) throw std::runtime_error("'" + options.output + "' cannot be written");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Command words(argv + 1, argv + argc);
  Options options;
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "--header" || word == "--behind";
  });
  if (option != words.end() && *option == "--header") {
    options.is_header = true;
    options.header = std::exchange(words[0], "/dev/null");
    words.erase(option);
  } else if (words.end() - option > 2) {
    options.header = option[1];
    options.rewritten = option[2];
    words.erase(option, option + 3);
  }
  if (words.size() < 4) {
    std::cerr << "usage: " << argv[0]
              << " SOURCE.cu OUTPUT.cpp DEPFILE COMPILER [FLAGS...] [--behind HEADER REWRITTEN |"
                 " --header]\n";
    return 2;
  }
  options.source = words[0];
  options.output = words[1];
  options.depfile = words[2];
  try {
    return make(options, {words.begin() + 3, words.end()});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
