/// \file
/// Replacement of parts of a file.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "marked.hpp"

namespace slicer {

/// The changes to a file.
class Rewriting {
 public:
  explicit Rewriting(const Source& source) : source_(source) {}

  const Source& source() const { return source_; }

  /// Replaces a range by a text. Ranges must not overlap.
  void replace(Range range, std::string text) { parts_[range.first] = {range, std::move(text)}; }
  /// Inserts a text at a position outside of all replaced ranges, after earlier insertions there.
  void insert(unsigned place, const std::string& text);
  /// The position above a declaration and its comment.
  unsigned place_above(unsigned place) const;
  /// Removes the line of a pragma.
  void remove_line(Range range);
  /// Includes a header in angle brackets.
  void include(const std::string& header) { headers_.insert(header); }
  /// Inserts declarations of the namespace `sliced` between the headers and the rest of the file.
  void need(const char* declarations) { needed_.insert(declarations); }

  /// A suffix that makes the generated names of a nest unique in the file.
  std::string suffix(const std::vector<std::string>& names);

  /// The changed file.
  std::string text() const;

 private:
  struct Part {
    Range range{};
    std::string text;
  };
  std::string preamble() const;
  unsigned place_of_preamble() const;

  const Source& source_;
  std::map<unsigned, Part> parts_;
  std::set<std::string> headers_, needed_, taken_;
};

/// The text of a nest whose sliced loops run over one slice only.
/// \param columns the indentation of the nest in the generated file
std::string bounded_nest(const Source& source, const Marked& marked, const std::string& suffix,
                         std::size_t columns);

/// The number of columns before a statement that is the first statement on its line.
std::size_t columns_before(const Source& source, unsigned place);

}  // namespace slicer
