#include "source.hpp"

#include <fmt/color.h>
#include <algorithm>
#include <fstream>
#include <harness/file.hpp>
#include <harness/process.hpp>
#include <span>
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

/// The lines of code of a source. Blank lines and comments are excluded, and so are the title and
/// the idea, because they differ in every stage.
std::vector<std::string> code_of(const fs::path& path) {
  std::vector<std::string> lines = lines_of(path);
  std::erase_if(lines, [](const std::string& line) {
    const auto first = line.find_first_not_of(" \t");
    const auto begins_with = [&](std::string_view words) {
      return line.compare(first, words.size(), words) == 0;
    };
    return first == std::string::npos || begins_with("//") || begins_with(".title =") ||
           begins_with(".idea =");
  });
  return lines;
}

/// The length of the longest common subsequence, by dynamic programming that stores two rows of the
/// table.
std::size_t common_lines(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1);
  for (const auto& line : a) {
    for (std::size_t j = 0; j < b.size(); ++j)
      row[j + 1] = line == b[j] ? above[j] + 1 : std::max(above[j + 1], row[j]);
    std::swap(above, row);
  }
  return above.back();
}

/// The number of lines of the header comment of a source.
std::ptrdiff_t header_length(const std::vector<std::string>& lines) {
  return std::find_if(lines.begin(), lines.end(),
                      [](const std::string& line) { return !line.starts_with("///"); }) -
         lines.begin();
}

/// A copy of a source file without the header comment.
struct Body {
  fs::path path;
  long header;  ///< the number of lines of the omitted header comment

  Body(const fs::path& source, fs::path copy) : path(std::move(copy)) {
    const auto lines = lines_of(source);
    header = header_length(lines);
    std::ofstream file(path);
    for (const std::string& line : std::span(lines).subspan(static_cast<std::size_t>(header)))
      file << line << "\n";
  }
};

/// Adds `before` and `after` to the two starting line numbers in the first line of a hunk (`@@ -1,7
/// +1,9 @@`).
std::string renumbered(const std::string& hunk, long before, long after) {
  std::istringstream words(hunk);
  std::string mark, from, to;
  words >> mark >> from >> to;
  const auto plus = [](const std::string& range, long lines) {
    const auto comma = std::min(range.find(','), range.size());
    return range[0] + std::to_string(std::stol(range.substr(1, comma)) + lines) +
           range.substr(comma);
  };
  return fmt::format("{} {} {} {}", mark, plus(from, before), plus(to, after), mark);
}

fmt::text_style style_of(const std::string& line) {
  return line.starts_with("@@")  ? fg(fmt::terminal_color::cyan)
         : line.starts_with("+") ? fg(fmt::terminal_color::green)
         : line.starts_with("-") ? fg(fmt::terminal_color::red)
                                 : fmt::text_style();
}

}  // namespace

LinesChanged lines_changed(const fs::path& before, const fs::path& after) {
  const auto a = code_of(before), b = code_of(after);
  const std::size_t common = common_lines(a, b);
  return {static_cast<int>(b.size() - common), static_cast<int>(a.size() - common)};
}

std::string unified_diff(const fs::path& before, const fs::path& after, bool colour) {
  const TemporaryDirectory directory;
  const Body old(before, directory.path() / "before"), now(after, directory.path() / "after");
  const ProcessResult diff = run_process({"diff", "-u", "--label", before.filename(), "--label",
                                          after.filename(), old.path, now.path});
  if (diff.status > 1) throw BadInput(diff.err);
  std::istringstream lines(diff.out);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("@@")) line = renumbered(line, old.header, now.header);
    text += fmt::format(colour ? style_of(line) : fmt::text_style(), "{}", line) + "\n";
  }
  return text;
}

std::string header_comment(const fs::path& source) {
  const auto lines = lines_of(source);
  std::string text;
  for (const std::string& line :
       std::span(lines).first(static_cast<std::size_t>(header_length(lines))))
    if (line != "/// \\file") text += line.size() > 4 ? line.substr(4) + "\n" : "\n";
  return text;
}

std::string field_of(const fs::path& source, const std::string& field) {
  const std::string begin = "." + field + " = \"";
  for (const std::string& line : lines_of(source))
    if (const auto at = line.find(begin); at != std::string::npos)
      return line.substr(at + begin.size(), line.rfind('"') - at - begin.size());
  throw BadInput(fmt::format("the source '{}' has no {}", source.string(), field));
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
