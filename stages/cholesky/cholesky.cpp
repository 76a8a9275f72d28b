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
  problem.is_given = true;
}
// [input]

// [refused]
constexpr std::int64_t most = 1 << 18;  // rows

void check(const Problem& problem, Precision) {
  if (problem.n > most)
    throw staircase::BadInput("n is " + std::to_string(problem.n) + "; it may be at most " +
                              std::to_string(most));
}

/// What is left of element (i, i) of A once the columns before it are done, which have a factor.
template <typename T>
long double pivot(staircase::View<const T, 2> a, staircase::View<const T, 2> l, std::size_t i) {
  std::vector<long double> row(a.row(i).data(), a.row(i).data() + i);
  long double rest = a(i, i);
  for (std::size_t j = 0; j < i; ++j) {
    for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * l(j, k);
    row[j] /= l(j, j);
    rest -= row[j] * row[j];
  }
  return rest;
}

/// Refuses an A that is not positive definite, by its first pivot that is not positive. A stage
/// takes roots of what it finds: the first one that is no number, or zero, tells where. If so much
/// is left there that no rounding makes it zero, it is the stage's own doing, of which the harness
/// speaks.
template <typename T>
void check_pivots(staircase::View<const T, 2> a, staircase::View<const T, 2> l) {
  std::size_t i = 0;
  while (i < a.extent(0) && l(i, i) > 0) ++i;
  if (i == a.extent(0)) return;
  const auto rest = static_cast<double>(pivot(a, l, i));
  if (rest > a(i, i) / 8) return;
  throw staircase::BadInput("A is not positive definite: pivot " + std::to_string(i) + " is " +
                            (rest > 0 ? "0 within rounding errors" : staircase::to_text(rest)) +
                            ", and the first " + std::to_string(i + 1) +
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
/// The largest error of L that errors of A of γ |L| |Lᵀ| make, but for γ: an element of |L| times
/// the lower triangle of M Mᵀ, with M = |L⁻¹| |L|.
template <typename T>
double exact_error(staircase::View<const T, 2> a) {
  const std::size_t n = a.extent(0);
  std::vector<double> l(n * n), inverse(n * n), m(n * n), lower(n * n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(rest) : rest / l[j * n + j];
    }
    inverse[i * n + i] = 1;
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = 0; j <= k; ++j) inverse[i * n + j] -= l[i * n + k] * inverse[k * n + j];
    for (std::size_t j = 0; j <= i; ++j) inverse[i * n + j] /= l[i * n + i];
    for (std::size_t k = 0; k <= i; ++k)
      for (std::size_t j = 0; j <= k; ++j)
        m[i * n + j] += std::abs(inverse[i * n + k] * l[k * n + j]);
    for (std::size_t j = 0; j <= i; ++j)
      for (std::size_t k = 0; k <= j; ++k) lower[i * n + j] += m[i * n + k] * m[j * n + k];
    std::vector<double> errors(n);
    for (std::size_t k = 0; k <= i; ++k)
      for (std::size_t j = 0; j <= k; ++j) errors[j] += std::abs(l[i * n + k]) * lower[k * n + j];
    for (const double error : errors) largest = error <= largest ? largest : error;
  }
  return largest;
}

/// The least eigenvalue at least of a given matrix, once factors of rows and columns make its
/// diagonal one: what the rows have left of it when the numbers beside it are taken off (Gershgorin
/// 1931). One pass over the triangle, which says nothing of most matrices that do not dominate.
template <typename T>
double least_eigenvalue(staircase::View<const T, 2> a) {
  const std::size_t n = a.extent(0);
  std::vector<double> factor(n), left(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    factor[i] = 1 / std::sqrt(static_cast<double>(a(i, i)));
    for (std::size_t j = 0; j < i; ++j) {
      const double beside = std::abs(factor[i] * factor[j] * static_cast<double>(a(i, j)));
      left[i] -= beside;
      left[j] -= beside;
    }
  }
  return std::max(0.0, *std::ranges::min_element(left));
}

/// The same of a matrix made here. Those of the numbers beside the diagonal alone are 0.7 in
/// magnitude at most (size_beside_diagonal), the diagonal is at least one, and at most two, which
/// the factors take away; Hilbert's matrix is positive definite without what is added to it.
double least_eigenvalue(const Problem& problem) {
  return problem.matrix == hilbert ? 0x1p-11 : 0.15;
}

