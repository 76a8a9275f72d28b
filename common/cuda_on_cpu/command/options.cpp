#include "options.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string_view>

namespace cuda_on_cpu::command {
namespace {

/// An option, and its effect on the options parsed so far.
struct Option {
  bool takes_value;
  std::function<void(Options&, const std::string& value)> apply;
};
using Table = std::map<std::string, Option, std::less<>>;

/// The words of a list separated by commas or blanks.
Words words_of(const std::string& list) {
  Words words(1);
  for (const char c : list) {
    if (c != ',' && c != ' ')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Adds a second name for an option of the table.
void alias(Table& table, std::string_view name, std::string other) {
  table[std::move(other)] = table.find(name)->second;
}

void add_products(Table& table) {
  const auto makes = [&](const char* name, Product product) {
    table[name] = {false, [=](Options& o, const std::string&) { o.product = product; }};
  };
  makes("c", Product::objects);
  makes("dw", Product::objects);
  makes("dlink", Product::empty_object);
  makes("lib", Product::library);
  makes("link", Product::program);
  makes("cuda", Product::translated);
  makes("E", Product::preprocessed);
  makes("M", Product::dependencies);
  makes("MM", Product::dependencies);
  makes("ptx", Product::ptx);
  makes("cubin", Product::cubin);
  makes("fatbin", Product::fatbin);
  table["dc"] = {false, [](Options& o, const std::string&) {
                   o.product = Product::objects;
                   o.links_device_code = true;
                 }};
  for (const std::string name : {"optix-ir", "ltoir"})
    table[name] = {
        false, [=](Options&, const std::string&) {
          throw BadUsage("--" + name + " makes code for a GPU, which the CPU device cannot run");
        }};
}

void add_switches(Table& table) {
  const auto sets = [&](const char* name, bool Options::*field) {
    table[name] = {false, [=](Options& o, const std::string&) { o.*field = true; }};
  };
  sets("analyze", &Options::analyse);
  sets("explain", &Options::explain);
  sets("shared", &Options::shared);
  sets("headers", &Options::headers);
  sets("libraries", &Options::libraries);
  sets("device-as-default-execution-space", &Options::device_is_default);
  sets("quiet", &Options::quiet);
  sets("v", &Options::verbose);
  sets("dryrun", &Options::dry_run);
  sets("V", &Options::version);
  sets("h", &Options::help);
}

void add_values(Table& table) {
  const auto takes = [&](const char* name, auto apply) { table[name] = {true, apply}; };
  takes("o", [](Options& o, const std::string& value) { o.output = value; });
  takes("odir", [](Options& o, const std::string& value) { o.directory = value; });
  takes("ccbin", [](Options& o, const std::string& value) {
    o.compiler = std::filesystem::is_directory(value) ? value + "/g++" : value;
  });
  takes("rdc", [](Options& o, const std::string& value) { o.links_device_code = value == "true"; });
  // If -march names no processor with fused multiply-add, the compiler fuses no operations,
  // whatever the value of this option.
  takes("fmad", [](Options& o, const std::string& value) {
    o.compile.push_back(value == "false" ? "-ffp-contract=off" : "-ffp-contract=fast");
  });
  takes("std", [](Options& o, const std::string& value) { o.standard = value; });
  takes("Xcompiler", [](Options& o, const std::string& value) {
    for (const auto& word : words_of(value)) {
      o.compile.push_back(word);
      o.link.push_back(word);
    }
  });
  takes("Xlinker", [](Options& o, const std::string& value) { o.link.push_back("-Wl," + value); });
  for (const std::string name : {"MF", "MT", "MQ"})
    takes(name.c_str(), [=](Options& o, const std::string& value) {
      o.dependencies.insert(o.dependencies.end(), {'-' + name, value});
    });
  for (const std::string name : {"include", "isystem"})
    takes(name.c_str(), [=](Options& o, const std::string& value) {
      for (const auto& word : words_of(value))
        o.compile.insert(o.compile.end(), {'-' + name, word});
    });
  for (const std::string name : {"MD", "MMD", "MP"})
    table[name] = {false,
                   [=](Options& o, const std::string&) { o.dependencies.push_back('-' + name); }};
}

/// Adds options whose value may follow the name directly, as in -DN=2.
void add_joined(Table& table) {
  for (const std::string name : {"I", "D", "U"})
    table[name] = {true, [=](Options& o, const std::string& value) {
                     o.compile.push_back('-' + name + value);
                   }};
  table["L"] = {true, [](Options& o, const std::string& value) { o.link.push_back("-L" + value); }};
  table["l"] = {true, [](Options& o, const std::string& value) { o.link.push_back("-l" + value); }};
  table["O"] = {true,
                [](Options& o, const std::string& value) { o.compile.push_back("-O" + value); }};
}

/// Adds options for GPU code or for nvcc itself. These options have no effect.
void add_ignored(Table& table) {
  for (const auto* name :
       {"arch",       "code",      "gencode",    "maxrregcount", "Xptxas",         "Xnvlink",
        "Xarchive",   "Xcudafe",   "Xfatbinary", "cudart",       "cudadevrt",      "ftz",
        "prec-div",   "prec-sqrt", "t",          "Werror",       "split-compile",  "diag-suppress",
        "diag-error", "diag-warn", "keep-dir",   "target-dir",   "default-stream", "compress-mode",
        "dopt",       "time",      "opt-info",   "Ofast-compile"})
    table[name] = {true, nullptr};
  for (const auto* name : {"use_fast_math",
                           "G",
                           "lineinfo",
                           "expt-relaxed-constexpr",
                           "expt-extended-lambda",
                           "extended-lambda",
                           "res-usage",
                           "keep",
                           "dlto",
                           "restrict",
                           "extra-device-vectorization",
                           "allow-unsupported-compiler",
                           "forward-unknown-to-host-compiler",
                           "forward-unknown-to-host-linker",
                           "forward-unknown-opts",
                           "nodlink",
                           "noprof",
                           "src-in-ptx",
                           "no-compress",
                           "Wno-deprecated-gpu-targets",
                           "Wext-lambda-captures-this",
                           "m64",
                           "no-display-error-number",
                           "display-error-number",
                           "clean",
                           "lto"})
    table[name] = {false, nullptr};
}

void add_long_names(Table& table) {
  const std::pair<const char*, const char*> names[] = {
      {"c", "compile"},
      {"dc", "device-c"},
      {"dw", "device-w"},
      {"dlink", "device-link"},
      {"E", "preprocess"},
      {"M", "generate-dependencies"},
      {"MM", "generate-nonsystem-dependencies"},
      {"MD", "generate-dependencies-with-compile"},
      {"MMD", "generate-nonsystem-dependencies-with-compile"},
      {"MF", "dependency-output"},
      {"MT", "dependency-target-name"},
      {"MP", "generate-dependency-targets"},
      {"v", "verbose"},
      {"V", "version"},
      {"h", "help"},
      {"o", "output-file"},
      {"odir", "output-directory"},
      {"ccbin", "compiler-bindir"},
      {"Xcompiler", "compiler-options"},
      {"Xlinker", "linker-options"},
      {"include", "pre-include"},
      {"isystem", "system-include"},
      {"I", "include-path"},
      {"D", "define-macro"},
      {"U", "undefine-macro"},
      {"L", "library-path"},
      {"l", "library"},
      {"O", "optimize"},
      {"arch", "gpu-architecture"},
      {"code", "gpu-code"},
      {"gencode", "generate-code"},
      {"Xptxas", "ptxas-options"},
      {"Xnvlink", "nvlink-options"},
      {"Xarchive", "archive-options"},
      {"t", "threads"},
      {"rdc", "relocatable-device-code"},
      {"G", "device-debug"},
      {"lineinfo", "generate-line-info"},
      {"res-usage", "resource-usage"},
      {"lib", "lib"}};
  for (const auto& [name, other] : names) alias(table, name, other);
}

const Table& table() {
  static const Table options = [] {
    Table all;
    add_products(all);
    add_switches(all);
    add_values(all);
    add_joined(all);
    add_ignored(all);
    add_long_names(all);
    return all;
  }();
  return options;
}

Language language_of(const std::string& path, const std::string& said) {
  if (said == "cu") return Language::cuda;
  if (said == "c++") return Language::cxx;
  if (said == "c") return Language::c;
  if (!said.empty() && said != "none")
    throw BadUsage("'" + said + "' is not a language; choose cu, c++ or c");
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".cu") return Language::cuda;
  for (const auto* cxx : {".cpp", ".cc", ".cxx", ".C", ".c++"})
    if (extension == cxx) return Language::cxx;
  if (extension == ".c") return Language::c;
  for (const auto* gpu : {".ptx", ".cubin", ".fatbin"})
    if (extension == gpu)
      throw BadUsage("'" + path + "' is a module; do not link it, but load it at run time");
  return Language::linked;
}

/// Parses the words of a command line in order.
class Reader {
 public:
  explicit Reader(Words words) : words_(std::move(words)) {}

  Options read() {
    for (; next_ < words_.size(); ++next_) {
      const std::string word = words_[next_];
      if (word.size() > 1 && word[0] == '@')
        insert_file(word.substr(1));
      else if (word.size() > 1 && word[0] == '-')
        read_option(word);
      else
        add_input(word);
    }
    return options_;
  }

 private:
  void read_option(const std::string& word) {
    const std::string name = word.substr(word.starts_with("--") ? 2 : 1);
    const auto equals = name.find('=');
    const std::string before = name.substr(0, equals);
    if (before == "x") {
      language_ = value_of(word, name, equals);
    } else if (before == "optf" || before == "options-file") {
      insert_file(value_of(word, name, equals));
    } else if (const auto found = table().find(before); found != table().end()) {
      if (found->second.takes_value)
        apply(found->second, word, value_of(word, name, equals));
      else
        apply(found->second, word, "");
    } else if (const auto joined = table().find(name.substr(0, 1));
               joined != table().end() && joined->second.takes_value && is_joined(name)) {
      joined->second.apply(options_, name.substr(1));
    } else {
      pass_on(word);
    }
  }

  static bool is_joined(const std::string& name) {
    return std::string_view("IDULlO").find(name[0]) != std::string_view::npos;
  }

  void apply(const Option& option, const std::string& word, const std::string& value) {
    if (option.apply)
      option.apply(options_, value);
    else
      options_.ignored.push_back(word.find('=') == word.npos && !value.empty() ? word + ' ' + value
                                                                               : word);
  }

  std::string value_of(const std::string& word, const std::string& name, std::size_t equals) {
    if (equals != name.npos) return name.substr(equals + 1);
    if (++next_ == words_.size()) throw BadUsage(word + " needs a value");
    return words_[next_];
  }

  /// Passes an unknown option to the compiler, which also runs the linker and reports unknown
  /// options.
  void pass_on(const std::string& word) {
    options_.compile.push_back(word);
    if (!word.starts_with("-W") || word.starts_with("-Wl,")) options_.link.push_back(word);
  }

  void add_input(const std::string& path) {
    options_.inputs.push_back({path, language_of(path, language_)});
    options_.link.push_back(path);
  }

  void insert_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw BadUsage("the options file '" + path + "' cannot be read");
    Words inside;
    for (std::string word; file >> word;) inside.push_back(word);
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(next_) + 1, inside.begin(),
                  inside.end());
  }

  Words words_;
  std::size_t next_ = 0;
  Options options_;
  std::string language_;
};

/// Applies rules that concern several options. An option for debug symbols of device code also
/// requests debug symbols of the host.
void settle(Options& options) {
  const auto& ignored = options.ignored;
  for (const auto* name : {"-G", "--device-debug"})
    if (std::find(ignored.begin(), ignored.end(), name) != ignored.end())
      options.compile.push_back("-g");
  if (options.shared && options.product == Product::program)
    throw BadUsage(
        "--shared: kernels run only in programs, not in shared libraries; link the objects, or an "
        "archive that --lib makes");
  // The headers require C++17, which is also nvcc's default.
  for (const auto* old : {"c++03", "c++11", "c++14", "gnu++11", "gnu++14"})
    if (options.standard == old) {
      options.ignored.push_back("-std=" + options.standard + " (c++17 is used)");
      options.standard = "c++17";
    }
}

}  // namespace

Options read_options(Words words) {
  Options options = Reader(std::move(words)).read();
  settle(options);
  return options;
}

}  // namespace cuda_on_cpu::command
