#include "source.hpp"

#include <fmt/color.h>
#include <algorithm>
#include <fstream>
#include <harness/process.hpp>
#include <sstream>
#include <staircase/error.hpp>
#include <string_view>
#include <vector>

namespace staircase {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw BadInput(fmt::format("the source '{}' cannot be read", path.string()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The lines that are neither blank nor comments.
std::vector<std::string> code_of(const fs::path& path) {
  std::vector<std::string> lines = lines_of(path);
  std::erase_if(lines, [](const std::string& line) {
    const auto first = line.find_first_not_of(" \t");
    return first == std::string::npos || line.compare(first, 2, "//") == 0;
  });
  return lines;
}

/// Length of the longest common subsequence (the classic dynamic programme, two rows of it).
std::size_t common_lines(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1);
  for (const auto& line : a) {
    for (std::size_t j = 0; j < b.size(); ++j)
      row[j + 1] = line == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
    std::swap(above, row);
  }
  return above.back();
}

}  // namespace

LinesChanged lines_changed(const fs::path& before, const fs::path& after) {
  const auto a = code_of(before), b = code_of(after);
  const std::size_t common = common_lines(a, b);
  return {static_cast<int>(b.size() - common), static_cast<int>(a.size() - common)};
}

std::string unified_diff(const fs::path& before, const fs::path& after, bool colour) {
  const ProcessResult diff = run_process(
      {"diff", "-u", "--label", before.filename(), "--label", after.filename(), before, after});
  if (diff.status > 1) throw BadInput(diff.err);
  if (!colour) return diff.out;
  std::istringstream lines(diff.out);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const auto style = line.starts_with("@@")  ? fg(fmt::terminal_color::cyan)
                       : line.starts_with("+") ? fg(fmt::terminal_color::green)
                       : line.starts_with("-") ? fg(fmt::terminal_color::red)
                                               : fmt::text_style();
    text += fmt::format(style, "{}", line) + "\n";
  }
  return text;
}

std::string header_comment(const fs::path& source) {
  std::string text;
  for (const std::string& line : lines_of(source)) {
    if (!line.starts_with("///")) break;
    if (line != "/// \\file") text += line.size() > 4 ? line.substr(4) + "\n" : "\n";
  }
  return text;
}

std::string said_in(const fs::path& source, const std::string& field) {
  const std::string begin = "." + field + " = \"";
  for (const std::string& line : lines_of(source))
    if (const auto at = line.find(begin); at != std::string::npos)
      return line.substr(at + begin.size(), line.rfind('"') - at - begin.size());
  throw BadInput(fmt::format("the source '{}' names no {}", source.string(), field));
}

std::optional<std::string> continued_stage(const fs::path& source) {
  constexpr std::string_view field = "From:";
  std::istringstream lines(header_comment(source));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(field)) continue;
    const auto first = line.find_first_not_of(" \t\r", field.size());
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  }
  return {};
}

}  // namespace staircase
