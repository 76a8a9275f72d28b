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
/// The elements of a matrix or a vector, row by row, in the precision that is solved.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// L of n × n numbers, of which those above the diagonal are never used, and b of n; wanted is the
/// solution x of L x = b.
struct Problem {
  std::int64_t n = 1000;
  std::int64_t seed = 1;  ///< of the random numbers
  std::int64_t matrix = well_conditioned;
  std::int64_t unit = 0;  ///< 1: the diagonal is one, whatever is given there
  double budget = 0;      ///< bytes of a device that panels of L may take; 0: as they should be
  Elements elements_of_l = {}, elements_of_b = {};

  template <typename T>
  staircase::View<const T, 2> l() const {
    const auto size = static_cast<std::size_t>(n);
    return {std::get<staircase::Elements<T>>(elements_of_l).data(), {size, size}};
  }
  template <typename T>
  staircase::View<const T, 1> b() const {
    return {std::get<staircase::Elements<T>>(elements_of_b).data(), {static_cast<std::size_t>(n)}};
  }
};

template <typename T>
using Solution = staircase::Array<T, 1>;
// [Problem]

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 1>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace triangular_solve
