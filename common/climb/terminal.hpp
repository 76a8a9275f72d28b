/// \file
/// Output to a terminal: its width, colours, a progress line, and waiting for a key.

#pragma once

#include <string>
#include <string_view>

namespace staircase {

/// Whether standard output is a terminal that shows colours.
bool has_colour();

/// The width of the terminal in characters; 132 if standard output is no terminal.
int columns();

/// The number of characters of a text in UTF-8.
int width_of(std::string_view text);

/// Breaks lines that are longer than `columns` between words and indents the rest by `indent`.
/// Indented lines in the input continue the line above and are first joined with it.
std::string broken(const std::string& text, int columns, int indent);

/// Breaks the text at the width of the terminal; leaves it unchanged for files and pipes.
std::string broken_for_terminal(const std::string& text, int indent);

/// A line on standard error that shows the running program; it appears only on a terminal.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(const std::string& text);
  void clear();

 private:
  bool shown_ = false;
};

/// Waits for a key; returns false for q, Ctrl-C or the end of input. Without a terminal, returns
/// true at once.
bool wait_for_key(const std::string& prompt);

}  // namespace staircase
