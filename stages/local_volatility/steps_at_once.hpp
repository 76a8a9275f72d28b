/// \file
/// For how many time steps factors are kept at once.

#pragma once

#include <algorithm>
#include <cstddef>

namespace local_volatility {

/// Time steps whose factors are kept at once: as many as 64 MB of f64 hold, or one.
inline std::size_t steps_at_once(std::size_t num_x, std::size_t num_y, std::size_t num_t) {
  constexpr std::size_t numbers = 1 << 23;
  return std::clamp(numbers / num_x / num_y, std::size_t{1}, num_t - 1);
}

}  // namespace local_volatility
