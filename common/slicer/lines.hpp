/// \file
/// C++ lines in the layout of this repository: two columns per level and at most 100 columns.

#pragma once

#include <string>
#include <vector>

namespace slicer {

/// A text to which lines are appended.
class Lines {
 public:
  static constexpr std::size_t most_columns = 100;

  explicit Lines(std::size_t columns = 0) : columns_(columns) {}

  std::size_t columns() const { return columns_; }
  void indent() { columns_ += 2; }
  void outdent() { columns_ -= 2; }

  /// Appends a line, and breaks it if it is too long.
  void add(const std::string& line);
  /// Appends lines that are already indented.
  void append(const std::string& lines) { text_ += lines; }
  /// Appends a comment, on several lines if necessary.
  void comment(const std::string& text, const std::string& mark = "//");
  /// Appends `name = value;`, with the value on a separate line if necessary.
  void set(const std::string& name, const std::string& value);
  /// Appends a call, with one line per argument if necessary.
  void call(const std::string& function, const std::vector<std::string>& arguments);
  /// Appends `for (first; condition; step)`, followed by `behind`.
  void loop(const std::string& first, const std::string& condition, const std::string& step,
            const std::string& behind = {});

  bool fits(const std::string& line) const { return columns_ + length(line) <= most_columns; }
  /// The number of columns of a line in UTF-8.
  static std::size_t length(const std::string& line);

  const std::string& text() const { return text_; }

 private:
  void put(std::string line);

  std::size_t columns_;
  std::string text_;
};

/// Indents lines by more columns, except for empty lines and preprocessor directives. A line that
/// becomes too long is broken after a comma or before an operator.
std::string moved(const std::string& lines, std::size_t columns);

}  // namespace slicer
