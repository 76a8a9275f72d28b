#include "lines.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace slicer {
namespace {

/// The precedence of the operator that ends at a character, where 0 is the loosest binding; -1 if
/// no operator ends there.
int looseness(const std::string& line, std::size_t c) {
  const char at = line[c], before = c > 0 ? line[c - 1] : ' ';
  if (line[c + 1] != ' ') return -1;
  if (at == ',' || at == ';') return 0;
  if (at == '|' && before == '|') return 1;
  if (at == '&' && before == '&') return 2;
  if (at == '?' || (at == ':' && before == ' ')) return 4;
  if (at == '=') return std::string("<>=!").find(before) != std::string::npos ? 8 : 14;
  if (before != ' ') return -1;
  if (at == '<' || at == '>') return 8;
  if (at == '+' || at == '-') return 10;
  return at == '*' || at == '/' || at == '%' ? 12 : -1;
}

struct Break {
  std::size_t place = 0;   ///< where the next line begins; 0 if there is no such position
  std::size_t margin = 0;  ///< the column of text in the same brackets; 0 if there are no brackets
};

/// The best position to break a line that is too long: after a comma or a loosely binding operator,
/// in as few brackets as possible, and as far right as possible. If there is no such position, the
/// line is broken after a bracket.
Break place_to_break(const std::string& line) {
  Break best;
  int score_of_best = 1 << 20;
  std::size_t behind_bracket = 0;
  std::vector<std::size_t> open;
  bool in_text = false;
  const std::size_t begin = line.find_first_not_of(' ');
  for (std::size_t c = begin; c + 1 < line.size() && c < Lines::most_columns; ++c) {
    if (line[c] == '"' && (c == 0 || line[c - 1] != '\\')) in_text = !in_text;
    if (in_text) continue;
    if (line.compare(c, 2, "//") == 0) break;
    const bool is_angle = line[c] == '<' && c > 0 && line[c - 1] != ' ' && line[c + 1] != ' ' &&
                          line[c + 1] != '=' && line[c + 1] != '<';
    if (line[c] == '(' || line[c] == '[' || line[c] == '{' || is_angle) open.push_back(c);
    if (line[c] == '(') behind_bracket = c + 1;
    const bool closes_angle = line[c] == '>' && !open.empty() && line[open.back()] == '<';
    if ((line[c] == ')' || line[c] == ']' || line[c] == '}' || closes_angle) && !open.empty())
      open.pop_back();
    const int loose = closes_angle ? -1 : looseness(line, c);
    const int score = static_cast<int>(open.size()) * 3 + loose;
    if (loose < 0 || score > score_of_best) continue;
    best = {c + 1, open.empty() ? 0 : open.back() + 1};
    score_of_best = score;
  }
  return best.place > 0 ? best : Break{behind_bracket};
}

}  // namespace

std::size_t Lines::length(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

void Lines::add(const std::string& line) { put(std::string(columns_, ' ') + line); }

void Lines::put(std::string line) {
  const std::size_t begin = line.find_first_not_of(' ');
  while (length(line) > most_columns) {
    const Break at = place_to_break(line);
    if (at.place == 0) break;
    text_ += line.substr(0, at.place) + "\n";
    const bool has_room = at.margin > 0 && at.margin <= most_columns / 2;
    line = std::string(has_room ? at.margin : begin + 4, ' ') +
           line.substr(std::min(line.find_first_not_of(' ', at.place), line.size()));
  }
  text_ += line + "\n";
}

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
  put(std::string(columns_ + 4, ' ') + value + ";");
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
      const std::size_t place = place_to_break(line).place;
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
