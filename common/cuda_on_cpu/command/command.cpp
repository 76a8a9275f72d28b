#include "command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "../rewriter/passes.hpp"
#include "../rewriter/process.hpp"
#include "../rewriter/rewrite.hpp"
#include "../src/driver/image_text.hpp"
#include "compiler.hpp"
#include "places.hpp"
#include "shared_limit.hpp"

namespace cuda_on_cpu::command {
namespace {

namespace fs = std::filesystem;

/// A directory for temporary files. The destructor removes the directory with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = fs::temp_directory_path() / "cuda-on-cpu-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no temporary directory can be created in " +
                               fs::temp_directory_path().string());
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Splits a list of arguments that the build has joined with '|'.
Words at_bars(const std::string& joined) {
  Words words;
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = std::min(joined.find('|', begin), joined.size());
    words.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// The host libraries that replace each library of the toolkit; an empty list if the CPU device
/// contains the library.
const std::map<std::string, Words>& host_libraries() {
  static const std::map<std::string, Words> libraries = {
      {"-lcudart", {}},
      {"-lcudart_static", {}},
      {"-lcuda", {}},
      {"-lnvrtc", {}},
      {"-lnvrtc_static", {}},
      {"-lnvrtc-builtins_static", {}},
      {"-lnvptxcompiler_static", {}},
      {"-lcudadevrt", {}},
      {"-lnccl", {}},
      {"-lnvToolsExt", {}},
      {"-lculibos", {}},
      {"-lnvidia-ml", {}},
      {"-lcurand", {}},
      {"-lcurand_static", {}},
      {"-lcublas", {"-lopenblas"}},
      {"-lcublas_static", {"-lopenblas"}},
      {"-lcublasLt", {"-lopenblas"}},
      {"-lcublasLt_static", {"-lopenblas"}},
      {"-lcufft", {"-lfftw3", "-lfftw3f"}},
      {"-lcufft_static", {"-lfftw3", "-lfftw3f"}},
      {"-lcusolver", {"-llapacke", "-lopenblas"}},
  };
  return libraries;
}

/// Throws for libraries of the toolkit that have no replacement. These libraries require a GPU, and
/// a program that uses them would fail at run time.
void refuse_library(const std::string& option) {
  for (const auto* name :
       {"cusparse", "cusparseLt", "cudnn",      "cutensor", "nvjpeg", "nppc",   "nppial",
        "nppicc",   "nppidei",    "nppif",      "nppig",    "nppim",  "nppist", "nppisu",
        "nppitc",   "npps",       "cusolverMg", "nvshmem",  "cufftw", "cufile"})
    for (const auto* form : {"", "_static"})
      if (option == std::string("-l") + name + form)
        throw std::runtime_error("cuda-on-cpu: " + option +
                                 ": this library is not covered by the CPU device; cuda-on-cpu "
                                 "--explain lists those that are");
}

class Maker {
 public:
  explicit Maker(const Options& options) : options_(options), places_(find_places()) {}

  /// One line for each library of the toolkit: its name and the linker options that replace it. The
  /// first line is for the CPU device itself, which all programs need.
  std::string libraries() const {
    const auto line = [](std::string text, const Words& words) {
      for (const auto& word : words) text += ' ' + word;
      return text + '\n';
    };
    Words own{fs::path(places_.libraries) / ("lib" + device() + ".a")};
    append(own, libraries_of_device());
    std::string text = line("device", own);
    for (const auto& [option, words] : host_libraries()) text += line(option.substr(2), words);
    return text;
  }

  int make() {
    show_places();
    switch (options_.product) {
      case Product::objects:
        return make_objects();
      case Product::library:
        return make_library();
      case Product::empty_object:
        return make_empty_object();
      case Product::translated:
        return translate_only();
      case Product::preprocessed:
      case Product::dependencies:
        return preprocess_only();
      case Product::ptx:
        return make_images(".ptx");
      case Product::cubin:
        return make_images(".cubin");
      case Product::fatbin:
        return make_images(".fatbin");
      case Product::program:
        break;
    }
    return make_program();
  }

 private:
  /// The compiler, which is determined at the first call.
  const Compiler& compiler() const {
    if (compiler_.words.empty()) compiler_ = find_compiler(options_);
    return compiler_;
  }

  /// The compiler command with arguments.
  Words call(const Words& arguments = {}) const {
    Words words = compiler().words;
    append(words, arguments);
    return words;
  }

  Words image_arguments() const {
    return at_bars(compiler().is_clang ? IMAGE_ARGUMENTS_CLANG : IMAGE_ARGUMENTS_GCC);
  }

  Words instrument_arguments() const {
    return at_bars(compiler().is_clang ? INSTRUMENT_ARGUMENTS_CLANG : INSTRUMENT_ARGUMENTS_GCC);
  }

  /// The flags of the preprocessor and the compiler for a source.
  Words flags_for(Language language) const {
    Words flags{"-I" + places_.headers};
    if (language != Language::c && !places_.thrust.empty())
      append(flags, {"-isystem", places_.thrust});
    if (language == Language::cuda)
      append(flags, {"-D__CUDACC__", "-D__NVCC__", "-DSTAIRCASE_CUDA_ON_CPU", "-include",
                     "cuda_runtime.h"});
    if (language == Language::cuda && options_.analyse) flags.push_back("-DCUDA_ON_CPU_ANALYSE");
    if (language == Language::cuda && makes_images())
      append(flags, {"-DCUDA_ON_CPU_IMAGE", "-include", "cuda_on_cpu/image.hpp"});
    if (language != Language::c && !options_.standard.empty())
      flags.push_back("-std=" + options_.standard);
    else if (language == Language::cuda || (language == Language::cxx && compiler().is_clang))
      flags.push_back("-std=gnu++17");  // older versions of clang++ use C++14 by default
    // Kernels are optimised unless a later option sets another level.
    flags.push_back("-O2");
    append(flags, options_.compile);
    return flags;
  }

  bool makes_images() const {
    return options_.product == Product::ptx || options_.product == Product::cubin ||
           options_.product == Product::fatbin;
  }

  /// Prints a command in the format of nvcc, which build systems parse.
  void show(const Words& command) const {
    if (!options_.verbose && !options_.dry_run) return;
    std::cerr << "#$";
    for (const auto& word : command) std::cerr << ' ' << word;
    std::cerr << '\n';
  }

  int run(const Words& command, const std::string* input = nullptr,
          std::string* output = nullptr) const {
    show(command);
    return options_.dry_run ? 0 : rewriter::run(command, input, output);
  }

  int compile(const Input& input, const std::string& object) const {
    Words dependencies = options_.dependencies;
    if (!dependencies.empty()) {
      const auto has = [&](const char* name) {
        return std::find(dependencies.begin(), dependencies.end(), name) != dependencies.end();
      };
      if (!has("-MT") && !has("-MQ")) append(dependencies, {"-MT", object});
      if (!has("-MF"))
        append(dependencies, {"-MF", fs::path(object).replace_extension(".d").string()});
    }
    return input.language == Language::cuda ? compile_cuda(input, object, dependencies)
                                            : compile_plain(input, object, dependencies);
  }

  int compile_plain(const Input& input, const std::string& object,
                    const Words& dependencies) const {
    Words command = call();
    append(command, flags_for(input.language));
    append(command, dependencies);
    append(command,
           {"-x", input.language == Language::c ? "c" : "c++", "-c", input.path, "-o", object});
    return run(command);
  }

  int compile_cuda(const Input& input, const std::string& object, const Words& dependencies) const {
    std::string text;
    if (const int status = translate(input, dependencies, text); status != 0) return status;
    Words command = call();
    append(command, flags_for(Language::cuda));
    append(command, at_bars(compiler().is_clang ? CUDA_ARGUMENTS_CLANG : CUDA_ARGUMENTS_GCC));
    if (makes_images()) append(command, image_arguments());
    if (options_.analyse) append(command, instrument_arguments());
    // clang++ warns about include paths that a preprocessed text does not use.
    if (compiler().is_clang) command.push_back("-Qunused-arguments");
    append(command, {"-x", "c++-cpp-output", "-c", "-", "-o", object});
    if (const int status = run(command, &text); status != 0 || options_.dry_run) return status;
    const std::string error = too_much_shared(object, input.path);
    if (error.empty()) return 0;
    std::cerr << input.path << ": error: " << error << '\n';
    std::error_code ignored;
    fs::remove(object, ignored);
    return 1;
  }

  /// Translates a CUDA source into C++.
  int translate(const Input& input, const Words& dependencies, std::string& text) const {
    Words preprocess = call();
    append(preprocess, flags_for(Language::cuda));
    append(preprocess, dependencies);
    append(preprocess, {"-E", "-x", "c++", input.path});
    if (const int status = preprocess_twice(preprocess, text); status != 0) {
      name_missing_library(input);
      return status;
    }
    if (options_.device_is_default) text = rewriter::with_device_marks(std::move(text));
    if (!options_.links_device_code && !makes_images())
      text = rewriter::with_internal_linkage(std::move(text));
    if (makes_images()) text = rewriter::with_entries(std::move(text));
    text = rewriter::rewrite(std::move(text), options_.analyse);
    return 0;
  }

  /// If there is no toolkit, reports a header of the toolkit that the source needs.
  void name_missing_library(const Input& input) const {
    if (!places_.thrust.empty()) return;
    Words command = call();
    append(command, flags_for(input.language));
    append(command, {"-M", "-MG", "-x", "c++", input.path});
    std::string headers;
    if (rewriter::run(command, nullptr, &headers) != 0) return;
    for (const auto* library : {" thrust/", " cub/", " cuda/"})
      if (const auto begin = headers.find(library); begin != headers.npos)
        throw std::runtime_error(
            "cuda-on-cpu: <" +
            headers.substr(begin + 1, headers.find_first_of(" \n", begin + 1) - begin - 1) +
            "> belongs to the CUDA toolkit, version 13 or later, which is not in " +
            places_.toolkit + "; set CUDA_HOME to its directory");
  }

  /// Preprocesses a source for the device and, if the source mentions __CUDA_ARCH__, also for the
  /// host.
  int preprocess_twice(const Words& for_host, std::string& text) const {
    const auto& flags = options_.compile;
    const bool is_told = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
      return flag.find("__CUDA_ARCH__") != flag.npos;
    });
    Words for_device = for_host;
    if (!is_told) for_device.insert(for_device.begin() + 1, "-D__CUDA_ARCH__=900");
    const int status = run(for_device, nullptr, &text);
    if (status != 0 || is_told || !rewriter::sources_mention(text, "__CUDA_ARCH__")) return status;
    std::string host;
    if (const int failed = run(for_host, nullptr, &host); failed != 0) return failed;
    text = rewriter::merged(text, host);
    return 0;
  }

