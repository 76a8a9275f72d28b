/// \file
/// The problem that every stage solves: L x = b with a dense lower triangular matrix L.
///
/// Matrices are stored in row-major order. README.md in this directory explains the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>
#include <variant>

namespace triangular_solve {

/// The kinds of generated matrices.
enum Matrix : std::int64_t {
  well_conditioned,  ///< a diagonal from 1 to 2 in magnitude, and small elements below it
  graded,            ///< well_conditioned, with rows scaled by powers of two down to 2⁻⁴⁰
  ill_conditioned    ///< elements below the diagonal so large that unknowns grow
};

// [Problem]
/// The elements of a matrix or of vectors, row by row, in the precision of the solve.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// L with n × n elements, and right-hand sides b with n elements each, contiguous in memory. The
/// elements of L above the diagonal are never used. A stage solves L x = b for each b.
struct Problem {
  std::int64_t n = 1000;
  std::int64_t seed = 1;  ///< seed of the random elements
  std::int64_t matrix = well_conditioned;
  std::int64_t unit = 0;        ///< 1: all elements on the diagonal are taken as 1
  std::int64_t rhs = 1;         ///< number of right-hand sides
  std::int64_t transposed = 0;  ///< 1: solve Lᵀ x = b
  double budget = 0;       ///< device memory for panels of L, in bytes; 0: the stage chooses
  bool of_matrix = false;  ///< whether b was given as a matrix, even with one column
  Elements elements_of_l = {}, elements_of_b = {};

  template <typename T>
  staircase::View<const T, 2> l() const {
    const auto size = static_cast<std::size_t>(n);
    return {std::get<staircase::Elements<T>>(elements_of_l).data(), {size, size}};
  }
  template <typename T>
  staircase::View<const T, 2> b() const {
    return {std::get<staircase::Elements<T>>(elements_of_b).data(),
            {static_cast<std::size_t>(rhs), static_cast<std::size_t>(n)}};
  }
};

/// rhs × n elements: each row is the solution x for one right-hand side.
template <typename T>
using Solution = staircase::Array<T, 2>;
// [Problem]

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line selects; returns the exit
/// status. The workload and the stage are named after the directories of the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace triangular_solve
