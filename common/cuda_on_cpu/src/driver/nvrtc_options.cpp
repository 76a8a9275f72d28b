#include "nvrtc_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace cuda_on_cpu {
namespace {

using std::string_view;

/// The kinds of values that options have.
enum class Value {
  none,
  truth,         ///< `true` or `false`
  number,        ///< a non-negative integer; may be omitted if the option is the last argument
  positive,      ///< an integer above 0
  any,           ///< any text, after `=` or as the next argument
  joined,        ///< any text after `=`
  architecture,  ///< an architecture, such as sm_90a or compute_80
  standard,      ///< a C++ standard after `=`, such as c++20
  on,            ///< the word `on`; may be omitted if the option is the last argument
  code_for_gpu   ///< no value; the option is an error, because there is no GPU
};

struct Option {
  string_view name, other;  ///< the long and the short name
  Value value;
  const char* passed_on = "";  ///< corresponding option of cuda-on-cpu; empty if the option is
                               ///< ignored
};

constexpr Option table[] = {
    {"--gpu-architecture", "-arch", Value::architecture},
    {"--std", "-std", Value::standard, "--std="},
    {"--define-macro", "-D", Value::any, "-D"},
    {"--undefine-macro", "-U", Value::any, "-U"},
    {"--include-path", "-I", Value::any, "-I"},
    {"--pre-include", "-include", Value::any, "--pre-include="},
    {"--disable-warnings", "-w", Value::none, "-w"},
    {"--device-as-default-execution-space", "-default-device", Value::none,
     "--device-as-default-execution-space"},
    {"--relocatable-device-code", "-rdc", Value::truth},
    {"--device-c", "-dc", Value::none},
    {"--device-w", "-dw", Value::none},
    {"--extensible-whole-program", "-ewp", Value::none},
    {"--device-debug", "-G", Value::none},
    {"--generate-line-info", "-lineinfo", Value::none},
    {"--dopt", "-dopt", Value::on},
    {"--ptxas-options", "-Xptxas", Value::any},
    {"--maxrregcount", "-maxrregcount", Value::number},
    {"--ftz", "-ftz", Value::truth},
    {"--prec-sqrt", "-prec-sqrt", Value::truth},
    {"--prec-div", "-prec-div", Value::truth},
    {"--fmad", "-fmad", Value::truth},
    {"--use_fast_math", "-use_fast_math", Value::none},
    {"--extra-device-vectorization", "-extra-device-vectorization", Value::none},
    {"--modify-stack-limit", "-modify-stack-limit", Value::truth},
    {"--device-stack-protector", "-device-stack-protector", Value::truth},
    {"--dlink-time-opt", "-dlto", Value::code_for_gpu},
    {"--gen-opt-lto", "-gen-opt-lto", Value::code_for_gpu},
    {"--optix-ir", "-optix-ir", Value::code_for_gpu},
    {"--jump-table-density", "-jtd", Value::number},
    {"--no-cache", "-no-cache", Value::none},
    {"--no-source-include", "-no-source-include", Value::none},
    {"--builtin-move-forward", "-builtin-move-forward", Value::truth},
    {"--builtin-initializer-list", "-builtin-initializer-list", Value::truth},
    {"--pch", "-pch", Value::none},
    {"--create-pch", "-create-pch", Value::joined},
    {"--use-pch", "-use-pch", Value::joined},
    {"--pch-dir", "-pch-dir", Value::joined},
    {"--pch-verbose", "-pch-verbose", Value::truth},
    {"--pch-messages", "-pch-messages", Value::truth},
    {"--instantiate-templates-in-pch", "-instantiate-templates-in-pch", Value::truth},
    {"--restrict", "-restrict", Value::none},
    {"--device-int128", "-device-int128", Value::none},
    {"--optimization-info", "-opt-info", Value::joined},
    {"--display-error-number", "-err-no", Value::none},
    {"--no-display-error-number", "-no-err-no", Value::none},
    {"--diag-error", "-diag-error", Value::positive},
    {"--diag-suppress", "-diag-suppress", Value::positive},
    {"--diag-warn", "-diag-warn", Value::positive},
    {"--brief-diagnostics", "-brief-diag", Value::truth},
    {"--time", "-time", Value::joined},
    {"--split-compile", "-split-compile", Value::number},
    {"--fdevice-syntax-only", "-fdevice-syntax-only", Value::none},
    {"--fdevice-time-trace", "-fdevice-time-trace", Value::joined},
    {"--frandom-seed", "-frandom-seed", Value::joined},
    {"--minimal", "-minimal", Value::none},
    {"--version-ident", "-dQ", Value::truth},
};

string_view trimmed(string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_number(string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// The number in a name such as sm_90a or compute_90; 0 if there is no such architecture.
int architecture_of(string_view text) {
  const auto line = text.find('_');
  if (line == text.npos || (text.substr(0, line) != "sm" && text.substr(0, line) != "compute"))
    return 0;
  std::string number(text.substr(line + 1));
  if (number.ends_with('a') || number.ends_with('f')) number.pop_back();
  if (!is_number(number) || number.size() > 3) return 0;
  const int asked = std::stoi(number);
  return std::find(architectures.begin(), architectures.end(), asked) != architectures.end() ? asked
                                                                                             : 0;
}

/// The requirement that a value of this kind violates; empty if the value is valid.
std::string expected_of(Value kind, string_view value, bool has_value) {
  switch (kind) {
    case Value::none:
      return has_value ? "does not accept any argument" : "";
    case Value::truth:
      return value == "true" || value == "false" ? "" : "expects true or false";
    case Value::number:
      return !has_value || is_number(value) ? "" : "expects an integer value";
    case Value::positive:
      return is_number(value) && value.find_first_not_of('0') != value.npos
                 ? ""
                 : "expects a non-zero positive integer value";
    case Value::architecture:
      return architecture_of(value) != 0 ? "" : "expects the architecture of a GPU, such as sm_90";
    case Value::standard:
      for (const auto* known : {"c++03", "c++11", "c++14", "c++17", "c++20"})
        if (value == known) return "";
      return "expects a standard of C++ from c++03 to c++20";
    case Value::on:
      return !has_value || value == "on" ? "" : "expects the word on";
    case Value::code_for_gpu:
      return "makes code for a GPU, which the CPU device cannot run";
    case Value::any:
    case Value::joined:
      break;
  }
  return "";
}

bool takes_next(Value kind) {
  return kind != Value::none && kind != Value::joined && kind != Value::standard &&
         kind != Value::code_for_gpu;
}

/// An option in the program's arguments, and its value if the option has one.
struct Word {
  const Option* option = nullptr;
  string_view value;
  bool has_value = false;
};

Word read(string_view word) {
  // The value of an option with a one-letter name may follow the name without a separator.
  for (const Option& option : table)
    if (option.other.size() == 2 && option.value == Value::any && word.starts_with(option.other)) {
      string_view value = word.substr(2);
      if (value.starts_with('=')) value.remove_prefix(1);
      return {&option, trimmed(value), word.size() > 2};
    }
  const auto equals = word.find('=');
  const string_view name = word.substr(0, equals);
  for (const Option& option : table)
    if (name == option.name || name == option.other)
      return {&option, equals == word.npos ? "" : trimmed(word.substr(equals + 1)),
              equals != word.npos};
  return {};
}

}  // namespace

CommandOptions read_nvrtc_options(int count, const char* const* options) {
  CommandOptions read_options;
  const auto refused = [&](string_view word, const std::string& why) {
    read_options.complaint = "nvrtc: error: option " + std::string(word) + ' ' + why + '\n';
    return read_options;
  };
  int architecture = architectures.front();
  for (int i = 0; i < count; ++i) {
    const string_view said = trimmed(options[i]);
    Word word = read(said);
    const bool is_bare =
        word.option != nullptr && !word.has_value &&
        (word.option->value == Value::joined || word.option->value == Value::standard);
    if (word.option == nullptr || is_bare) return refused(said, "is not known");
    const auto& [name, other, kind, passed_on] = *word.option;
    if (!word.has_value && takes_next(kind) && i + 1 < count) {
      word.value = trimmed(options[++i]);
      word.has_value = true;
    }
    const std::string expected = expected_of(kind, word.value, word.has_value);
    if (!expected.empty()) return refused(name, expected);
    if (kind == Value::architecture) architecture = architecture_of(word.value);
    if (*passed_on != '\0') read_options.words.push_back(passed_on + std::string(word.value));
  }
  read_options.words.push_back("-D__CUDA_ARCH__=" + std::to_string(architecture) + '0');
  return read_options;
}

}  // namespace cuda_on_cpu
