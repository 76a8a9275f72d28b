/// \file
/// What the slices of a nest read and write: boxes, and loops over sets of elements, as C++.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "accesses.hpp"
#include "boxes.hpp"
#include "elements.hpp"
#include "marked.hpp"

namespace slicer {

/// How an array's elements are written: a(i, j), a[i][j], or a[i * n + j].
enum class Subscripts { call, brackets, line };

/// What a slice reads and writes of an array.
struct Footprint {
  const Variable* array = nullptr;
  Subscripts subscripts = Subscripts::call;
  std::string row;        ///< how long a row is, of an array that is a line of numbers
  bool is_exact = false;  ///< whether the slice touches all of the box
  bool is_sent = false;   ///< read, or perhaps not written where it may be
  bool is_written = false;
  std::vector<Extent> box;
  Walk sent, fetched;  ///< over the elements
};

/// The sets of a marked nest. Sizes and counters of loops around it are parameters, and the
/// beginning and the end of each sliced loop are so as well, as `i_begin` and `i_end`.
class Footprints {
 public:
  /// \param suffix what stands behind all names that are made for the nest
  Footprints(const Marked& marked, const std::string& suffix);

  /// Where a loop begins and ends, over all iterations of those around it that are sliced.
  /// \throws BadInput if that cannot be told
  Extent extent(const Cut& cut);

  /// All arrays that a slice touches.
  /// \throws BadInput if an element cannot be told, or if the sets are too complicated
  std::vector<Footprint> arrays();

  /// Variables of type `long` that a text uses, and what they are made with.
  /// \throws BadInput if it uses a number that has no name
  std::map<std::string, std::string> numbers_in(const std::string& text) const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void name_parameters();
  void name_parameter(const Variable& variable, std::size_t position);
  void find_context();
  isl::set range_of(const Cut& cut) const;
  isl::map with_parameters(isl::map map) const;
  isl::set elements_of(const Touched& touched) const;
  Footprint footprint_of(const std::vector<const Touched*>& touched);
  void find_form(Footprint& footprint, const std::vector<const Touched*>& touched);

  const Marked& marked_;
  std::string suffix_;
  std::vector<const Access*> accesses_;
  Names names_;
  Space space_;
  std::vector<Touched> touched_;
  std::vector<std::pair<std::size_t, std::string>> parameters_;  ///< by position
  std::map<std::string, std::string> numbers_;
  isl::set context_;
};

}  // namespace slicer
