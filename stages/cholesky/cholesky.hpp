/// \file
/// The factorisation A = L Lᵀ of a symmetric positive definite matrix: the problem that every stage
/// solves.
///
/// Matrices lie row by row. README.md beside this file has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>
#include <variant>

namespace cholesky {

/// Where the matrix comes from.
enum Matrix : std::int64_t {
  well_conditioned,  ///< a diagonal from 1 to 2, and small numbers beside it
  graded,   ///< the same, with rows and columns that shrink down to 2⁻²⁰ of their size
  hilbert,  ///< 1 / (i + j + 1), with a little more on the diagonal
  banded    ///< as the first, with zeros from the seventeenth diagonal on
};

// [Problem]
/// The elements of a matrix, row by row, in the precision that is solved.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// A of n × n numbers, symmetric: those above the diagonal are zero here, as they are to be in L,
/// and stand for those below. Wanted is the lower triangular L with A = L Lᵀ and a positive
/// diagonal.
struct Problem {
  std::int64_t n = 1000;
  std::int64_t seed = 1;  ///< of the random numbers
  std::int64_t matrix = well_conditioned;
  double budget = 0;      ///< bytes of a device that parts of A may take; 0: all
  std::int64_t gpus = 0;  ///< so many GPUs take part; 0: all
  bool is_given = false;  ///< whether a user gave A
  Elements elements_of_a = {};

  template <typename T>
  staircase::View<const T, 2> a() const {
    const auto size = static_cast<std::size_t>(n);
    return {std::get<staircase::Elements<T>>(elements_of_a).data(), {size, size}};
  }
};

/// L of n × n numbers, with zeros above the diagonal.
template <typename T>
using Solution = staircase::Array<T, 2>;
// [Problem]

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace cholesky
