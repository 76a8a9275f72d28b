/// \file
/// Lines of C++ in the layout of this repository: two columns per level, at most a hundred columns.

#pragma once

#include <string>
#include <vector>

namespace slicer {

/// Lines that are written one after the other.
class Lines {
 public:
  static constexpr std::size_t most_columns = 100;

  explicit Lines(std::size_t columns = 0) : columns_(columns) {}

  std::size_t columns() const { return columns_; }
  void indent() { columns_ += 2; }
  void outdent() { columns_ -= 2; }

  /// A line; one that is too long is broken.
  void add(const std::string& line);
  /// Lines that are in their place already.
  void append(const std::string& lines) { text_ += lines; }
  /// A comment of several lines, if it has to be.
  void comment(const std::string& text, const std::string& mark = "//");
  /// `name = value;`, where the value may get a line of its own.
  void set(const std::string& name, const std::string& value);
  /// A call, whose arguments may get a line each.
  void call(const std::string& function, const std::vector<std::string>& arguments);
  /// `for (first; condition; step)`, and `behind` it.
  void loop(const std::string& first, const std::string& condition, const std::string& step,
            const std::string& behind = {});

  bool fits(const std::string& line) const { return columns_ + length(line) <= most_columns; }
  /// The columns that a line in UTF-8 takes.
  static std::size_t length(const std::string& line);

  const std::string& text() const { return text_; }

 private:
  void put(std::string line);

  std::size_t columns_;
  std::string text_;
};

/// Lines moved to the right, but for empty ones and those of the preprocessor. What does not fit
/// any more is broken behind a comma or in front of an operator.
std::string moved(const std::string& lines, std::size_t columns);

}  // namespace slicer
