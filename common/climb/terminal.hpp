/// \file
/// The terminal that the runner talks to.

#pragma once

#include <string>
#include <string_view>

namespace staircase {

/// Whether standard output is a terminal that shows colours.
bool has_colour();

/// Columns of the terminal, or 132 where there is none.
int columns();

/// Columns that a text in UTF-8 takes.
int width_of(std::string_view text);

/// Breaks lines that are too long between words, and indents what follows. Indented lines continue
/// the one before, and are joined with it then.
std::string broken(const std::string& text, int columns, int indent);

/// The same where the terminal's columns end. Files and pipes have none; for them, the text stays
/// as it is.
std::string broken_for_terminal(const std::string& text, int indent);

/// A line on standard error that says what is running; shown only on a terminal.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(const std::string& text);
  void clear();

 private:
  bool shown_ = false;
};

/// Waits for a key; returns false for q or at the end of input. Does not wait without a terminal.
bool wait_for_key(const std::string& prompt);

}  // namespace staircase
