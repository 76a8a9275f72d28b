/// \file
/// The product C = AᵀA: the problem that every stage solves.
///
/// Sums of products of the columns of a matrix: the normal equations of least squares, covariance
/// matrices, Gram matrices. README.md beside this file has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace ata {

// [Problem]
/// A matrix A of rows × cols numbers; wanted is C = AᵀA, which is cols × cols and symmetric.
struct Problem {
  std::int64_t rows = 512;
  std::int64_t cols = 512;
  std::int64_t seed = 1;               ///< of the random numbers
  staircase::Elements<double> a = {};  ///< A, row by row: the user's own, or random numbers

  staircase::View<const double, 2> matrix() const {
    return {a.data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)}};
  }
};

using Product = staircase::Array<double, 2>;
// [Problem]

/// Rows of A in the memory of a device that takes so many at a time: whole steps.
inline std::size_t padded_rows(const Problem& problem, std::size_t depth) {
  return (problem.rows + depth - 1) / depth * depth;
}

/// Columns of A there: an even number, since copies begin at multiples of 16 bytes.
inline std::size_t padded_cols(const Problem& problem) { return problem.cols + problem.cols % 2; }

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace ata
