#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <staircase/compare.hpp>

namespace staircase {
namespace {

/// Row-major index of element `offset`, as a reader writes it: (2, 0, 7).
std::string index_of(std::size_t offset, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; offset /= shape[d]) index[d] = offset % shape[d];
  return fmt::format("({})", fmt::join(index, ", "));
}

}  // namespace

Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (result.shape != reference.shape)
    return {false, nan,
            fmt::format("the shape is ({}) and must be ({})", fmt::join(result.shape, ", "),
                        fmt::join(reference.shape, ", "))};
  const std::vector<double> a = result.as_double();
  const std::vector<double> b = reference.as_double();

  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
      return {
          false, nan,
          fmt::format("element {} is {} and must be {}", index_of(i, result.shape), a[i], b[i])};
    largest = std::max(largest, std::abs(b[i]));
  }

  double error = 0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    const double scale = std::max(std::abs(b[i]), tolerance.floor * largest);
    const double e = difference == 0 ? 0 : difference / scale;
    if (e > error) {
      error = e;
      worst = i;
    }
  }
  if (error <= tolerance.relative) return {true, error, ""};
  return {
      false, error,
      fmt::format("element {} is {} and must be {}: the error {:.2g} exceeds {:.2g}",
                  index_of(worst, result.shape), a[worst], b[worst], error, tolerance.relative)};
}

}  // namespace staircase
