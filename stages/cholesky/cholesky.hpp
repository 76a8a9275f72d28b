/// \file
/// The factorisation A = L Lᵀ of a symmetric positive definite matrix: the problem that every stage
/// solves.
///
/// Matrices are stored in row-major order. README.md in this directory explains the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>
#include <variant>

namespace cholesky {

/// The kind of matrix.
enum Matrix : std::int64_t {
  well_conditioned,  ///< a diagonal from 1 to 2, and small elements elsewhere
  graded,            ///< like `well_conditioned`, with rows and columns scaled by 1 to 2⁻¹⁹
  hilbert,           ///< 1 / (i + j + 1), and slightly more on the diagonal
  banded             ///< like `well_conditioned`, with only 16 diagonals below the main one
};

// [Problem]
/// The elements of a matrix, row by row, in the precision of the computation.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// A symmetric matrix A of n × n elements. The lower triangle represents A; the stored elements
/// above the diagonal are zero, as in L. The solution is the lower triangular L with A = L Lᵀ and a
/// positive diagonal.
struct Problem {
  std::int64_t n = 1000;
  std::int64_t seed = 1;  ///< seed of the random elements
  std::int64_t matrix = well_conditioned;
  double budget = 0;      ///< bytes of device memory for parts of A; 0: all
  std::int64_t gpus = 0;  ///< number of GPUs; 0: all
  bool is_given = false;  ///< whether a user provided A
  Elements elements_of_a = {};

  template <typename T>
  staircase::View<const T, 2> a() const {
    const auto size = static_cast<std::size_t>(n);
    return {std::get<staircase::Elements<T>>(elements_of_a).data(), {size, size}};
  }
};

/// L of n × n elements, with zeros above the diagonal.
template <typename T>
using Solution = staircase::Array<T, 2>;
// [Problem]

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line selects, and returns the exit
/// status. The directories of the stage's source name the workload and the stage.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace cholesky
