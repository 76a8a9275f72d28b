/// \file
/// Boxes around the elements of an array that a slice touches.

#pragma once

#include <isl/cpp.h>

#include <string>
#include <vector>

#include "code.hpp"

namespace slicer {

/// A range of integers; `last` lies behind it.
struct Extent {
  std::string first, last;
};

struct Box {
  std::vector<Extent> sides;  ///< none if nothing bounds the elements
  bool is_exact = false;      ///< whether all of it is touched
  bool is_tight = false;      ///< whether each side is touched, in slices that touch anything
  isl::set where;             ///< the slices that touch anything
  isl::set empty;             ///< those whose box has no elements
};

/// The parameters for which a set has elements.
isl::set parameters_of(const isl::set& set);

/// A box around some elements, by the inequalities that hold for each set of them.
/// \param context what is known of the parameters
Box box_around(const std::vector<isl::set>& elements, const isl::set& context);

/// Loops over a box, in slices that touch anything.
Walk walk_over(const Box& box, const isl::set& context, const std::vector<std::string>& variables);

}  // namespace slicer
