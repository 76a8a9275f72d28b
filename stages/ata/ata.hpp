/// \file
/// The product C = AᵀA: the problem that every stage solves.
///
/// Such products occur in the normal equations of least squares, in covariance and Gram matrices.
/// README.md in this directory has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace ata {

// [Problem]
/// A matrix A of rows × cols elements. The result C = AᵀA is cols × cols and symmetric.
struct Problem {
  std::int64_t rows = 512;
  std::int64_t cols = 512;
  std::int64_t seed = 1;               ///< seed of the random elements
  staircase::Elements<double> a = {};  ///< A, row by row: supplied by the user, or random

  staircase::View<const double, 2> matrix() const {
    return {a.data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)}};
  }
};

using Product = staircase::Array<double, 2>;
// [Problem]

/// Number of rows of A in device memory: a multiple of `depth`, the number of rows per step.
inline std::size_t padded_rows(const Problem& problem, std::size_t depth) {
  return (problem.rows + depth - 1) / depth * depth;
}

/// Number of columns of A in device memory: even, so that rows begin at multiples of 16 bytes.
inline std::size_t padded_cols(const Problem& problem) { return problem.cols + problem.cols % 2; }

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line specifies; returns the exit
/// status. The workload and the stage are named after the directories of the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace ata
