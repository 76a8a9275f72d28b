/// \file
/// Computes the reflection coefficients of a solution y that was computed without them.

#pragma once

#include <cstddef>

#include "durbin_levinson.hpp"

namespace durbin_levinson {

using staircase::View;

// [step_down]
/// Executes the recursion in reverse: alpha_k is the last element of y of order k. Undoing the step
/// from order k - 1 to order k gives y of order k - 1.
inline void step_down(View<double, 1> y, View<double, 1> alpha) {
  for (std::size_t k = y.extent(0); k-- > 0;) {
    alpha(k) = y(k);
    const double scale = 1 / (1 - alpha(k) * alpha(k));
    for (std::size_t i = 0; 2 * i < k; ++i) {
      const double low = y(i), high = y(k - 1 - i);
      y(i) = (low - alpha(k) * high) * scale;
      y(k - 1 - i) = (high - alpha(k) * low) * scale;
    }
  }
}
// [step_down]

}  // namespace durbin_levinson
