/// \file
/// Compares a solution with the reference, usually the solution of stage zero.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "npy.hpp"

namespace staircase {

/// The scale of an error: the difference |a - b| of an element a from the element b of the
/// reference is divided by it.
enum class Scale {
  /// max(|b|, floor · max|b|): the relative error, except for elements that are nearly zero
  /// compared
  /// with the largest element.
  element,
  /// sqrt(|b_ii b_jj|) for element (i, j) of a square matrix. If B = AᵀA, this is an upper bound of
  /// the
  /// sum of magnitudes (|A|ᵀ|A|)_ij by the inequality of Cauchy and Schwarz. Hence n rounded
  /// additions
  /// cause an error of at most n eps, for any scaling of the columns of A and any cancellation.
  diagonal,
  /// `floor` itself, which is then the magnitude of the input. This is for solutions that can be
  /// much
  /// smaller than the values from which they are computed.
  given
};

/// The largest allowed error of a solution.
struct Tolerance {
  double relative;               ///< the largest error allowed
  double floor = 1e-3;           ///< parameter of Scale::element and Scale::given
  Scale scale = Scale::element;  ///< the scale of errors
};

/// Converts a tolerance to and from the JSON of descriptions and records.
nlohmann::ordered_json to_json(const Tolerance& tolerance);
Tolerance tolerance_from_json(const nlohmann::ordered_json& json);

/// The outcome of a comparison.
struct Comparison {
  bool equal;          ///< the shapes are equal and every error is within the tolerance
  double error;        ///< the largest error; NaN if the arrays cannot be compared at all
  std::string reason;  ///< a sentence about the first difference; empty if equal
};

/// Compares `result` with `reference`, both of a floating-point type.
///
/// An array with a NaN or an infinity never passes. A difference at an element whose scale is 0
/// counts as an infinite error.
Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance);

}  // namespace staircase
