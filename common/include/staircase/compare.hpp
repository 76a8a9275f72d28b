/// \file
/// Compares a solution with the one of stage zero.

#pragma once

#include <string>

#include "npy.hpp"

namespace staircase {

/// How far a solution may lie from stage zero.
///
/// The error of an element is |a - b| / max(|b|, floor * max|b|): relative, but measured against a
/// small part of the largest element where the element itself nearly vanishes.
struct Tolerance {
  double relative;      ///< the largest error allowed
  double floor = 1e-3;  ///< see above
};

/// The outcome of a comparison.
struct Comparison {
  bool equal;          ///< the shapes are equal and every error is within the tolerance
  double error;        ///< the largest error; NaN if the arrays cannot be compared at all
  std::string reason;  ///< a sentence that says what differs, empty if equal
};

/// Compares `result` with `reference`, both of a floating-point type.
///
/// A NaN or an infinity, on either side, never passes.
Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance);

}  // namespace staircase