  int compile_all(std::map<std::string, std::string>& objects, const fs::path& directory) const {
    for (const auto& input : options_.inputs) {
      if (input.language == Language::linked) continue;
      const std::string name =
          std::to_string(objects.size()) + '_' + fs::path(input.path).stem().string() + ".o";
      if (const int status = compile(input, directory / name); status != 0) return status;
      objects[input.path] = directory / name;
    }
    return 0;
  }

  int make_objects() const {
    if (options_.inputs.size() > 1 && !options_.output.empty())
      throw BadUsage("-o names a single object, but there are " +
                     std::to_string(options_.inputs.size()) + " sources");
    for (const auto& input : options_.inputs) {
      if (input.language == Language::linked) continue;
      const fs::path named = fs::path(options_.directory) / (fs::path(input.path).stem() += ".o");
      const std::string object = options_.output.empty() ? named.string() : options_.output;
      if (const int status = compile(input, object); status != 0) return status;
    }
    return 0;
  }

  static bool is_object(const std::string& word) { return word[0] != '-' && word.ends_with(".o"); }

  /// Builds modules, which programs load at run time. A module uses its own copies of functions
  /// that the program defines as well. The functions of the CPU device are the exception: the
  /// module does not contain them.
  int make_images(const std::string& extension) const {
    if (options_.inputs.size() > 1 && !options_.output.empty())
      throw BadUsage("-o names a single module, but there are " +
                     std::to_string(options_.inputs.size()) + " sources");
    const TemporaryDirectory directory;
    for (const auto& input : options_.inputs) {
      if (input.language != Language::cuda)
        throw BadUsage("'" + input.path + "' is not a CUDA source; -x cu declares it as one");
      const std::string object = directory.path() / "module.o";
      const std::string linked = directory.path() / "module.so";
      if (const int status = compile(input, object); status != 0) return status;
      if (const int status = run(call({"-shared", "-Wl,-Bsymbolic", object, "-o", linked}));
          status != 0)
        return status;
      const fs::path named =
          fs::path(options_.directory) / fs::path(input.path).stem().concat(extension);
      if (!options_.dry_run)
        write_image(linked, options_.output.empty() ? named : fs::path(options_.output));
    }
    return 0;
  }

