/// \file
/// The workload: input, data sets, test cases, operation counts and tolerance.

#include "durbin_levinson_batched.hpp"

#include <cmath>
#include <harness/number.hpp>
#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <span>
#include <staircase/error.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace durbin_levinson_batched {

// [random]
/// alpha_k of a system: a random value between -1 / (k + 1) and 1 / (k + 1).
double reflection_coefficient(const Problem& problem, std::size_t system, std::size_t k) {
  const std::size_t index = system * static_cast<std::size_t>(problem.n) + k - 1;
  return staircase::random_number(static_cast<std::uint64_t>(problem.seed), index) /
         static_cast<double>(k + 1);
}
// [random]

namespace {

// [step up]
/// Computes the autocorrelations r_0 ... r_n of given reflection coefficients alpha_1 ... alpha_n
/// by Durbin's recursion, solved for r_(k+1) instead of alpha_(k+1). y is scratch space of n
/// elements.
void step_up(std::span<const double> alpha, std::span<double> r, std::span<double> y) {
  r[0] = 1;
  double beta = 1;
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    double sum = alpha[k] * beta;
    for (std::size_t i = 0; i < k; ++i) sum += r[k - i] * y[i];
    r[k + 1] = -sum;
    for (std::size_t i = 0; 2 * i < k; ++i) {
      const double low = y[i], high = y[k - 1 - i];
      y[i] = low + alpha[k] * high;
      y[k - 1 - i] = high + alpha[k] * low;
    }
    y[k] = alpha[k];
    beta *= 1 - alpha[k] * alpha[k];
  }
}

/// Generates autocorrelations from random reflection coefficients, unless the user supplied some.
void prepare(Problem& problem, staircase::Precision) {
  if (!problem.r.empty()) return;
  const auto systems = static_cast<std::size_t>(problem.systems);
  const auto n = static_cast<std::size_t>(problem.n);
  problem.r.resize(systems * (n + 1));
  std::vector<double> alpha(n), y(n);
  for (std::size_t s = 0; s < systems; ++s) {
    for (std::size_t k = 1; k <= n; ++k) alpha[k - 1] = reflection_coefficient(problem, s, k);
    step_up(alpha, std::span(problem.r).subspan(s * (n + 1), n + 1), y);
  }
}
// [step up]

/// Copies the user's autocovariances, one system per row, and divides each row by its first
/// element.
void set_autocovariances(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.systems = static_cast<std::int64_t>(inputs[0].shape[0]);
  problem.n = static_cast<std::int64_t>(inputs[0].shape[1]) - 1;
  problem.r = std::move(inputs[0]).as_double();
  const auto rows = problem.autocorrelations();
  for (std::size_t s = 0; s < rows.extent(0); ++s) {
    const double variance = rows(s, 0);
    if (!(variance > 0))
      throw staircase::BadInput("r_0 of system " + std::to_string(s) + " is " +
                                staircase::to_text(variance) +
                                "; a variance must be greater than 0");
    for (std::size_t k = 0; k < rows.extent(1); ++k) rows(s, k) /= variance;
  }
}

// [positive definite]
/// Rejects a system that is not positive definite. Such a system has a reflection coefficient that
/// is not less than 1 in magnitude. All values that a stage computes after this coefficient are
/// meaningless.
void check_positive_definite(const Problem& problem, const staircase::NpyArray& solution) {
  const auto systems = static_cast<std::size_t>(problem.systems);
  const auto n = static_cast<std::size_t>(problem.n);
  std::visit(
      [&](const auto& values) {
        for (std::size_t s = 0; s < systems; ++s)
          for (std::size_t k = 1; k <= n; ++k) {
            const auto alpha = static_cast<double>(values[(2 * s + 1) * n + k - 1]);
            if (!(std::abs(alpha) < 1))
              throw staircase::BadInput("system " + std::to_string(s) +
                                        " is not positive definite: its reflection coefficient " +
                                        std::to_string(k) + " of " + std::to_string(n) + " is " +
                                        staircase::to_text(alpha) +
                                        "; its magnitude must be less than 1");
          }
      },
      solution.values);
}
// [positive definite]

