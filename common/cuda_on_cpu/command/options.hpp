/// \file
/// The options of the command, which are those of nvcc.

#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace cuda_on_cpu::command {

/// An error in the command line. The message is one sentence.
struct BadUsage : std::runtime_error {
  using runtime_error::runtime_error;
};

using Words = std::vector<std::string>;

enum class Language { cuda, cxx, c, linked };

struct Input {
  std::string path;
  Language language;
};

/// The final product of the command.
enum class Product {
  program,
  objects,
  library,
  empty_object,
  translated,
  preprocessed,
  dependencies,
  ptx,  ///< the image of a module as text; cubin and fatbin are ELF files
  cubin,
  fatbin
};

struct Options {
  Product product = Product::program;
  std::string output;     ///< empty if not given
  std::string directory;  ///< directory for objects whose names are not given
  std::string compiler;   ///< empty for the default
  std::vector<Input> inputs;
  Words compile;         ///< options for the preprocessor and the compiler
  Words dependencies;    ///< -MD and similar options
  Words link;            ///< libraries and objects, in order
  Words ignored;         ///< options without effect on a CPU
  std::string standard;  ///< C++ standard
  bool links_device_code = false;  ///< -rdc=true: device names have external linkage
  bool shared = false;   ///< whether to make a shared library; no effect with -dlink
  /// Whether functions and variables without an annotation belong to the device. This is an option
  /// of NVRTC.
  bool device_is_default = false;
  bool analyse = false, verbose = false, dry_run = false, quiet = false;
  bool help = false, version = false, explain = false, headers = false, libraries = false;
};

/// Parses the words of a command line.
/// \throws BadUsage
Options read_options(Words words);

}  // namespace cuda_on_cpu::command
