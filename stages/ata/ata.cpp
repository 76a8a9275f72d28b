/// \file
/// The product C = AᵀA: its input, data sets and test cases, its work and tolerance.

#include "ata.hpp"

#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <utility>
#include <variant>

namespace ata {
namespace {

/// Fills A with random values, unless the user has provided a matrix.
void prepare(Problem& problem, staircase::Precision) {
  if (!problem.a.empty()) return;
  problem.a.resize(static_cast<std::size_t>(problem.rows) * static_cast<std::size_t>(problem.cols));
  const auto seed = static_cast<std::uint64_t>(problem.seed);
  for (std::size_t i = 0; i < problem.a.size(); ++i)
    problem.a[i] = staircase::random_number(seed, i);
}

void set_matrix(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.rows = static_cast<std::int64_t>(inputs[0].shape[0]);
  problem.cols = static_cast<std::int64_t>(inputs[0].shape[1]);
  auto* values = std::get_if<staircase::Elements<double>>(&inputs[0].values);
  problem.a = values != nullptr ? std::move(*values) : inputs[0].as_double();
}

/// Numbers of elements of A and of C.
double size_of_a(const Problem& problem) {
  return static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
}
double size_of_c(const Problem& problem) {
  return static_cast<double>(problem.cols) * static_cast<double>(problem.cols);
}

/// A multiplication and an addition per row of A, for each element of C on or above the diagonal.
staircase::Work work(const Problem& problem, staircase::Precision) {
  return {.flops = size_of_a(problem) * static_cast<double>(problem.cols + 1),
          .bytes = 8 * (size_of_a(problem) + size_of_c(problem)),
          .matrix = true};
}

/// In any order of summation, the error of c_ij is at most gamma(rows) (|A|ᵀ|A|)_ij, where gamma(n)
/// = n u / (1 - n u) and u = 2⁻⁵³ (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
/// ed., section 3.1). Both sides of the comparison may have this error. By the Cauchy-Schwarz
/// inequality, element (i, j) of |A|ᵀ|A| is at most √(c_ii c_jj).
staircase::Tolerance tolerance(const Problem& problem, staircase::Precision) {
  const double nu = static_cast<double>(problem.rows) * 0x1p-53;
  return {.relative = 2 * nu / (1 - nu), .scale = staircase::Scale::diagonal};
}

/// Number of elements that the kernels of every stage read or write at least once.
double traffic(const Problem& problem) { return size_of_a(problem) + size_of_c(problem); }

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"rows", &Problem::rows, 1, 2147483647, "rows of A"},
                   {"cols", &Problem::cols, 1, 2147483647, "columns of A, rows and columns of C"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"}},
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
                   {"very tall", {.rows = 131072, .cols = 17}},
                   {"wide", {.rows = 3, .cols = 401}},
                   {"another seed", {.rows = 64, .cols = 40, .seed = 12345}}},
    .inputs = {{.rank = 2, .min = -1e140, .max = 1e140, .typical = 1, .meaning = "the matrix A"}},
    .set_inputs = set_matrix,
    .check = [](const Problem&, staircase::Precision) {},
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "kernels",
    .traffic = {{"03_naive_cuda", traffic},
                {"04_tiled", traffic},
                {"05_unrolled", traffic},
                {"06_symmetric", traffic},
                {"07_register_tiled", traffic},
                {"08_double_buffered", traffic},
                {"09_tensor_core", traffic},
                {"10_emulated", traffic},
                {"11_overlapped", traffic},
                {"12_modulus_per_block", traffic},
                {"13_warpgroups", traffic},
                {"baseline_cublas_dgemm", traffic},
                {"baseline_cublas_dsyrk", traffic}},
    // With more rows, sums of products of residues can exceed 32 bits.
    .limits = {{"10_emulated", {{"rows", 131071}}},
               {"12_modulus_per_block", {{"rows", 131071}}},
               {"13_warpgroups", {{"rows", 131071}}}}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace ata