  /// Writes a module to a file. Programs treat PTX as a zero-terminated string, so a module that
  /// replaces PTX is encoded as text.
  void write_image(const fs::path& linked, const fs::path& output) const {
    std::ifstream from(linked, std::ios::binary);
    std::string image(std::istreambuf_iterator<char>(from), {});
    if (options_.product == Product::ptx) image = text_of_image(image);
    std::ofstream to(output, std::ios::binary);
    to << image;
    if (!to.flush()) throw std::runtime_error("'" + output.string() + "' cannot be written");
  }

  int make_program() const {
    const TemporaryDirectory directory;
    std::map<std::string, std::string> objects;
    if (const int status = compile_all(objects, directory.path()); status != 0) return status;
    Words command = call();
    // Objects come first, as with nvcc, so that libraries may be named before them.
    for (const auto& word : options_.link) {
      if (const auto object = objects.find(word); object != objects.end())
        command.push_back(object->second);
      else if (is_object(word))
        command.push_back(word);
    }
    for (const auto& word : options_.link)
      if (!objects.contains(word) && !is_object(word)) append(command, library(word));
    if (links("-lnvrtc") || links("-lnvrtc_static")) {
      command.push_back(directory.path() / "command.o");
      if (const int status = compile_place(command.back()); status != 0) return status;
    }
    append(command, {"-o", options_.output.empty() ? "a.out" : options_.output});
    append(command, device_libraries());
    return run(command);
  }

