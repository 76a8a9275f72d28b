/// \file
/// The solution of L x = b with a dense lower triangular matrix: the problem that every stage
/// solves.
///
/// Matrices lie row by row. README.md beside this file has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>
#include <variant>

namespace triangular_solve {

/// Where the matrix comes from.
enum Matrix : std::int64_t {
  well_conditioned,  ///< a diagonal from 1 to 2 in magnitude, and small numbers below it
  graded,            ///< the same, with rows that shrink down to 2⁻⁴⁰ of their size
  ill_conditioned    ///< numbers below the diagonal so large that unknowns grow
};

// [Problem]
/// The elements of a matrix or of vectors, row by row, in the precision that is solved.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// L of n × n numbers, of which those above the diagonal are never used, and right-hand sides b of
/// n numbers, each in one piece; wanted is the solution x of L x = b for each.
struct Problem {
  std::int64_t n = 1000;
  std::int64_t seed = 1;  ///< of the random numbers
  std::int64_t matrix = well_conditioned;
  std::int64_t unit = 0;        ///< 1: the diagonal is one, whatever is given there
  std::int64_t rhs = 1;         ///< right-hand sides
  std::int64_t transposed = 0;  ///< 1: Lᵀ x = b is to be solved
  double budget = 0;       ///< bytes of a device that panels of L may take; 0: as they should be
  bool of_matrix = false;  ///< whether right-hand sides were the columns of a matrix, even of one
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

/// rhs × n numbers, an x in each row.
template <typename T>
using Solution = staircase::Array<T, 2>;
// [Problem]

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace triangular_solve
