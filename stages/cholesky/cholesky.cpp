/// \file
/// The factorisation of Cholesky: its input, data sets and test cases, its work and tolerance.

#include "cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <harness/elements.hpp>
#include <harness/number.hpp>
#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <staircase/error.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cholesky {
namespace {

using staircase::convert;
using staircase::elements_of;
using staircase::is_empty;
using staircase::Precision;

std::size_t count(std::int64_t number) { return static_cast<std::size_t>(number); }

// [input]
constexpr std::size_t half_band = 16;  // diagonals of a banded matrix below the main one

/// How large numbers beside the diagonal may be: a power of two, so small that eigenvalues stay
/// away from zero. Those of a random symmetric matrix with elements from -1 to 1 are up to 2 √(n/3)
/// in magnitude (Wigner 1955), and never more than n.
double size_beside_diagonal(const Problem& problem) {
  auto n = static_cast<double>(problem.n);
  if (problem.matrix == banded) n = std::min(n, 2. * half_band + 1);
  return std::exp2(std::floor(std::log2(n <= 16 ? 1 / n : 0.6 / std::sqrt(n))));
}

/// What row and column i are multiplied by: powers of two, which round nothing.
double scale_of(const Problem& problem, std::size_t i) {
  if (problem.matrix != graded) return 1;
  return std::exp2(-std::floor(20.0 * static_cast<double>(i) / static_cast<double>(problem.n)));
}

/// Element (i, j), j ≤ i, before rows and columns are scaled.
double element(const Problem& problem, std::size_t i, std::size_t j) {
  if (problem.matrix == hilbert)
    return static_cast<float>(1 / static_cast<double>(i + j + 1)) + (i == j ? 0x1p-10 : 0);
  if (problem.matrix == banded && i - j > half_band) return 0;
  const double random = staircase::random_multiple(static_cast<std::uint64_t>(problem.seed),
                                                   i * count(problem.n) + j);
  return i == j ? 1 + std::abs(random) : random;
}

/// A of numbers that either precision holds, but for the diagonal of the third kind.
template <typename T>
void make_random(Problem& problem) {
  const std::size_t n = count(problem.n);
  const double beside = problem.matrix == hilbert ? 1 : size_beside_diagonal(problem);
  staircase::Elements<T> a(n * n);
#pragma omp parallel for schedule(static, 16)
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = scale_of(problem, i);
    for (std::size_t j = 0; j <= i; ++j)
      a[i * n + j] = static_cast<T>(scale * scale_of(problem, j) * (i == j ? 1 : beside) *
                                    element(problem, i, j));
    for (std::size_t j = i + 1; j < n; ++j) a[i * n + j] = 0;
  }
  problem.elements_of_a = std::move(a);
}

/// Makes A, unless the user gave it, in the precision that is solved. What is above the diagonal
/// becomes zero, as it is in L, so that a stage may overwrite A.
template <typename T>
void make(Problem& problem) {
  if (is_empty(problem.elements_of_a)) return make_random<T>(problem);
  convert<T>(problem.elements_of_a);
  const std::size_t n = count(problem.n);
  auto& a = std::get<staircase::Elements<T>>(problem.elements_of_a);
#pragma omp parallel for schedule(static, 16)
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) a[i * n + j] = 0;
}

void prepare(Problem& problem, Precision precision) {
  precision == Precision::f64 ? make<double>(problem) : make<float>(problem);
}

void set_matrix(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  const auto& a = inputs[0].shape;
  if (a[0] != a[1])
    throw staircase::BadInput("A has " + std::to_string(a[0]) + " rows and " +
                              std::to_string(a[1]) + " columns; it must have as many of both");
  problem.n = static_cast<std::int64_t>(a[0]);
  problem.elements_of_a = elements_of(std::move(inputs[0]));
}
// [input]

// [refused]
constexpr std::int64_t most = 1 << 18;  // rows

void check(const Problem& problem, Precision) {
  if (problem.n > most)
    throw staircase::BadInput("n is " + std::to_string(problem.n) + "; it may be at most " +
                              std::to_string(most));
}

/// What is left of element (i, i) of A once the columns before it are done.
template <typename T>
double pivot(staircase::View<const T, 2> a, staircase::View<const T, 2> l, std::size_t i) {
  long double rest = a(i, i);
  for (std::size_t k = 0; k < i; ++k) rest -= static_cast<long double>(l(i, k)) * l(i, k);
  return static_cast<double>(rest);
}

/// Refuses an A that is not positive definite, by its first pivot that is not positive. A stage
/// takes roots of what it finds: the first one that is no number, or zero, tells where.
template <typename T>
void check_pivots(staircase::View<const T, 2> a, staircase::View<const T, 2> l) {
  for (std::size_t i = 0; i < a.extent(0); ++i)
    if (!(l(i, i) > 0))
      throw staircase::BadInput(
          "A is not positive definite: pivot " + std::to_string(i) + " is " +
          staircase::to_text(pivot(a, l, i)) + ", and its first " + std::to_string(i + 1) +
          " rows and columns have no factor; all pivots must be greater than 0");
}

template <typename T>
void check_in(const Problem& problem, const staircase::NpyArray& solution) {
  const auto& l = std::get<staircase::Elements<T>>(solution.values);
  check_pivots<T>(problem.a<T>(), {l.data(), {count(problem.n), count(problem.n)}});
}

void check_definite(const Problem& problem, const staircase::NpyArray& solution) {
  if (std::holds_alternative<staircase::Elements<double>>(problem.elements_of_a))
    check_in<double>(problem, solution);
  else
    check_in<float>(problem, solution);
}
// [refused]

