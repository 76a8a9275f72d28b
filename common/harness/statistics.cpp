#include "statistics.hpp"

#include <algorithm>
#include <stdexcept>

namespace staircase {

Summary summarise(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("no sample to summarise");
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  return {samples.front(), 0.5 * (samples[(n - 1) / 2] + samples[n / 2]), samples.back()};
}

}  // namespace staircase
