/// \file
/// A file of which parts are replaced, while all else stays as it is.

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

  /// Puts text in place of what is written there; parts must not overlap.
  void replace(Range range, std::string text) { parts_[range.first] = {range, std::move(text)}; }
  /// Puts text where nothing is replaced, behind what was put there before.
  void insert(unsigned place, const std::string& text);
  /// The line above a declaration and the comment that belongs to it.
  unsigned place_above(unsigned place) const;
  /// The line of a pragma goes.
  void remove_line(Range range);
  /// A header that the file needs, in angle brackets.
  void include(const std::string& header) { headers_.insert(header); }
  /// Declarations of the namespace `sliced`, between the headers and the rest of the file.
  void need(const char* declarations) { needed_.insert(declarations); }

  /// What is put behind names that a nest gets, so that no other one is like them.
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

/// A nest as it is written, with loops that run over a slice only.
/// \param columns how far it stands to the right then
std::string bounded_nest(const Source& source, const Marked& marked, const std::string& suffix,
                         std::size_t columns);

/// The columns in front of a statement that begins its line.
std::size_t columns_before(const Source& source, unsigned place);

}  // namespace slicer
