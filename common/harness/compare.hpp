/// \file
/// Compares a solution with the one of stage zero.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "npy.hpp"

namespace staircase {

/// What the difference |a - b| of an element from the reference's, b, is divided by.
enum class Scale {
  /// max(|b|, floor * max|b|): relative, but measured against a small part of the largest element
  /// where the element itself nearly vanishes.
  element,
  /// sqrt(|b_ii b_jj|) for element (i, j) of a square matrix. Where B = AᵀA, each sum of magnitudes
  /// (|A|ᵀ|A|)_ij is at most this (Cauchy and Schwarz), and so an error of n eps is what n rounded
  /// additions may leave, however badly the columns of A are scaled and however much they cancel.
  diagonal,
  /// The number `floor` itself: the magnitude of the input, where a solution may be far smaller
  /// than
  /// the numbers that it was computed from.
  given
};

/// How far a solution may lie from stage zero.
struct Tolerance {
  double relative;               ///< the largest error allowed
  double floor = 1e-3;           ///< for Scale::element and Scale::given
  Scale scale = Scale::element;  ///< what errors are measured against
};

/// A tolerance as descriptions and records hold it, and back.
nlohmann::ordered_json to_json(const Tolerance& tolerance);
Tolerance tolerance_from_json(const nlohmann::ordered_json& json);

/// The outcome of a comparison.
struct Comparison {
  bool equal;          ///< the shapes are equal and every error is within the tolerance
  double error;        ///< the largest error; NaN if the arrays cannot be compared at all
  std::string reason;  ///< a sentence that says what differs, empty if equal
};

/// Compares `result` with `reference`, both of a floating-point type.
///
/// A NaN or an infinity, on either side, never passes. A difference where the scale is 0 is an
/// infinite error.
Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance);

}  // namespace staircase
