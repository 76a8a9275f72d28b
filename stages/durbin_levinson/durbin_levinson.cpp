/// \file
/// The Yule-Walker equations: models, data sets, test cases, operation counts and tolerance.

#include "durbin_levinson.hpp"

#include <algorithm>
#include <cmath>
#include <harness/number.hpp>
#include <harness/workload.hpp>
#include <numbers>
#include <staircase/error.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace durbin_levinson {
namespace {

// [models]
/// Computes r_k = r_(k-1) (k - 1 + d) / (k - d) (Hosking, Biometrika 68, 1981). The accumulated
/// rounding error of long double is usually smaller than the error of the conversion to double.
void arfima_autocorrelations(double d, staircase::Elements<double>& r) {
  long double value = 1;
  for (std::size_t k = 1; k < r.size(); ++k) {
    value *= (static_cast<long double>(k - 1) + d) / (static_cast<long double>(k) - d);
    r[k] = static_cast<double>(value);
  }
}

/// Computes half the second difference of |k|^2H, H = d + 1/2 (Mandelbrot and van Ness, "Fractional
/// Brownian motions", SIAM Review 10, 1968), in a form with little cancellation.
void gaussian_noise_autocorrelations(double d, staircase::Elements<double>& r) {
  const double power = 2 * d + 1;
  for (std::size_t k = 1; k < r.size(); ++k) {
    const auto x = static_cast<double>(k);
    r[k] = std::pow(x, power) / 2 *
           (std::expm1(power * std::log1p(1 / x)) + std::expm1(power * std::log1p(-1 / x)));
  }
}

constexpr double cosine_floor = 0.05;  // power of the white noise
/// Fills r with the autocorrelations of three damped cosines, as in a voice, plus white noise.
void cosine_autocorrelations(staircase::Elements<double>& r) {
  for (std::size_t k = 1; k < r.size(); ++k) {
    const auto x = static_cast<double>(k);
    r[k] = 0.5 * std::exp(-0.001 * x) * std::cos(0.2 * x) +
           0.3 * std::exp(-0.01 * x) * std::cos(0.7 * x) +
           0.15 * std::exp(-0.1 * x) * std::cos(1.9 * x);
  }
}

/// Fills r with the autocorrelations of the model, unless the user has supplied some.
void prepare(Problem& problem, staircase::Precision) {
  if (!problem.r.empty()) return;
  problem.r.assign(static_cast<std::size_t>(problem.n) + 1, 1.0);
  if (problem.model == arfima) arfima_autocorrelations(problem.d, problem.r);
  if (problem.model == gaussian_noise) gaussian_noise_autocorrelations(problem.d, problem.r);
  if (problem.model == cosines) cosine_autocorrelations(problem.r);
}
// [models]

/// Stores the user's autocovariances r_0 ... r_n, divided by r_0.
void set_autocovariances(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.r = std::move(inputs[0]).as_double();
  problem.n = static_cast<std::int64_t>(problem.r.size()) - 1;
  problem.model = given;
  const double variance = problem.r[0];
  if (!(variance > 0))
    throw staircase::BadInput("r_0, element 0 of the input, is " + staircase::to_text(variance) +
                              "; a variance must be greater than 0");
  for (double& r : problem.r) r /= variance;
}

// [positive definite]
/// Recomputes reflection coefficient `before` + 1 of a stage that divided by zero, infinity or NaN.
/// The exact coefficient is at least 1 in magnitude; a smaller result becomes 1 or -1.
template <typename T>
double next_alpha(const Problem& problem, const T* alpha, std::size_t before) {
  std::vector<double> y, longer;
  double beta = 1, sum = problem.r[before + 1];
  for (std::size_t k = 0; k < before; ++k) {
    longer.assign(k + 1, alpha[k]);
    for (std::size_t i = 0; i < k; ++i) longer[i] = y[i] + alpha[k] * y[k - 1 - i];
    y.swap(longer);
    beta *= 1 - static_cast<double>(alpha[k]) * alpha[k];
  }
  for (std::size_t i = 0; i < before; ++i) sum += problem.r[before - i] * y[i];
  return std::copysign(std::max(std::abs(sum / beta), 1.0), -sum);
}

/// Rejects a matrix that is not positive definite. Let alpha_k be the first reflection coefficient
/// that is not less than 1 in magnitude. Then the leading submatrices of orders 1 ... k are
/// positive definite, and the leading submatrix of order k + 1 is not. All later results of a stage
/// are meaningless.
void check_positive_definite(const Problem& problem, const staircase::NpyArray& solution) {
  const auto n = static_cast<std::size_t>(problem.n);
  std::visit(
      [&](const auto& values) {
        const auto* const alpha = values.data() + n;
        for (std::size_t k = 1; k <= n; ++k) {
          const auto found = static_cast<double>(alpha[k - 1]);
          if (std::abs(found) < 1) continue;
          const double value = std::isfinite(found) ? found : next_alpha(problem, alpha, k - 1);
          throw staircase::BadInput(
              "the autocorrelations are not positive definite: reflection coefficient " +
              std::to_string(k) + " of " + std::to_string(n) + " is " + staircase::to_text(value) +
              "; its magnitude must be less than 1");
        }
      },
      solution.values);
}
// [positive definite]

/// Step k = 1 ... n - 1 takes 2 k operations for the sum, 2 k for y, and 4 for alpha and beta.
staircase::Work work(const Problem& problem, staircase::Precision precision) {
  const auto n = static_cast<double>(problem.n);
  return {.flops = 2 * (n - 1) * (n + 2), .bytes = staircase::bytes_of(precision) * (3 * n + 1)};
}

// [tolerance]
/// The limit of the least eigenvalue of T for large n: the minimum of the spectral density over the
/// frequencies that n values can distinguish from 0. For the user's autocorrelations, the limit is
/// unknown, and the function returns a guess: the inverse of the largest eigenvalue.
double least_eigenvalue(const Problem& problem, double largest) {
  if (problem.model == given) return 1 / largest;
  if (problem.model == cosines) return cosine_floor;
  const double d = problem.d, pi = std::numbers::pi;
  const double frequency = d < 0 ? pi / static_cast<double>(problem.n) : pi;
  if (problem.model == gaussian_noise && d < 0)
    return std::sin(pi * (d + 0.5)) * std::tgamma(2 * d + 2) * std::pow(frequency, -2 * d);
  // With d > 0, fractional Gaussian noise has nearly the same minimum as ARFIMA(0, d, 0).
  const double gamma = std::tgamma(1 - d);
  return gamma * gamma / std::tgamma(1 - 2 * d) * std::pow(2 * std::sin(frequency / 2), -2 * d);
}

/// The errors of y and alpha are the errors of the steps times the condition number of T. Elements
/// that decay keep their relative accuracy. If y oscillates around zero, an element may vanish, but
/// its error does not. README.md in this directory lists the errors of all stages.
staircase::Tolerance tolerance(const Problem& problem, staircase::Precision precision) {
  Problem prepared = problem;
  prepare(prepared, precision);
  double largest = 1;  // no eigenvalue is larger than the largest sum of magnitudes in a row
  for (std::size_t k = 1; k + 1 < prepared.r.size(); ++k) largest += 2 * std::abs(prepared.r[k]);
  const double condition = largest / least_eigenvalue(problem, largest);
  const double eps = precision == staircase::Precision::f64 ? 0x1p-53 : 0x1p-24;
  const bool swings = problem.model == cosines || problem.model == given;
  return {.relative = 100 * eps * std::max(condition, 100.0), .floor = swings ? 1e-2 : 1e-3};
}
// [tolerance]

// [traffic]
/// Number of elements moved with two kernels per step. Step k reads the row twice and r once, and
/// writes the row. It also moves 9 more values: a sum, alpha, beta and the end of the row.
double traffic_of_steps(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return 2 * n * (n - 1) + 9 * n;
}

/// Number of elements moved with rows on the chip: r is read once, y and alpha are written once.
double traffic_of_cluster(const Problem& problem) { return 3 * static_cast<double>(problem.n) + 1; }

/// Number of elements moved: a launch of 64 steps reads all pairs twice and writes them once.
double traffic_of_launches(const Problem& problem) {
  constexpr double steps = 64, read = 2.0 * 128 / 64, written = 2;
  const auto n = static_cast<double>(problem.n);
  return 7 * n + (read + written) * n * std::ceil(n / steps);
}
// [traffic]

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"n", &Problem::n, 1, 2147483647, "order of the system: number of unknowns"},
                   {"d", &Problem::d, -0.4999, 0.4999, "memory parameter of models 0 and 1"},
                   {"model", &Problem::model, arfima, cosines,
                    "0 ARFIMA(0, d, 0), 1 fractional Gaussian noise, 2 damped cosines"}},
    .datasets = {{"small", {.n = 1000}},
                 {"100", {.n = 100}},
                 {"medium", {.n = 10000}},
                 {"large", {.n = 15000}},
                 {"65536", {.n = 65536}},
                 {"131072", {.n = 131072}},
                 {"gaussian_noise", {.n = 15000, .model = gaussian_noise}},
                 {"cosines", {.n = 15000, .model = cosines}},
                 {"tiny", {.n = 37}}},
    .test_cases = {{"smallest", {.n = 1}},
                   {"two", {.n = 2}},
                   {"three", {.n = 3}},
                   {"warp-1", {.n = 31}},
                   {"warp", {.n = 32}},
                   {"warp+1", {.n = 33}},
                   {"100", {.n = 100}},
                   {"block-1", {.n = 255}},
                   {"block", {.n = 256}},
                   {"block+1", {.n = 257}},
                   {"prime", {.n = 509}},
                   {"1000", {.n = 1000}},
                   {"block of 1024 + 1", {.n = 1025}},
                   {"no memory", {.n = 130, .d = 0}},
                   {"negative memory", {.n = 200, .d = -0.4}},
                   {"long memory", {.n = 300, .d = 0.45}},
                   {"Gaussian noise", {.n = 211, .model = gaussian_noise}},
                   {"rough Gaussian noise", {.n = 150, .d = -0.4, .model = gaussian_noise}},
                   {"cosines", {.n = 401, .model = cosines}}},
    .inputs = {{.rank = 1,
                .min = -1e300,
                .max = 1e300,
                .typical = 0.01,
                .meaning = "autocovariances r_0 ... r_n",
                .least_elements = 2,
                .first = 1}},
    .set_inputs = set_autocovariances,
    .check = [](const Problem&, staircase::Precision) {},
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .check_solution = check_positive_definite,
    .traffic = {{"07_naive_cuda", traffic_of_steps},
                {"08_warp_reduction", traffic_of_steps},
                {"09_in_place_pairs", traffic_of_steps},
                {"10_graph", traffic_of_steps},
                {"11_persistent_kernel", traffic_of_cluster},
                {"12_schur", traffic_of_cluster},
                {"13_blocked_schur", traffic_of_launches},
                {"14_paired_steps", traffic_of_launches}},
    // At most 16 blocks of 256 threads, each of which stores 32 elements of a row.
    .limits = {{"11_persistent_kernel", {{"n", 131072}}},
               {"12_schur", {{"n", 131072}}},
               {"15_persistent_blocks", {{"n", 131072}}}}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace durbin_levinson
