/// \file
/// Median and spread of repeated measurements.

#pragma once

#include <vector>

namespace staircase {

/// A summary of repeated measurements of one quantity.
struct Summary {
  double min;
  double median;
  double max;

  /// Half the difference between maximum and minimum, divided by the median.
  double spread() const { return 0.5 * (max - min) / median; }
};

/// Summarises the samples, of which there must be at least one.
/// \throws std::invalid_argument if `samples` is empty
Summary summarise(std::vector<double> samples);

}  // namespace staircase
