/// \file
/// Boxes that contain the elements of an array that a slice accesses.

#pragma once

#include <isl/cpp.h>

#include <string>
#include <vector>

#include "code.hpp"

namespace slicer {

/// The integers from `first` up to, but not including, `last`.
struct Extent {
  std::string first, last;
};

struct Box {
  std::vector<Extent> sides;  ///< empty if the elements are unbounded
  bool is_exact = false;      ///< whether the slice accesses all elements of the box
  bool is_tight = false;      ///< whether each side is as short as possible in every slice
                              ///< that has accesses
  isl::set where;             ///< the slices with at least one access
  isl::set empty;             ///< the slices whose box has no elements
};

/// The parameter values for which a set has elements.
isl::set parameters_of(const isl::set& set);

/// A box that contains all elements. Its sides follow from inequalities that hold for each of the
/// sets.
/// \param context constraints on the parameters
Box box_around(const std::vector<isl::set>& elements, const isl::set& context);

/// Generates loops over the elements of a box, for slices with at least one access.
Walk walk_over(const Box& box, const isl::set& context, const std::vector<std::string>& variables);

}  // namespace slicer
