#include "rewriting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device_prelude.hpp"
#include "lines.hpp"
#include "prelude.hpp"

namespace slicer {
namespace {

/// The header of a `for` loop that is restricted to a slice.
std::string header_of(const Cut& cut, const std::string& suffix, std::string_view first,
                      std::string_view condition, std::string_view step) {
  const std::string begin = cut.name + "_begin" + suffix, end = cut.name + "_end" + suffix;
  if (cut.is_fixed)
    return fmt::format("for ({0} {1} = {2}; {1} < {3};{4}", cut.type, cut.name, begin, end, step);
  const bool is_loose = condition.find("||") != condition.npos ||
                        condition.find('?') != condition.npos ||
                        condition.find(" or ") != condition.npos;
  return fmt::format("for ({0} {1} = std::max<{0}>({2}, {3}); {4}{5}{6} && {1} < {7};{8}", cut.type,
                     cut.name, first, begin, is_loose ? "(" : "", condition, is_loose ? ")" : "",
                     end, step);
}

}  // namespace

std::size_t columns_before(const Source& source, unsigned place) {
  const std::size_t line = source.text().rfind('\n', place) + 1;
  return place - line;
}

std::string bounded_nest(const Source& source, const Marked& marked, const std::string& suffix,
                         std::size_t columns) {
  const std::string_view all = source.text();
  const Range nest = marked.nest;
  std::string text;
  unsigned at = nest.first;
  for (const Cut& cut : marked.cuts) {
    const Range whole = cut.loop->range;
    const auto part = [&](unsigned first, unsigned last) {
      return all.substr(first, last - first);
    };
    text += part(at, whole.first);
    text += header_of(cut, suffix, part(cut.first.first, cut.first.last),
                      part(cut.condition.first, cut.condition.last),
                      part(cut.condition.last + 1, cut.body.first));
    at = cut.body.first;
  }
  text += all.substr(at, nest.last - at);
  const std::size_t before = columns_before(source, nest.first);
  return moved(std::string(before, ' ') + text, columns - before);
}

void Rewriting::insert(unsigned place, const std::string& text) {
  Part& part = parts_[place];
  part = {{place, place}, part.text + text};
}

unsigned Rewriting::place_above(unsigned place) const {
  const std::string_view all = source_.text();
  std::size_t line = all.rfind('\n', place) + 1;
  while (line > 1) {
    const std::size_t before = all.rfind('\n', line - 2) + 1;
    if (all.substr(before, 3) != "///") break;
    line = before;
  }
  return static_cast<unsigned>(line);
}

void Rewriting::remove_line(Range range) {
  const std::string_view all = source_.text();
  const auto first = static_cast<unsigned>(all.rfind('\n', range.first) + 1);
  const auto last = static_cast<unsigned>(std::min(all.find('\n', range.last), all.size() - 1) + 1);
  replace({first, last}, "");
}

std::string Rewriting::suffix(const std::vector<std::string>& names) {
  if (taken_.empty())
    for (const Token& token : source_.tokens({0, static_cast<unsigned>(source_.text().size())}))
      taken_.insert(token.text);
  const auto is_free = [&](const std::string& suffix) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return taken_.contains(name + suffix); });
  };
  std::string suffix;
  for (int more = 2; !is_free(suffix); ++more) suffix = fmt::format("_{}", more);
  for (const std::string& name : names) taken_.insert(name + suffix);
  return suffix;
}

/// The position after the last unconditionally included header; without such a header, the position
/// before all declarations.
unsigned Rewriting::place_of_preamble() const {
  const std::string_view all = source_.text();
  const std::vector<Token> tokens = source_.tokens({0, static_cast<unsigned>(all.size())});
  const auto end_of_line = [&](unsigned place) {
    return static_cast<unsigned>(std::min(all.find('\n', place), all.size() - 1) + 1);
  };
  unsigned place = 0, first = static_cast<unsigned>(all.size());
  int depth = 0;
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
    if (!(tokens[t] == "#")) {
      if (t == 0 || tokens[t - 1].line != tokens[t].line)
        first = std::min(first, tokens[t].range.first);
      continue;
    }
    const std::string& word = tokens[t + 1].text;
    depth += word.starts_with("if");
    depth -= word == "endif";
    if (word == "include" && depth == 0) place = end_of_line(tokens[t].range.first);
    const int line = tokens[t].line;
    while (t + 1 < tokens.size() && tokens[t + 1].line == line) ++t;
  }
  if (place > 0) return place;
  // Comments directly before a declaration belong to it.
  first = static_cast<unsigned>(all.rfind('\n', first) + 1);
  while (first > 1) {
    const std::size_t before = all.rfind('\n', first - 2) + 1;
    if (all.substr(before, 2) != "//") break;
    first = static_cast<unsigned>(before);
  }
  return first;
}

std::string Rewriting::preamble() const {
  std::string text;
  for (const std::string& header : headers_)
    if (source_.text().find("#include <" + header + ">") == std::string_view::npos)
      text += fmt::format("#include <{}>\n", header);
  if (needed_.empty()) return text;
  if (!text.empty()) text += "\n";
  for (const char* part :
       {prelude, box_prelude, device_prelude, lines_prelude, quotient_prelude, overlap_prelude})
    if (needed_.contains(part)) text += part;
  return text + end_of_prelude;
}

std::string Rewriting::text() const {
  const std::string_view all = source_.text();
  std::string result, before = preamble();
  const unsigned place = place_of_preamble();
  const bool is_behind_headers = place > 0 && all.substr(0, place).find("#include") != all.npos;
  if (!before.empty()) before = is_behind_headers ? "\n" + before : before + "\n";
  auto parts = parts_;
  if (!before.empty()) parts[place] = {{place, place}, before + parts[place].text};
  unsigned at = 0;
  for (const auto& [first, part] : parts) {
    result += all.substr(at, part.range.first - at);
    result += part.text;
    at = part.range.last;
  }
  return result.append(all.substr(at));
}

}  // namespace slicer
