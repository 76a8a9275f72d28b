#include "transferring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace slicer {

void Transfers::check_for_device() const {
  static const std::set<std::string> known{
      "for",  "if",   "while", "sizeof", "static_cast", "sqrt",  "exp",     "log",
      "sin",  "cos",  "tan",   "fabs",   "pow",         "fma",   "hypot",   "tanh",
      "fmin", "fmax", "floor", "ceil",   "exp2",        "round", "copysign"};
  static const std::set<std::string> types{"size_t",  "ptrdiff_t", "int32_t",
                                           "int64_t", "uint32_t",  "uint64_t"};
  const std::vector<std::string> outside = names_from_outside();
  std::vector<Token> all = tokens();
  // The host evaluates bounds that do not change, so the kernel need not contain their tokens.
  std::erase_if(all, [&](const Token& token) {
    return std::any_of(marked_.cuts.begin(), marked_.cuts.end(), [&](const Cut& cut) {
      const auto is_within = [&](const Range& range) {
        return range.first <= token.range.first && token.range.last <= range.last;
      };
      return cut.is_fixed && (is_within(cut.first) || is_within(cut.condition));
    });
  });
  for (std::size_t t = 0; t + 1 < all.size(); ++t) {
    const std::string& word = all[t].text;
    const bool is_array = std::any_of(arrays_.begin(), arrays_.end(), [&](const Footprint& each) {
      return word == each.array->name;
    });
    const bool is_name = std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_';
    if (is_name && all[t + 1] == "(" && !is_array && !known.contains(word))
      refuse(all[t].line, fmt::format("a kernel cannot call `{}`, a function of the host", word));
    const std::string& behind = all[t + 1].text;
    const bool is_object = (behind == "." || behind == "->") && !is_member(all, t);
    if (is_object && std::any_of(outside.begin(), outside.end(),
                                 [&](const std::string& each) { return each == word; }))
      refuse(all[t].line,
             fmt::format("`{}` is an object, but a kernel can receive only numbers", word));
    if (t > 0 && all[t] == "::" && !known.contains(behind) && !types.contains(behind))
      refuse(all[t].line, fmt::format("a kernel cannot use `{}::{}`", all[t - 1].text, behind));
  }
}

std::string Transfers::written(Range range) const {
  return std::string(source_.text().substr(range.first, range.last - range.first));
}

std::vector<std::string> Transfers::numbers_of_kernel() const {
  std::set<std::string> words;
  std::string word;
  for (const char c : nest_of_threads()) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else {
      words.insert(word);
      word.clear();
    }
  }
  std::vector<std::string> numbers = names_from_outside();
  std::erase_if(numbers, [&](const std::string& each) {
    return !words.contains(each) ||
           std::any_of(arrays_.begin(), arrays_.end(),
                       [&](const Footprint& array) { return array.array->name == each; });
  });
  return numbers;
}

std::pair<std::string, std::vector<std::string>> Transfers::template_parameters() const {
  const std::vector<Token> all = source_.tokens(marked_.function->range);
  std::vector<std::string> names;
  if (all.size() < 2 || !(all[0] == "template")) return {"", names};
  std::size_t t = 2;
  for (int depth = 1; t < all.size(); ++t) {
    depth += (all[t] == "<") - (all[t] == ">");
    if (depth == 0 || (depth == 1 && all[t] == ",")) names.push_back(all[t - 1].text);
    if (all[t] == "..." || all[t] == "=")
      refuse(all[t].line,
             "a kernel can be generated only from a template whose parameters are neither packs "
             "nor have default values");
    if (depth == 0) break;
  }
  return {written({all[1].range.last, all[t].range.first}), names};
}

std::string Transfers::template_arguments() const {
  const auto names = template_parameters().second;
  return names.empty() ? "" : fmt::format("<{}>", fmt::join(names, ", "));
}

std::string Transfers::kernel_function() const {
  std::vector<std::string> types, parameters;
  if (const std::string own = template_parameters().first; !own.empty()) types.push_back(own);
  const auto add = [&](const std::string& variable) {
    types.push_back("typename Of_" + variable);
    parameters.push_back(fmt::format("Of_{0} {0}", variable));
  };
  for (const Footprint& array : arrays_) add(array.array->name);
  for (const std::string& number : numbers_of_kernel()) add(number);
  for (const Cut& cut : marked_.cuts)
    for (const char* part : {"_begin", "_end"})
      parameters.push_back(fmt::format("{} {}", cut.type, name(cut.name + part)));
  Lines lines;
  lines.comment(
      fmt::format("The nest of `{}`. Each thread starts at its own iteration and advances "
                  "by the size of the grid.",
                  marked_.function->name),
      "///");
  const std::string head =
      fmt::format("template <{}>\n__global__ void {}({}) {{", fmt::join(types, ", "),
                  name("slice_of_" + marked_.function->name), fmt::join(parameters, ", "));
  return lines.text() + moved(head, 0) + nest_of_threads() + "}\n\n";
}

std::string Transfers::nest_of_threads() const {
  const Range nest = marked_.nest;
  std::string text;
  unsigned at = nest.first;
  for (std::size_t c = 0; c < marked_.cuts.size(); ++c) {
    const Cut& cut = marked_.cuts[c];
    text += written({at, cut.loop->range.first});
    const char x = "xyz"[marked_.cuts.size() - 1 - c];
    const std::string begin = name(cut.name + "_begin"), end = name(cut.name + "_end");
    const std::string first = cut.is_fixed ? begin
                                           : fmt::format("sliced::larger<{}>({}, {})", cut.type,
                                                         written(cut.first), begin);
    const std::string condition =
        cut.is_fixed ? "" : fmt::format("({}) && ", written(cut.condition));
    text += fmt::format(
        "for ({0} {1} = {2} + static_cast<{0}>(blockIdx.{5} * blockDim.{5} + threadIdx.{5}); "
        "{3}{1} < {4}; {1} += static_cast<{0}>(gridDim.{5} * blockDim.{5}))",
        cut.type, cut.name, first, condition, end, x);
    at = cut.body.first;
  }
  text += written({at, nest.last});
  return moved(std::string(columns_, ' ') + text, 0);
}

}  // namespace slicer
