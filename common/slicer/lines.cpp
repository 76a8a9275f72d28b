#include "lines.hpp"

#include <algorithm>
#include <sstream>

namespace slicer {
namespace {

/// Where a line that is too long is best broken: behind a comma, or behind an operator between
/// spaces, the outermost ones first; 0 if nowhere.
std::size_t place_to_break(const std::string& line) {
  std::size_t best = 0;
  int depth = 0, depth_of_best = 1000;
  bool in_text = false;
  const std::size_t begin = line.find_first_not_of(' ');
  for (std::size_t c = begin; c + 1 < line.size() && c < Lines::most_columns; ++c) {
    if (line[c] == '"' && line[c - 1] != '\\') in_text = !in_text;
    if (in_text) continue;
    if (line.compare(c, 2, "//") == 0) break;
    depth += line[c] == '(' || line[c] == '[' || line[c] == '{';
    depth -= line[c] == ')' || line[c] == ']' || line[c] == '}';
    const bool is_operator = std::string("+-*/%=<>&|?:;,").find(line[c]) != std::string::npos;
    if (!is_operator || line[c + 1] != ' ' || depth > depth_of_best) continue;
    best = c + 1;
    depth_of_best = depth;
  }
  return best;
}

}  // namespace

std::size_t Lines::length(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

void Lines::add(const std::string& line) { text_ += std::string(columns_, ' ') + line + "\n"; }

void Lines::comment(const std::string& text, const std::string& mark) {
  std::istringstream words(text);
  std::string line = mark, word;
  while (words >> word) {
    if (!fits(line + " " + word)) {
      add(line);
      line = mark;
    }
    line += " " + word;
  }
  add(line);
}

void Lines::set(const std::string& name, const std::string& value) {
  const std::string line = name + " = " + value + ";";
  if (fits(line)) return add(line);
  add(name + " =");
  text_ += std::string(columns_ + 4, ' ') + value + ";\n";
}

void Lines::call(const std::string& function, const std::vector<std::string>& arguments) {
  std::string line = function + "(";
  const std::string margin(line.size(), ' ');
  bool is_first = true;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::string next = arguments[a] + (a + 1 < arguments.size() ? "," : ");");
    if (!is_first && !fits(line + " " + next)) {
      add(line);
      line = margin + next;
    } else {
      line += (is_first ? "" : " ") + next;
    }
    is_first = false;
  }
  add(line);
}

void Lines::loop(const std::string& first, const std::string& condition, const std::string& step,
                 const std::string& behind) {
  std::string line = "for (" + first + ";";
  for (const std::string& part : {condition + ";", step + ")" + behind}) {
    if (fits(line + " " + part)) {
      line += " " + part;
      continue;
    }
    add(line);
    line = std::string(5, ' ') + part;
  }
  add(line);
}

std::string moved(const std::string& lines, std::size_t columns) {
  std::istringstream all(lines);
  std::string line, result;
  while (std::getline(all, line)) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos || line[begin] == '#') {
      result += (begin == line.npos ? "" : line) + "\n";
      continue;
    }
    line.insert(0, columns, ' ');
    while (Lines::length(line) > Lines::most_columns) {
      const std::size_t place = place_to_break(line);
      if (place == 0) break;
      result += line.substr(0, place) + "\n";
      line = std::string(begin + columns + 4, ' ') +
             line.substr(std::min(line.find_first_not_of(' ', place), line.size()));
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace slicer
