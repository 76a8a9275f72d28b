/// \file
/// Computes which elements the slices of a nest read and write, as boxes and as C++ loops over
/// sets.

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

/// The syntax of an element of an array: a(i, j), a[i][j], or a[i * n + j].
enum class Subscripts { call, brackets, line };

/// The elements of one array that a slice reads and writes.
struct Footprint {
  const Variable* array = nullptr;
  Subscripts subscripts = Subscripts::call;
  std::string row;        ///< the length of a row, for the form a[i * n + j]
  bool is_exact = false;  ///< whether the slice accesses all elements of the box
  bool is_sent = false;   ///< whether the slice reads elements, or writes them only under a
                          ///< condition
  bool is_written = false;
  std::vector<Extent> box;
  Walk sent, fetched;  ///< loops over the sent and the fetched elements
};

/// The sets of a marked nest. The parameters are the sizes, the counters of the loops around the
/// nest, and the bounds of a slice of each sliced loop, such as `i_begin` and `i_end`.
class Footprints {
 public:
  /// \param suffix the end of every name that is generated for the nest
  Footprints(const Marked& marked, const std::string& suffix);

  /// The range of a loop, for all iterations of the sliced loops around it.
  /// \throws BadInput if the range cannot be determined
  Extent extent(const Cut& cut);

  /// The footprints of all arrays that a slice accesses.
  /// \throws BadInput if a subscript is not affine, or if the sets are too complicated
  std::vector<Footprint> arrays();

  /// The variables of type `long` that a generated text uses, with their initial values.
  /// \throws BadInput if the text uses a value without a name
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
