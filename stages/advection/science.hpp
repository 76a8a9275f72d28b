/// \file
/// What the workloads of advection tell the harness alike: fields at first, what is refused, the
/// work and the tolerance.

#pragma once

#include <cstddef>
#include <cstdint>
#include <harness/compare.hpp>
#include <harness/work.hpp>

#include "advection.hpp"

namespace advection {

/// Rows or columns at most: a grid of blocks of 8 reaches so far.
inline constexpr std::int64_t most_cells = 500'000;

/// The value of the field at first in the cell of row i and column j.
double value_at_first(const Problem& problem, std::size_t i, std::size_t j);

/// Refuses what is too long for a grid, what grows without bound, and blocks that no GPU has.
/// \throws BadInput
void check(const Problem& problem, staircase::Precision precision);

/// Nine products and their sum, in the order of the stencil: 12 multiplications and 8 additions.
staircase::Work work(const Problem& problem, staircase::Precision precision);

/// How far a solution may lie from stage zero's, for a field with a largest magnitude at first.
staircase::Tolerance tolerance(const Problem& problem, double largest,
                               staircase::Precision precision);

/// The largest magnitude of a field.
double largest_of(const staircase::Elements<double>& field);

}  // namespace advection
