#include "number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <staircase/error.hpp>

namespace staircase {
namespace {

/// Parses a text that consists of a single number of type T. Returns false for any other text.
template <typename T>
bool parse_whole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

double parse_integer(std::string_view name, std::string_view text, double min, double max) {
  long long value = 0;
  if (!parse_whole(text, value) || !(value >= min && value <= max))
    throw BadInput(fmt::format("{} must be a whole number from {:.0f} to {:.0f}, not '{}'", name,
                               min, max, text));
  return static_cast<double>(value);
}

double parse_real(std::string_view name, std::string_view text, double min, double max) {
  double value = 0;
  if (!parse_whole(text, value) || !(value >= min && value <= max))
    throw BadInput(
        fmt::format("{} must be a number from {} to {}, not '{}'", name, min, max, text));
  return value;
}

std::string to_text(double value) { return fmt::format("{:.6g}", value); }

}  // namespace staircase
