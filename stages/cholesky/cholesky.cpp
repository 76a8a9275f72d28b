/// \file
/// The workload Cholesky: its input, data sets and test cases, its work and tolerance.

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
constexpr std::size_t half_band = 16;  // number of diagonals below the main one in a banded matrix

/// The maximum magnitude of elements outside the diagonal: a power of two, so small that no
/// eigenvalue is close to zero. The eigenvalues of a random symmetric matrix with elements from -1
/// to 1 have magnitudes up to 2 √(n/3) (Wigner 1955), and never more than n.
double size_beside_diagonal(const Problem& problem) {
  auto n = static_cast<double>(problem.n);
  if (problem.matrix == banded) n = std::min(n, 2. * half_band + 1);
  return std::exp2(std::floor(std::log2(n <= 16 ? 1 / n : 0.6 / std::sqrt(n))));
}

/// The scale factor of row and column i: a power of two, so that no product is rounded.
double scale_of(const Problem& problem, std::size_t i) {
  if (problem.matrix != graded) return 1;
  return std::exp2(-std::floor(20.0 * static_cast<double>(i) / static_cast<double>(problem.n)));
}

/// Returns element (i, j), j ≤ i, without the factors that make_random() applies.
double element(const Problem& problem, std::size_t i, std::size_t j) {
  if (problem.matrix == hilbert)
    return static_cast<float>(1 / static_cast<double>(i + j + 1)) + (i == j ? 0x1p-10 : 0);
  if (problem.matrix == banded && i - j > half_band) return 0;
  const double random = staircase::random_multiple(static_cast<std::uint64_t>(problem.seed),
                                                   i * count(problem.n) + j);
  return i == j ? 1 + std::abs(random) : random;
}

/// Generates A. The elements are exact in both precisions, except on the diagonal of a Hilbert
/// matrix.
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

/// Generates A in the precision of the computation, or converts the matrix of the user. Elements
/// above the diagonal become zero, as in L, because a stage may overwrite A with L.
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
                              std::to_string(a[1]) + " columns; both numbers must be equal");
  problem.n = static_cast<std::int64_t>(a[0]);
  problem.elements_of_a = elements_of(std::move(inputs[0]));
  problem.is_given = true;
}
// [input]

// [refused]
constexpr std::int64_t most = 1 << 18;  // maximum number of rows

void check(const Problem& problem, Precision) {
  if (problem.n > most)
    throw staircase::BadInput("n is " + std::to_string(problem.n) + "; it may be at most " +
                              std::to_string(most));
}

/// Returns pivot i in long double: element (i, i) of A minus the squares of the elements of L to
/// its left. These elements are computed again, from the rows above.
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

/// Rejects a matrix A that is not positive definite, and reports its first pivot that is not
/// positive. A stage computes the root of each pivot, so this pivot is at the first diagonal
/// element of L that is NaN or zero. If the pivot there is too large to become zero by rounding,
/// the stage has a fault, and the harness reports this fault elsewhere.
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

/// The work of a factorisation: n³/3 operations, n²/2 elements read and n²/2 elements written.
staircase::Work work(const Problem& problem, Precision precision) {
  const auto n = static_cast<double>(problem.n);
  return {.flops = n * (n + 1) * (2 * n + 1) / 6,
          .bytes = staircase::bytes_of(precision) * n * (n + 1),
          .matrix = true};
}

// [tolerance]
/// The largest error of L, divided by γ (see tolerance), if A has errors of γ |L| |Lᵀ|. The result
/// is the largest element of the product of |L| and the lower triangle of M Mᵀ, with M = |L⁻¹| |L|.
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

/// A lower bound on the smallest eigenvalue of a matrix that is scaled to a diagonal of ones. The
/// bound is the minimum, over all rows, of one minus the sum of the magnitudes of the row's other
/// elements (Gershgorin 1931). The computation takes one pass over the triangle. For most matrices
/// that are not diagonally dominant, the bound is zero.
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

