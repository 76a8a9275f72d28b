#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "parts.hpp"

namespace staircase {
namespace {

constexpr std::array names_of_scales{"element", "diagonal", "given"};

/// The index of the element at offset `offset` in row-major order, for example "(2, 0, 7)".
std::string index_of(std::size_t offset, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; offset /= shape[d]) index[d] = offset % shape[d];
  return fmt::format("({})", fmt::join(index, ", "));
}

/// The offset of the first element that is infinite or NaN in either array; the number of elements
/// if there is none.
template <typename A, typename B>
std::size_t first_not_finite(const Elements<A>& a, const Elements<B>& b) {
  return first_that(a.size(), [&](std::size_t i) {
    return !std::isfinite(static_cast<double>(a[i])) || !std::isfinite(static_cast<double>(b[i]));
  });
}

/// The largest error, and the offset of the element with this error.
struct Worst {
  double error = 0;
  std::size_t at = 0;
};

/// Finds the first element with the largest error. `error_of(i, difference)` converts the absolute
/// difference of element i to an error. worst_of() calls `error_of` only for unequal elements.
template <typename A, typename B, typename ErrorOf>
Worst worst_of(const Elements<A>& a, const Elements<B>& b, ErrorOf error_of) {
  const auto worsts = by_parts(a.size(), [&](std::size_t begin, std::size_t end) {
    Worst worst;
    for (std::size_t i = begin; i < end; ++i) {
      const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
      if (difference == 0) continue;
      const double error = error_of(i, difference);
      if (error > worst.error) worst = {error, i};
    }
    return worst;
  });
  Worst worst;
  for (const Worst& other : worsts)
    if (other.error > worst.error) worst = other;
  return worst;
}

/// The largest error according to Scale::element.
template <typename A, typename B>
Worst worst_by_element(const Elements<A>& a, const Elements<B>& b, double floor) {
  const auto largest_by_part = by_parts(b.size(), [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    return largest;
  });
  const double largest = largest_by_part.empty() ? 0 : std::ranges::max(largest_by_part);
  return worst_of(a, b, [&](std::size_t i, double difference) {
    return difference / std::max(std::abs(static_cast<double>(b[i])), floor * largest);
  });
}

/// The largest error according to Scale::diagonal, for a matrix of n columns. The difference is
/// divided by the square roots of the two diagonal elements separately, because their product may
/// overflow or underflow.
template <typename A, typename B>
Worst worst_by_diagonal(const Elements<A>& a, const Elements<B>& b, std::size_t n) {
  std::vector<double> roots(n);
  for (std::size_t i = 0; i < n; ++i)
    roots[i] = std::sqrt(std::abs(static_cast<double>(b[i * n + i])));
  return worst_of(a, b, [&](std::size_t i, double difference) {
    return difference / roots[i / n] / roots[i % n];
  });
}

/// The largest error according to the scale of a tolerance.
template <typename A, typename B>
Worst worst_by(const Tolerance& tolerance, const Elements<A>& a, const Elements<B>& b,
               std::size_t rows) {
  switch (tolerance.scale) {
    case Scale::diagonal:
      return worst_by_diagonal(a, b, rows);
    case Scale::given:
      return worst_of(a, b,
                      [&](std::size_t, double difference) { return difference / tolerance.floor; });
    default:
      return worst_by_element(a, b, tolerance.floor);
  }
}

/// Compares two arrays of equal shape. The elements are neither copied nor converted, because they
/// may take gigabytes of memory.
template <typename A, typename B>
Comparison compare_elements(const Elements<A>& a, const Elements<B>& b,
                            const std::vector<std::size_t>& shape, const Tolerance& tolerance) {
  const auto element = [&](std::size_t i) {
    return fmt::format("element {} is {} and must be {}", index_of(i, shape), a[i], b[i]);
  };
  if (const std::size_t bad = first_not_finite(a, b); bad < a.size())
    return {false, std::numeric_limits<double>::quiet_NaN(), element(bad)};
  const auto [error, at] = worst_by(tolerance, a, b, shape.empty() ? 1 : shape[0]);
  if (error <= tolerance.relative) return {true, error, ""};
  return {
      false, error,
      fmt::format("{}: the error {:.2g} exceeds {:.2g}", element(at), error, tolerance.relative)};
}

}  // namespace

nlohmann::ordered_json to_json(const Tolerance& tolerance) {
  return {{"relative", tolerance.relative},
          {"floor", tolerance.floor},
          {"scale", names_of_scales[static_cast<std::size_t>(tolerance.scale)]}};
}

Tolerance tolerance_from_json(const nlohmann::ordered_json& json) {
  const auto* const scale =
      std::find(names_of_scales.begin(), names_of_scales.end(), json.at("scale"));
  return {json.at("relative"), json.at("floor"),
          static_cast<Scale>(scale - names_of_scales.begin())};
}

Comparison compare(const NpyArray& result, const NpyArray& reference, const Tolerance& tolerance) {
  const auto& shape = result.shape;
  const auto incomparable = [&](const std::string& reason) {
    return Comparison{false, std::numeric_limits<double>::quiet_NaN(), reason};
  };
  if (shape != reference.shape)
    return incomparable(fmt::format("the shape is ({}) and must be ({})", fmt::join(shape, ", "),
                                    fmt::join(reference.shape, ", ")));
  if (tolerance.scale == Scale::diagonal && (shape.size() != 2 || shape[0] != shape[1]))
    return incomparable(
        fmt::format("the solution has the shape ({}); this workload needs a square matrix, because "
                    "its errors are measured relative to the diagonal",
                    fmt::join(shape, ", ")));
  return std::visit(
      [&](const auto& a, const auto& b) { return compare_elements(a, b, shape, tolerance); },
      result.values, reference.values);
}

}  // namespace staircase