  std::string device() const { return options_.analyse ? "cuda_on_cpu_analysed" : "cuda_on_cpu"; }

  /// Linker options for the libraries that the device itself needs.
  Words libraries_of_device() const {
    Words words{"-pthread"};
    append(words, at_bars(LIBRARIES));
    if (options_.analyse) append(words, at_bars(LIBRARIES_OF_ANALYSIS));
    return words;
  }

  Words device_libraries() const {
    Words words{"-L" + places_.libraries};
    const std::string option = "-l" + device();
    // Modules may refer to any function of the device.
    if (loads_modules())
      append(words, {"-rdynamic", "-Wl,--whole-archive", option, "-Wl,--no-whole-archive"});
    else
      words.push_back(option);
    append(words, libraries_of_device());
    return words;
  }

  /// Compiles the definition of a variable that contains the path of this command. Programs that
  /// compile kernels at run time call this command.
  int compile_place(const std::string& object) const {
    const std::string text =
        "extern \"C\" { extern const char cuda_on_cpu_command[]; const char cuda_on_cpu_command[] "
        "= R\"(" +
        places_.command + ")\"; }\n";
    return run(call({"-x", "c++", "-c", "-", "-o", object}), &text);
  }

  bool links(const std::string& library) const {
    return std::any_of(options_.link.begin(), options_.link.end(),
                       [&](const std::string& word) { return option_of(word) == library; });
  }

