/// \file
/// Sums of products of variables with whole factors.

#pragma once

#include <map>
#include <vector>

#include "nest.hpp"

namespace slicer {

/// A factor for each product of variables; the empty product is the constant.
using Polynomial = std::map<std::vector<const Variable*>, long>;

/// One polynomial and a multiple of another.
Polynomial sum_of(Polynomial one, const Polynomial& other, long factor);

Polynomial product_of(const Polynomial& one, const Polynomial& other);

/// Whether no product has two variables.
bool is_affine(const Polynomial& polynomial);

bool is_constant(const Polynomial& polynomial);

}  // namespace slicer
