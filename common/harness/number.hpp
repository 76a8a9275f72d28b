/// \file
/// Strict conversion of numbers on the command line.

#pragma once

#include <string>
#include <string_view>

namespace staircase {

/// Converts a text to an integer from `min` to `max`; error messages call it `name`.
/// \throws BadInput if `text` is anything else
double parse_integer(std::string_view name, std::string_view text, double min, double max);

/// Converts a text to a finite number from `min` to `max`; error messages call it `name`.
/// \throws BadInput if `text` is anything else
double parse_real(std::string_view name, std::string_view text, double min, double max);

/// A number as text with at most six significant digits.
std::string to_text(double value);

}  // namespace staircase
