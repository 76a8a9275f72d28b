/// \file
/// Polynomials in several variables with integer coefficients.

#pragma once

#include <map>
#include <vector>

#include "nest.hpp"

namespace slicer {

/// Maps each product of variables to its coefficient. The empty product stands for the constant
/// term.
using Polynomial = std::map<std::vector<const Variable*>, long>;

/// Returns one + factor * other.
Polynomial sum_of(Polynomial one, const Polynomial& other, long factor);

Polynomial product_of(const Polynomial& one, const Polynomial& other);

/// Whether each product has at most one variable.
bool is_affine(const Polynomial& polynomial);

bool is_constant(const Polynomial& polynomial);

}  // namespace slicer