  bool loads_modules() const {
    return links("-lcuda") || links("-lnvrtc") || links("-lnvrtc_static");
  }

  /// Prints the paths of the toolkit and a link command, from which build systems determine how to
  /// link.
  void show_places() const {
    const char* path = std::getenv("PATH");
    const std::string top = fs::path(places_.headers).parent_path();
    const std::string libraries = "-L" + places_.libraries;
    show({std::string("PATH=") + (path != nullptr ? path : "")});
    show({"TOP=" + top});
    show({"NVVMIR_LIBRARY_DIR=" + top + "/nvvm/libdevice"});
    show({"LIBRARIES=" + libraries});
    Words linking{places_.command, "a.o", "-o", "a.out"};
    append(linking, device_libraries());
    show(linking);
  }

  /// The linker option for a library that the build names by its file, as CMake does.
  static std::string option_of(const std::string& word) {
    const fs::path file(word);
    const std::string stem = file.stem();
    const bool is_library = file.extension() == ".so" || file.extension() == ".a";
    return is_library && stem.starts_with("lib") ? "-l" + stem.substr(3) : word;
  }

  static Words library(const std::string& word) {
    refuse_library(option_of(word));
    const auto found = host_libraries().find(option_of(word));
    return found == host_libraries().end() ? Words{word} : found->second;
  }

  int make_library() const {
    if (options_.output.empty()) throw BadUsage("--lib requires the name of the library: -o NAME");
    const TemporaryDirectory directory;
    std::map<std::string, std::string> objects;
    if (const int status = compile_all(objects, directory.path()); status != 0) return status;
    Words command{"ar", "rcs", options_.output};
    for (const auto& input : options_.inputs)
      command.push_back(input.language == Language::linked ? input.path : objects[input.path]);
    return run(command);
  }

  /// Creates an empty object, for Makefiles that link device code separately. The host linker links
  /// all code, so such a step has nothing to do.
  int make_empty_object() const {
    const std::string object = options_.output.empty() ? "a_dlink.o" : options_.output;
    const std::string nothing;
    return run(call({"-x", "c++", "-c", "-", "-o", object}), &nothing);
  }

  /// Writes the translated source to a file with the name that nvcc would use.
  int translate_only() const {
    for (const auto& input : options_.inputs) {
      if (input.language != Language::cuda) continue;
      std::string text;
      if (const int status = translate(input, options_.dependencies, text); status != 0)
        return status;
      const std::string named =
          fs::path(options_.directory) / (fs::path(input.path).filename() += ".cpp.ii");
      const std::string file = options_.output.empty() ? named : options_.output;
      if (!options_.dry_run && !(std::ofstream(file) << text))
        throw std::runtime_error("cuda-on-cpu: " + file + " cannot be written");
    }
    return 0;
  }

  int preprocess_only() const {
    for (const auto& input : options_.inputs) {
      Words command = call();
      append(command, flags_for(input.language));
      command.push_back(options_.product == Product::preprocessed ? "-E" : "-MM");
      append(command, options_.dependencies);
      append(command, {"-x", input.language == Language::c ? "c" : "c++", input.path});
      if (!options_.output.empty()) append(command, {"-o", options_.output});
      if (const int status = run(command); status != 0) return status;
    }
    return 0;
  }

  const Options& options_;
  Places places_;
  mutable Compiler compiler_;
};

}  // namespace

int make(const Options& options) { return Maker(options).make(); }

std::string libraries(const Options& options) { return Maker(options).libraries(); }

}  // namespace cuda_on_cpu::command