/// A third of n³ multiplications and additions, half of a square of numbers in and out.
staircase::Work work(const Problem& problem, Precision precision) {
  const auto n = static_cast<double>(problem.n);
  return {.flops = n * (n + 1) * (2 * n + 1) / 6,
          .bytes = staircase::bytes_of(precision) * n * (n + 1),
          .matrix = true};
}

// [tolerance]
/// The Frobenius norm of M Mᵀ at most, for M = |L⁻¹| |L|: what an error of A of |L| |Lᵀ| makes of
/// L, but for γ. Scaling rows and columns of A leaves it as it is.
template <typename T>
double condition(staircase::View<const T, 2> a) {
  const std::size_t n = a.extent(0);
  std::vector<double> l(n * n), inverse(n * n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(rest) : rest / l[j * n + j];
    }
    inverse[i * n + i] = 1;
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = 0; j <= k; ++j) inverse[i * n + j] -= l[i * n + k] * inverse[k * n + j];
    std::vector<double> row(n);
    for (std::size_t j = 0; j <= i; ++j) inverse[i * n + j] /= l[i * n + i];
    for (std::size_t k = 0; k <= i; ++k)
      for (std::size_t j = 0; j <= k; ++j) row[j] += std::abs(inverse[i * n + k] * l[k * n + j]);
    for (const double m : row) sum += m * m;
  }
  return sum;
}

/// The same where that takes too long: the first two kinds and the last have eigenvalues between
/// 1/8 and 3, the third down to 2⁻¹⁰; of a user's own matrix nothing is known.
double usual_condition(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return n * (problem.matrix == hilbert ? 0x1p12 : 0x1p6);
}

template <typename T>
double condition_of(const Problem& problem) {
  constexpr std::int64_t few = 512;  // so few that the inverse takes no time
  return problem.n <= few ? condition(problem.a<T>()) : usual_condition(problem);
}

/// The largest magnitude of an element of L at most: a row of L has the length √a_ii.
template <typename T>
double largest_root(staircase::View<const T, 2> a) {
  double largest = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i) largest = std::max(largest, double{a(i, i)});
  return std::sqrt(largest);
}

/// Whatever the order of sums, L̂ is the factor of A + ΔA with |ΔA| ≤ γ |L| |Lᵀ| (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2nd ed., Theorem 10.3). To first order that moves L by L
/// times the lower triangle of L⁻¹ ΔA L⁻ᵀ. Errors of roundings grow as the root of their number,
/// but for a probability that is none with λ = 8 (Higham and Mary, "A New Approach to Probabilistic
/// Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019). Both sides of a comparison may be so
/// far off.
staircase::Tolerance tolerance(const Problem& problem, Precision precision) {
  if (is_empty(problem.elements_of_a)) {
    Problem prepared = problem;
    prepare(prepared, precision);
    return tolerance(prepared, precision);
  }
  const double u = precision == Precision::f64 ? 0x1p-53 : 0x1p-24;
  const auto n = static_cast<double>(problem.n);
  const double gamma = u * (8 + 2 * std::min(n, 8 * std::sqrt(n)));
  const bool is_double = std::holds_alternative<staircase::Elements<double>>(problem.elements_of_a);
  const double relative =
      2 * gamma * (is_double ? condition_of<double>(problem) : condition_of<float>(problem));
  const double floor =
      is_double ? largest_root(problem.a<double>()) : largest_root(problem.a<float>());
  constexpr double hopeless = 1e6;
  return {.relative = relative < hopeless ? relative : hopeless,
          .floor = std::max(floor, 0x1p-126),
          .scale = staircase::Scale::given};
}
// [tolerance]

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"n", &Problem::n, 1, most, "rows and columns of A"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random numbers"},
                   {"matrix", &Problem::matrix, well_conditioned, banded,
                    "0 well-conditioned, 1 graded, 2 like Hilbert's, 3 banded"},
                   {"budget", &Problem::budget, 0, 1e15,
                    "bytes of a device that parts of A may take; 0: all"},
                   {"gpus", &Problem::gpus, 0, 64, "so many GPUs take part; 0: all"}},
    .datasets = {{"small", {.n = 1000}},
                 {"medium", {.n = 4096}},
                 {"server", {.n = 8192}},
                 {"large", {.n = 16384}},
                 {"32768", {.n = 32768}},
                 {"huge", {.n = 65536}},
                 {"tiny", {.n = 37}}},
    .test_cases = {{"smallest", {.n = 1}},
                   {"two", {.n = 2}},
                   {"three", {.n = 3}},
                   {"warp-1", {.n = 31}},
                   {"warp", {.n = 32}},
                   {"warp+1", {.n = 33}},
                   {"tile-1", {.n = 63}},
                   {"tile", {.n = 64}},
                   {"tile+1", {.n = 65}},
                   {"two tiles-1", {.n = 127}},
                   {"two tiles", {.n = 128}},
                   {"two tiles+1", {.n = 129}},
                   {"prime", {.n = 211}},
                   {"four tiles", {.n = 256}},
                   {"several tiles", {.n = 401}},
                   {"graded", {.n = 170, .matrix = graded}},
                   {"like Hilbert's", {.n = 150, .matrix = hilbert}},
                   {"banded", {.n = 190, .matrix = banded}},
                   {"a budget", {.n = 333, .budget = 1e6}},
                   {"a small budget", {.n = 333, .budget = 5e5}},
                   {"another seed", {.n = 100, .seed = 99}}},
    .inputs = {{.rank = 2,
                .min = -1e15,
                .max = 1e15,
                .typical = 1,
                .meaning = "the symmetric matrix A, whose lower triangle is used",
                .extents = {"n", "n"}}},
    .set_inputs = set_matrix,
    .check = check,
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "kernels",
    .check_solution = check_definite,
    .traffic = {}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace cholesky