/// A lower bound on the smallest eigenvalue of a scaled, generated matrix. The eigenvalues of the
/// part outside the diagonal are at most 0.7 in magnitude (size_beside_diagonal). The elements of
/// the diagonal lie between one and two, and the scaling divides by them. The Hilbert matrix is
/// positive definite even without the value added to its diagonal.
double least_eigenvalue(const Problem& problem) {
  return problem.matrix == hilbert ? 0x1p-11 : 0.15;
}

/// An upper bound on the magnitudes of the elements of L: row i of L has the length √a_ii.
template <typename T>
double largest_root(staircase::View<const T, 2> a) {
  double largest = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i) largest = std::max(largest, double{a(i, i)});
  return std::sqrt(largest);
}

/// The largest error of L divided by γ. The result is exact for few rows. For more rows, an inverse
/// takes too long, and the function returns a bound. Row i of L has the length √a_ii. With ones on
/// the diagonal of A and the smallest eigenvalue λ, L⁻¹ stretches no vector by more than √(1 / λ).
/// Independent errors of up to γ add up to √2 γ / λ. Errors of eight times this sum have a
/// negligible probability (Hoeffding 1963).
template <typename T>
double error_of(const Problem& problem) {
  constexpr std::int64_t few = 512;  // rows for which the inverse takes little time
  if (problem.n <= few) return exact_error(problem.a<T>());
  return largest_root(problem.a<T>()) * 8 * std::sqrt(2) /
         (problem.is_given ? least_eigenvalue(problem.a<T>()) : least_eigenvalue(problem));
}

/// The tolerance of a comparison of two factors. For any order of the sums, L̂ is the factor of A +
/// ΔA with |ΔA| ≤ γ |L| |Lᵀ| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
/// Theorem 10.3). To first order, ΔA changes L by L times the lower triangle of L⁻¹ ΔA L⁻ᵀ.
/// Rounding errors grow with the square root of their count, except with a probability that is
/// negligible for their λ = 8 (Higham and Mary, "A New Approach to Probabilistic Rounding Error
/// Analysis", SIAM J. Sci. Comput. 41, 2019). Both sides of a comparison may have such an error.
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
/// Number of elements read and written if L is computed column by column. A column is read, divided
/// and written, and read again as a factor. All elements to its right are read and written.
double traffic_of_columns(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return (n * n * n - n) / 3 + 3 * n * (n + 1) / 2;
}

/// Number of elements on and below the diagonal, in the first `columns` columns of `rows` rows.
double below(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(columns * rows - columns * (columns - 1) / 2);
}

/// Number of elements that are read and written in panels. Each group of columns is read and
/// written, and its block of L on the diagonal is read twice. The update after a group reads its
/// factors, and reads and writes the rest of the panel. The update after the last group of a panel
/// covers all columns to the right of the panel.
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

/// Number of elements that are read and written in slabs of 8192 columns. To subtract the products
/// of the previous slab, or of a segment of 1024 columns further left, these columns are read, and
/// the slab is read and written. Then the slab is processed in panels.
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

/// Number of elements that are read (A) or written (L). The factors of products may be in L2.
double traffic_of_tiles(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return n * (n + 1);
}
// [traffic]

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"n", &Problem::n, 1, most, "rows and columns of A"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"},
                   {"matrix", &Problem::matrix, well_conditioned, banded,
                    "0 well-conditioned, 1 graded, 2 like a Hilbert matrix, 3 banded"},
                   {"budget", &Problem::budget, 0, 1e15,
                    "bytes of device memory for parts of A; 0: all free memory"},
                   {"gpus", &Problem::gpus, 0, 64, "number of GPUs to use; 0: all"}},
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
                {"10_left_looking_tiles", traffic_of_tiles},
                {"11_one_launch", traffic_of_tiles},
                {"12_out_of_core", traffic_of_slices},
                {"13_multi_gpu", traffic_of_panels}}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace cholesky
