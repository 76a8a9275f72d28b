/// \file
/// The number of time steps whose factors are stored at the same time.

#pragma once

#include <algorithm>
#include <cstddef>

namespace local_volatility {

/// The number of time steps whose factors are stored at the same time: as many as fit into 64 MB in
/// f64, but at least one.
inline std::size_t steps_at_once(std::size_t num_x, std::size_t num_y, std::size_t num_t) {
  constexpr std::size_t numbers = 1 << 23;
  return std::clamp(numbers / num_x / num_y, std::size_t{1}, num_t - 1);
}

}  // namespace local_volatility
