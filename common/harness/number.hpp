/// \file
/// Numbers that users write, read strictly.

#pragma once

#include <string>
#include <string_view>

namespace staircase {

/// Reads a whole number from `min` to `max`; `name` is what the sentence of a refusal calls it.
/// \throws BadInput if `text` is anything else.
double parse_integer(std::string_view name, std::string_view text, double min, double max);

/// Reads a finite number from `min` to `max`; `name` is what the sentence of a refusal calls it.
/// \throws BadInput if `text` is anything else.
double parse_real(std::string_view name, std::string_view text, double min, double max);

/// A number as people write it, with at most six digits.
std::string to_text(double value);

}  // namespace staircase
