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

/// The first element that is not finite on either side, or the number of elements.
template <typename A, typename B>
std::size_t first_not_finite(const std::vector<A>& a, const std::vector<B>& b) {
  std::size_t i = 0;
  while (i < a.size() && std::isfinite(static_cast<double>(a[i])) &&
         std::isfinite(static_cast<double>(b[i])))
    ++i;
  return i;
}

/// An element and its error.
struct Worst {
  double error = 0;
  std::size_t at = 0;
};

/// The element with the largest error.
template <typename A, typename B>
Worst worst_of(const std::vector<A>& a, const std::vector<B>& b, double floor) {
  double largest = 0;
  for (const B element : b) largest = std::max(largest, std::abs(static_cast<double>(element)));
  Worst worst;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (difference == 0) continue;
    const double error =
        difference / std::max(std::abs(static_cast<double>(b[i])), floor * largest);
    if (error > worst.error) worst = {error, i};
  }
  return worst;
}

/// Compares the elements of two arrays of one shape as they lie: gigabytes are not copied.
template <typename A, typename B>
Comparison compare_elements(const std::vector<A>& a, const std::vector<B>& b,
                            const std::vector<std::size_t>& shape, const Tolerance& tolerance) {
  const auto element = [&](std::size_t i) {
    return fmt::format("element {} is {} and must be {}", index_of(i, shape), a[i], b[i]);
  };
  if (const std::size_t bad = first_not_finite(a, b); bad < a.size())
    return {false, std::numeric_limits<double>::quiet_NaN(), element(bad)};
  const auto [error, at] = worst_of(a, b, tolerance.floor);
  if (error <= tolerance.relative) return {true, error, ""};
  return {
      false, error,
      fmt::format("{}: the error {:.2g} exceeds {:.2g}", element(at), error, tolerance.relative)};
}

}  // namespace

Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance) {
  if (result.shape != reference.shape)
    return {false, std::numeric_limits<double>::quiet_NaN(),
            fmt::format("the shape is ({}) and must be ({})", fmt::join(result.shape, ", "),
                        fmt::join(reference.shape, ", "))};
  return std::visit(
      [&](const auto& a, const auto& b) { return compare_elements(a, b, result.shape, tolerance); },
      result.values, reference.values);
}

}  // namespace staircase
