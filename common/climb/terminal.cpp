#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace staircase {
namespace {

/// The value of an environment variable, or an empty text if the variable is not set.
std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether a stream is a terminal that supports escape sequences.
bool understands_escapes(int stream) {
  return ::isatty(stream) != 0 && environment("TERM") != "dumb";
}

int columns_of(int stream) {
  winsize size{};
  const bool known = ::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 132;
}

/// A line, together with the indented lines that follow and continue this line.
struct Paragraph {
  std::string text;
  int width;  ///< width of the widest line, in characters
};

std::vector<Paragraph> paragraphs_of(const std::string& text) {
  std::vector<Paragraph> paragraphs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (paragraphs.empty() || !line.starts_with(' ')) paragraphs.push_back({"", 0});
    paragraphs.back().text += line + "\n";
    paragraphs.back().width = std::max(paragraphs.back().width, width_of(line));
  }
  return paragraphs;
}

/// Returns the first `column` characters of a text if they end with a space and a word follows;
/// otherwise, returns an empty text. The characters form a label such as "Legal:   ", which stays
/// on the first line when the paragraph is broken.
std::string label_of(const std::string& text, std::size_t column) {
  const bool begins = text.size() > column && text[column - 1] == ' ' && text[column] != ' ';
  return begins ? text.substr(0, column) : "";
}

std::string broken_paragraph(const std::string& text, int columns, int indent) {
  std::string result = label_of(text, static_cast<std::size_t>(indent));
  std::istringstream words(text.substr(result.size()));
  const std::string next_line = fmt::format("\n{:{}}", "", indent);
  int used = width_of(result);
  bool first = true;
  for (std::string word; words >> word; used += width_of(word)) {
    const bool fits = used + 1 + width_of(word) <= columns;
    if (!first) result += fits ? " " : next_line;
    if (!first) used = fits ? used + 1 : indent;
    first = false;
    result += word;
  }
  return result + "\n";
}

}  // namespace

bool has_colour() { return understands_escapes(STDOUT_FILENO) && environment("NO_COLOR").empty(); }

int width_of(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

int columns() { return columns_of(STDOUT_FILENO); }

std::string broken(const std::string& text, int columns, int indent) {
  std::string result;
  for (const Paragraph& paragraph : paragraphs_of(text))
    result += paragraph.width <= columns ? paragraph.text
                                         : broken_paragraph(paragraph.text, columns, indent);
  return result;
}

std::string broken_for_terminal(const std::string& text, int indent) {
  return ::isatty(STDOUT_FILENO) == 0 ? text : broken(text, columns(), indent);
}

void ProgressLine::show(const std::string& text) {
  if (!understands_escapes(STDERR_FILENO)) return;
  const auto width = static_cast<std::size_t>(columns_of(STDERR_FILENO) - 1);
  fmt::print(stderr, "\r\x1b[K{}", text.substr(0, width));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!std::exchange(shown_, false)) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

bool wait_for_key(const std::string& prompt) {
  termios before{};
  if (::isatty(STDOUT_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) return true;
  // Raw mode begins before the prompt appears, so that an early Ctrl-C arrives as a key and not as
  // a signal.
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  fmt::print("{}", prompt);
  std::fflush(stdout);
  char key = 'q';
  const bool read = ::read(STDIN_FILENO, &key, 1) == 1;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  fmt::print("{}", understands_escapes(STDOUT_FILENO) ? "\r\x1b[K" : "\n");
  constexpr char ctrl_c = 3, ctrl_d = 4;
  return read && key != 'q' && key != ctrl_c && key != ctrl_d;
}

}  // namespace staircase
