/// \file
/// Strict conversion of command-line arguments to numbers.

#pragma once

#include <string>
#include <string_view>

namespace staircase {

/// Converts a text to an integer in the range from `min` to `max`. `name` is the name of the value
/// in error messages.
/// \throws BadInput if `text` is not such an integer
double parse_integer(std::string_view name, std::string_view text, double min, double max);

/// Converts a text to a finite number in the range from `min` to `max`. `name` is the name of the
/// value in error messages.
/// \throws BadInput if `text` is not such a number
double parse_real(std::string_view name, std::string_view text, double min, double max);

/// Converts a number to a text with at most six significant digits.
std::string to_text(double value);

}  // namespace staircase
