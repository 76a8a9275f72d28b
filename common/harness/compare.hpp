/// \file
/// Compares a solution with a reference, usually the solution of stage zero.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "npy.hpp"

namespace staircase {

/// The scale of an error. The error of element a is |a - b| divided by the scale, where b is the
/// corresponding element of the reference.
enum class Scale {
  /// The scale is max(|b|, floor · max|b|). The error is then the relative error, except for
  /// elements that are nearly zero compared with the largest element.
  element,
  /// The scale is sqrt(|b_ii b_jj|) for element (i, j) of a square matrix. If B = AᵀA, the scale is
  /// an upper bound of the sum of magnitudes (|A|ᵀ|A|)_ij by the Cauchy–Schwarz inequality. A sum
  /// of n rounded products therefore has an error of at most n eps, for any scaling of the columns
  /// of A and any cancellation.
  diagonal,
  /// The scale is `floor` for all elements. This scale suits solutions that can be much smaller
  /// than the values from which they are computed.
  given
};

/// The largest allowed error of a solution.
struct Tolerance {
  double relative;               ///< the largest error that is allowed
  double floor = 1e-3;           ///< parameter of Scale::element and Scale::given
  Scale scale = Scale::element;  ///< how errors are scaled
};

/// Convert a tolerance to the JSON of descriptions and records, and back.
nlohmann::ordered_json to_json(const Tolerance& tolerance);
Tolerance tolerance_from_json(const nlohmann::ordered_json& json);

/// The outcome of a comparison.
struct Comparison {
  bool equal;          ///< whether the shapes are equal and every error is within the tolerance
  double error;        ///< the largest error; NaN if shapes differ or an element is not finite
  std::string reason;  ///< a sentence that says why `equal` is false; empty if it is true
};

/// Compares `result` with `reference`. Both arrays must have a floating-point type.
///
/// An array that contains a NaN or an infinity never passes. A difference at an element with scale
/// 0 counts as an infinite error.
Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance);

}  // namespace staircase
