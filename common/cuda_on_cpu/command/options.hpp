/// \file
/// What the command is asked for, in the words of nvcc.

#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace cuda_on_cpu::command {

/// What is wrong with the command line, in a sentence.
struct BadUsage : std::runtime_error {
  using runtime_error::runtime_error;
};

using Words = std::vector<std::string>;

enum class Language { cuda, cxx, c, linked };

struct Input {
  std::string path;
  Language language;
};

/// The last thing that is made.
enum class Product {
  program,
  objects,
  library,
  empty_object,
  translated,
  preprocessed,
  dependencies,
  ptx,  ///< the image of a module, as a text; the next ones as a file of ELF
  cubin,
  fatbin
};

struct Options {
  Product product = Product::program;
  std::string output;     ///< empty if nothing is said
  std::string directory;  ///< of objects whose names are not given
  std::string compiler;   ///< empty for the one that the command was built with
  std::vector<Input> inputs;
  Words compile;         ///< for the preprocessor and the compiler
  Words dependencies;    ///< -MD and its like
  Words link;            ///< libraries and objects in their order
  Words ignored;         ///< what has no meaning on a CPU
  std::string standard;  ///< of C++
  bool shared = false;   ///< a library that is loaded; means nothing for -dlink
  /// Whether what no word says it of is the device's, as NVRTC may be told.
  bool device_is_default = false;
  bool analyse = false, verbose = false, dry_run = false, quiet = false;
  bool help = false, version = false, explain = false, headers = false, libraries = false;
};

/// Reads the words of a command line.
/// \throws BadUsage
Options read_options(Words words);

}  // namespace cuda_on_cpu::command
