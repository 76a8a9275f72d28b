/// \file
/// Output to a terminal: width, colours, a progress line, and waiting for a key.

#pragma once

#include <string>
#include <string_view>

namespace staircase {

/// Whether standard output is a terminal that supports colours.
bool has_colour();

/// The width of the terminal in characters; 132 if standard output is not a terminal.
int columns();

/// The number of characters in a UTF-8 text.
int width_of(std::string_view text);

/// Breaks lines that are longer than `columns` between two words, and indents the continuation
/// lines by `indent`. An indented line of the input continues the previous line; the function joins
/// the two before it breaks them.
std::string broken(const std::string& text, int columns, int indent);

/// Breaks a text at the width of the terminal. The text is unchanged if the output is a file or a
/// pipe.
std::string broken_for_terminal(const std::string& text, int indent);

/// A line on standard error that shows the running program. The line is printed only on a terminal.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(const std::string& text);
  void clear();

 private:
  bool shown_ = false;
};

/// Waits for a key. Returns false for the key q, for Ctrl-C and at the end of the input. Without a
/// terminal, returns true immediately.
bool wait_for_key(const std::string& prompt);

}  // namespace staircase
