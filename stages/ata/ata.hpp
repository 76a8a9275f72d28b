/// \file
/// The product C = AᵀA: the problem, its data sets and test cases, its work and tolerance.
///
/// Sums of products of the columns of a matrix: the normal equations of least squares, covariance
/// matrices, Gram matrices. README.md beside this file has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/workload.hpp>
#include <utility>
#include <variant>
#include <vector>

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

/// A number from -1 to 1 that follows from a seed and an index: SplitMix64 (Steele, Lea and Flood,
/// "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014), one step from state to number.
inline double random_number(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed << 40) + (index + 1) * 0x9E37'79B9'7F4A'7C15;
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  z ^= z >> 31;
  return static_cast<double>(static_cast<std::int64_t>(z) >> 11) * 0x1p-52;
}

/// Fills A with random numbers, unless the user gave one.
inline void prepare(Problem& problem) {
  if (!problem.a.empty()) return;
  problem.a.resize(static_cast<std::size_t>(problem.rows) * static_cast<std::size_t>(problem.cols));
  const auto seed = static_cast<std::uint64_t>(problem.seed);
  for (std::size_t i = 0; i < problem.a.size(); ++i) problem.a[i] = random_number(seed, i);
}

inline void set_matrix(Problem& problem, staircase::NpyArray input) {
  problem.rows = static_cast<std::int64_t>(input.shape[0]);
  problem.cols = static_cast<std::int64_t>(input.shape[1]);
  auto* values = std::get_if<staircase::Elements<double>>(&input.values);
  problem.a = values != nullptr ? std::move(*values) : input.as_double();
}

/// The numbers of A and of C.
inline double size_of_a(const Problem& problem) {
  return static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
}
inline double size_of_c(const Problem& problem) {
  return static_cast<double>(problem.cols) * static_cast<double>(problem.cols);
}

/// A multiplication and an addition a row, for each element on the diagonal or above.
inline staircase::Work work(const Problem& problem, staircase::Precision) {
  return {.flops = size_of_a(problem) * static_cast<double>(problem.cols + 1),
          .bytes = 8 * (size_of_a(problem) + size_of_c(problem)),
          .matrix = true};
}

/// Whatever the order of its sum, an element is at most gamma(rows) (|A|ᵀ|A|) off, where gamma(n) =
/// n u / (1 - n u) and u = 2⁻⁵³ (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
/// section 3.1). Both sides of the comparison may be. By Cauchy and Schwarz, element (i, j) of
/// |A|ᵀ|A| is at most √(c_ii c_jj), which the comparison knows.
inline staircase::Tolerance tolerance(const Problem& problem, staircase::Precision) {
  const double nu = static_cast<double>(problem.rows) * 0x1p-53;
  return {.relative = 2 * nu / (1 - nu), .scale = staircase::Scale::diagonal};
}

inline const staircase::Workload<Problem, 2> workload{
    .parameters = {{"rows", &Problem::rows, 1, 2147483647, "rows of A"},
                   {"cols", &Problem::cols, 1, 2147483647, "columns of A, rows and columns of C"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random numbers"}},
    .datasets = {{"small", {.rows = 512, .cols = 512}},
                 {"medium", {.rows = 2000, .cols = 2000}},
                 {"large", {.rows = 8000, .cols = 8000}},
                 {"4000", {.rows = 4000, .cols = 4000}},
                 {"16000", {.rows = 16000, .cols = 16000}},
                 {"18000", {.rows = 18000, .cols = 18000}},
                 {"tall", {.rows = 200000, .cols = 1000}},
                 {"wide", {.rows = 1000, .cols = 20000}},
                 {"tiny", {.rows = 37, .cols = 29}}},
    .test_cases = {{"smallest", {.rows = 1, .cols = 1}},
                   {"one row", {.rows = 1, .cols = 77}},
                   {"one column", {.rows = 1000, .cols = 1}},
                   {"two columns", {.rows = 5, .cols = 2}},
                   {"tile-1", {.rows = 15, .cols = 15}},
                   {"tile", {.rows = 16, .cols = 16}},
                   {"tile+1", {.rows = 17, .cols = 17}},
                   {"warp-1", {.rows = 31, .cols = 31}},
                   {"warp", {.rows = 32, .cols = 32}},
                   {"warp+1", {.rows = 33, .cols = 33}},
                   {"primes", {.rows = 101, .cols = 127}},
                   {"large tile-1", {.rows = 47, .cols = 127}},
                   {"large tile", {.rows = 48, .cols = 128}},
                   {"large tile+1", {.rows = 49, .cols = 129}},
                   {"several tiles", {.rows = 130, .cols = 300}},
                   {"tall", {.rows = 2003, .cols = 19}},
                   {"very tall", {.rows = 200000, .cols = 17}},
                   {"wide", {.rows = 3, .cols = 401}},
                   {"another seed", {.rows = 64, .cols = 40, .seed = 12345}}},
    .input = {.rank = 2, .min = -1e140, .max = 1e140, .typical = 1, .meaning = "the matrix A"},
    .set_input = set_matrix,
    .check = [](const Problem&, staircase::Precision) {},
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "kernels"};

}  // namespace ata