/// The largest magnitude of an element of L at most: a row of L has the length √a_ii.
template <typename T>
double largest_root(staircase::View<const T, 2> a) {
  double largest = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i) largest = std::max(largest, double{a(i, i)});
  return std::sqrt(largest);
}

/// The same where an inverse takes too long. A row of L has the length √a_ii; with ones on the
/// diagonal of A, L⁻¹ stretches no vector by more than the root of 1 / λ, for the least eigenvalue
/// λ, and errors of up to γ that know nothing of each other add up to √2 γ / λ, eight times as much
/// for a probability that is none (Hoeffding 1963).
template <typename T>
double error_of(const Problem& problem) {
  constexpr std::int64_t few = 512;  // so few that the inverse takes no time
  if (problem.n <= few) return exact_error(problem.a<T>());
  return largest_root(problem.a<T>()) * 8 * std::sqrt(2) /
         (problem.is_given ? least_eigenvalue(problem.a<T>()) : least_eigenvalue(problem));
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
  const double error = is_double ? error_of<double>(problem) : error_of<float>(problem);
  const double root =
      is_double ? largest_root(problem.a<double>()) : largest_root(problem.a<float>());
  const double floor = std::max(root, 0x1p-126);
  const double relative = 2 * gamma * error / floor;
  constexpr double hopeless = 1e6;
  return {.relative = relative < hopeless ? relative : hopeless,
          .floor = floor,
          .scale = staircase::Scale::given};
}
// [tolerance]

// [traffic]
/// Columns: each is read, divided and written, read again, and read and written all to its right.
double traffic_of_columns(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return (n * n * n - n) / 3 + 3 * n * (n + 1) / 2;
}

/// Numbers from the diagonal down in so many columns of a matrix with more rows.
double below(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(columns * rows - columns * (columns - 1) / 2);
}

/// Panels: a block of columns is read and written, the block on the diagonal twice read; what it
/// takes its products off, the rest of the panel or after the last block all to its right, is read
/// and written, and the factors are read.
double traffic_of_panels(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t panel = 256, block = 64;
  double numbers = 0;
  for (std::int64_t k = 0; k < columns; k += block) {
    const std::int64_t left = rows - k - block, of_panel = panel - k % panel - block;
    numbers += 2 * below(rows - k, std::min(block, rows - k));
    if (left <= 0) break;
    numbers += below(block, block);
    const bool is_last = of_panel == 0;
    const std::int64_t to_the_right = columns - k - block;
    if (to_the_right <= 0) break;
    numbers += static_cast<double>((is_last ? panel : block) * left) +
               2 * below(left, is_last ? to_the_right : std::min(of_panel, to_the_right));
  }
  return numbers;
}

double traffic_of_panels(const Problem& problem) { return traffic_of_panels(problem.n, problem.n); }

/// Slices of 8192 columns: each is read and written once for the slice before, once for each piece
/// of 1024 columns before that, whose numbers are read, and then as panels are.
double traffic_of_slices(const Problem& problem) {
  constexpr std::int64_t slice = 8192, piece = 1024;
  double numbers = 0;
  for (std::int64_t top = 0; top < problem.n; top += slice) {
    const std::int64_t rows = problem.n - top, columns = std::min(slice, rows);
    const std::int64_t times = top == 0 ? 0 : 1 + (top - slice) / piece;
    numbers += traffic_of_panels(rows, columns) + 2 * times * below(rows, columns) +
               static_cast<double>(top * rows);
  }
  return numbers;
}

/// A is read and L is written; what products read stays in the second-level cache, or may.
double traffic_of_tiles(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return n * (n + 1);
}
// [traffic]

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
                 {"tiles", {.n = 384}},
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
                   {"a small budget", {.n = 333, .budget = 7e5}},
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
    .traffic = {{"05_naive_cuda", traffic_of_columns},
                {"06_panel_and_update", traffic_of_panels},
                {"07_tiled_update", traffic_of_panels},
                {"08_tensor_cores", traffic_of_panels},
                {"09_look_ahead", traffic_of_panels},
                {"10_gathered", traffic_of_tiles},
                {"11_one_launch", traffic_of_tiles},
                {"12_sliced", traffic_of_slices},
                {"13_several_gpus", traffic_of_panels}}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace cholesky
