/// The code that both advection workloads share: initial fields,
/// the check of the parameters, the amount of work and the
/// tolerance.

#pragma once

#include <cstddef>
#include <cstdint>
#include <harness/compare.hpp>
#include <harness/work.hpp>

#include "advection.hpp"

namespace advection {

/// The maximum number of rows or columns; a grid of thread blocks with 8 rows can cover them.
inline constexpr std::int64_t most_cells = 500'000;

/// The initial value of the cell in row i and column j.
double value_at_first(const Problem& problem, std::size_t i, std::size_t j);

/// Rejects fields too long for a grid, unstable schemes, and thread blocks too large for a GPU.
/// \throws BadInput
void check(const Problem& problem, staircase::Precision precision);

/// Returns the work of a nine-point stencil: 12 multiplications and 8 additions per cell and step.
staircase::Work work(const Problem& problem, staircase::Precision precision);

/// The allowed difference from stage zero if the initial field has magnitudes up to `largest`.
staircase::Tolerance tolerance(const Problem& problem, double largest,
                               staircase::Precision precision);

/// The largest magnitude of an element of a field.
double largest_of(const staircase::Elements<double>& field);

}  // namespace advection