/// Numbers of elements of r and of the solution.
double size_of_r(const Problem& problem) {
  return static_cast<double>(problem.systems) * (static_cast<double>(problem.n) + 1);
}
double size_of_solution(const Problem& problem) {
  return static_cast<double>(problem.systems) * 2 * static_cast<double>(problem.n);
}

/// Step k = 1 ... n - 1 takes 2 k operations for the sum, 2 k for y, and 4 for alpha and beta.
staircase::Work work(const Problem& problem, staircase::Precision precision) {
  const auto n = static_cast<double>(problem.n);
  return {
      .flops = static_cast<double>(problem.systems) * 2 * (n - 1) * (n + 2),
      .bytes = staircase::bytes_of(precision) * (size_of_r(problem) + size_of_solution(problem))};
}

/// The errors of y and alpha are the rounding errors of the steps times the condition number of T.
/// This number is small because the reflection coefficients decay as 1 / k. Observed errors are at
/// most a quarter of this tolerance.
staircase::Tolerance tolerance(const Problem&, staircase::Precision precision) {
  const double eps = precision == staircase::Precision::f64 ? 0x1p-53 : 0x1p-24;
  return {.relative = 500 * eps, .floor = 0.1};
}

/// The number of elements that the kernels of every stage read or write at least once.
double traffic(const Problem& problem) { return size_of_r(problem) + size_of_solution(problem); }

const staircase::Workload<Problem, 3> workload{
    .parameters = {{"systems", &Problem::systems, 1, 2147483647, "number of systems"},
                   {"n", &Problem::n, 1, 2147483647, "order of each system: number of unknowns"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the reflection coefficients"}},
    .datasets = {{"small", {.systems = 4096, .n = 16}},
                 {"medium", {.systems = 65536, .n = 64}},
                 {"large", {.systems = 262144, .n = 64}},
                 {"long", {.systems = 16384, .n = 256}},
                 {"tiny", {.systems = 45, .n = 37}}},
    .test_cases = {{"smallest", {.systems = 1, .n = 1}},
                   {"one system", {.systems = 1, .n = 40}},
                   {"one coefficient", {.systems = 77, .n = 1}},
                   {"two coefficients", {.systems = 70, .n = 2}},
                   {"three coefficients", {.systems = 34, .n = 3}},
                   {"warp-1", {.systems = 31, .n = 31}},
                   {"warp", {.systems = 32, .n = 32}},
                   {"warp+1", {.systems = 33, .n = 33}},
                   {"primes", {.systems = 101, .n = 53}},
                   {"small primes", {.systems = 257, .n = 13}},
                   {"flush-1", {.systems = 40, .n = 15}},
                   {"flush", {.systems = 40, .n = 16}},
                   {"flush+1", {.systems = 40, .n = 17}},
                   {"registers-1", {.systems = 37, .n = 63}},
                   {"registers", {.systems = 65, .n = 64}},
                   {"registers+1", {.systems = 35, .n = 65}},
                   {"long", {.systems = 5, .n = 256}},
                   {"long prime", {.systems = 3, .n = 509}},
                   {"longer", {.systems = 2, .n = 2049}},
                   {"beyond shared memory", {.systems = 1, .n = 15000}},
                   {"many systems", {.systems = 5000, .n = 5}},
                   {"teams of warps", {.systems = 17100, .n = 3}},
                   {"another seed", {.systems = 64, .n = 40, .seed = 12345}}},
    .inputs = {{.rank = 2,
                .min = -1e140,
                .max = 1e140,
                .typical = 0.01,
                .meaning = "autocovariances r_0 ... r_n, one system per row",
                .least_elements = 2,
                .first = 1}},
    .set_inputs = set_autocovariances,
    .check = [](const Problem&, staircase::Precision) {},
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "kernels",
    .check_solution = check_positive_definite,
    .traffic = {{"02_naive_cuda", traffic},
                {"03_register_resident", traffic},
                {"04_system_per_block", traffic},
                {"05_system_per_subwarp", traffic}},
    // Above order 512, the step down of the baselines loses too many digits.
    .limits = {{"03_register_resident", {{"n", 64}}},
               {"05_system_per_subwarp", {{"n", 1024}}},
               {"baseline_cusolver_potrf_batched", {{"n", 512}}},
               {"baseline_openblas_posv", {{"n", 512}}}}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace durbin_levinson_batched
