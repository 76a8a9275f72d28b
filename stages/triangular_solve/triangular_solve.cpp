/// \file
/// The triangular solve: input, data sets, test cases, operation counts and tolerance.

#include "triangular_solve.hpp"

#include <algorithm>
#include <cmath>
#include <harness/elements.hpp>
#include <harness/number.hpp>
#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <limits>
#include <staircase/error.hpp>
#include <string>
#include <utility>
#include <vector>

namespace triangular_solve {
namespace {

using staircase::convert;
using staircase::elements_of;
using staircase::is_empty;
using staircase::Precision;

std::size_t count(std::int64_t number) { return static_cast<std::size_t>(number); }

// [input]
/// The largest power of two that is not larger than x.
double power_of_two_below(double x) { return std::exp2(std::floor(std::log2(x))); }

/// The largest magnitude below the diagonal. In an ill-conditioned matrix, unknowns grow over all
/// rows: for most seeds by a factor between ten and a thousand, unless there are few rows. In other
/// matrices, the magnitudes left of the diagonal add up to less than that of the diagonal element.
double size_below_diagonal(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return power_of_two_below(problem.matrix == ill_conditioned ? std::sqrt(3 * std::min(1.0, 28 / n))
                                                              : 1 / n);
}

/// The factor of equation i: a power of two, which causes no rounding and does not change x.
double scale_of_row(const Problem& problem, std::size_t i) {
  if (problem.matrix != graded) return 1;
  return std::exp2(-std::floor(40.0 * static_cast<double>(i) / static_cast<double>(problem.n)));
}

/// Generates L and right-hand sides whose elements both precisions represent exactly. The elements
/// above the diagonal are zero.
template <typename T>
void make_random(Problem& problem) {
  const auto seed = static_cast<std::uint64_t>(problem.seed);
  const std::size_t n = count(problem.n);
  const double below = size_below_diagonal(problem);
  const std::size_t sides = count(problem.rhs);
  staircase::Elements<T> l(n * n), b(sides * n);
#pragma omp parallel for schedule(static, 16)
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = scale_of_row(problem, i);
    for (std::size_t j = 0; j < i; ++j)
      l[i * n + j] =
          static_cast<T>(scale * below * staircase::random_multiple(seed, n + i * n + j));
    const double pivot = staircase::random_multiple(seed, n + i * n + i);
    l[i * n + i] = static_cast<T>(scale * (pivot + std::copysign(1, pivot)));
    for (std::size_t j = i + 1; j < n; ++j) l[i * n + j] = 0;
    for (std::size_t side = 0; side < sides; ++side) {
      const std::size_t index = side == 0 ? i : (n + side) * n + i;  // after the indices of L
      b[side * n + i] = static_cast<T>(scale * staircase::random_multiple(seed, index));
    }
  }
  problem.elements_of_l = std::move(l);
  problem.elements_of_b = std::move(b);
}

/// Reverses the order of the equations and of the unknowns of Lᵀ x = b, which makes the system
/// lower triangular again. Element (i, j) of the new matrix is element (n - 1 - j, n - 1 - i) of L.
template <typename T>
void reverse(Problem& problem) {
  const std::size_t n = count(problem.n);
  auto& l = std::get<staircase::Elements<T>>(problem.elements_of_l);
  auto& b = std::get<staircase::Elements<T>>(problem.elements_of_b);
#pragma omp parallel for schedule(static, 16)
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; i + j + 1 < n; ++j)
      std::swap(l[i * n + j], l[(n - 1 - j) * n + n - 1 - i]);
  for (auto row = b.begin(); row != b.end(); row += problem.n) std::reverse(row, row + problem.n);
}

/// Generates L and right-hand sides in the precision of the solve, or converts the user's. A unit
/// diagonal is stored as ones, and Lᵀ as a lower triangle, so no stage has to test for these
/// cases.
template <typename T>
void make(Problem& problem) {
  if (is_empty(problem.elements_of_l)) make_random<T>(problem);
  convert<T>(problem.elements_of_l);
  convert<T>(problem.elements_of_b);
  auto& l = std::get<staircase::Elements<T>>(problem.elements_of_l);
  if (problem.unit != 0)
    for (std::size_t i = 0; i < count(problem.n); ++i) l[i * (count(problem.n) + 1)] = 1;
  if (problem.transposed != 0) reverse<T>(problem);
}

void prepare(Problem& problem, Precision precision) {
  precision == Precision::f64 ? make<double>(problem) : make<float>(problem);
}

/// The columns of a matrix, each contiguous in memory.
template <typename Values>
Values columns_of(const Values& matrix, std::size_t columns) {
  Values pieces(matrix.size());
  const std::size_t rows = matrix.size() / columns;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      pieces[column * rows + row] = matrix[row * columns + column];
  return pieces;
}

void set_system(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  const auto &l = inputs[0].shape, &b = inputs[1].shape;
  if (l[0] != l[1])
    throw staircase::BadInput("L has " + std::to_string(l[0]) + " rows and " +
                              std::to_string(l[1]) + " columns; both numbers must be equal");
  if (b[0] != l[0])
    throw staircase::BadInput("b has " + std::to_string(b[0]) +
                              (b.size() > 1 ? " rows" : " elements") + " and L has " +
                              std::to_string(l[0]) + " rows; both numbers must be equal");
  problem.n = static_cast<std::int64_t>(l[0]);
  problem.of_matrix = b.size() > 1;
  problem.rhs = problem.of_matrix ? static_cast<std::int64_t>(b[1]) : 1;
  problem.elements_of_l = elements_of(std::move(inputs[0]));
  problem.elements_of_b = elements_of(std::move(inputs[1]));
  const auto in_pieces = [&](auto& values) { values = columns_of(values, count(problem.rhs)); };
  if (problem.rhs > 1) std::visit(in_pieces, problem.elements_of_b);
}

/// Converts the solution of a stage to the form that users expect: shape (n) for a vector b and
/// (n, rhs) for a matrix, in the user's order of unknowns.
void finish(const Problem& problem, staircase::NpyArray& solution) {
  const auto reverse = [&](auto& values) {
    if (problem.transposed != 0)
      for (auto row = values.begin(); row != values.end(); row += problem.n)
        std::reverse(row, row + problem.n);
    if (problem.rhs > 1) values = columns_of(values, count(problem.n));
  };
  std::visit(reverse, solution.values);
  solution.shape = {count(problem.n)};
  if (problem.rhs > 1 || problem.of_matrix) solution.shape.push_back(count(problem.rhs));
}
// [input]

// [refused]
constexpr std::int64_t most = 1 << 20;  // maximum number of unknowns, and of right-hand sides

/// Rejects problems that are too large, and zeros on the diagonal.
void check(const Problem& problem, Precision precision) {
  if (problem.rhs > most)
    throw staircase::BadInput("b has " + std::to_string(problem.rhs) +
                              " columns; it may have at most " + std::to_string(most));
  if (problem.n > most)
    throw staircase::BadInput("n is " + std::to_string(problem.n) + "; it may be at most " +
                              std::to_string(most));
  if (problem.unit != 0 || is_empty(problem.elements_of_l)) return;
  std::visit(
      [&](const auto& l) {
        for (std::size_t i = 0; i < count(problem.n); ++i) {
          const auto given = static_cast<double>(l[i * (count(problem.n) + 1)]);
          const double pivot = precision == Precision::f64 ? given : static_cast<float>(given);
          if (pivot == 0)
            throw staircase::BadInput("pivot " + std::to_string(i) + " on the diagonal of L is " +
                                      staircase::to_text(given) +
                                      (given == 0 ? "" : ", which is 0 in f32") +
                                      "; no pivot may be 0; with unit=1 all pivots count as 1");
        }
      },
      problem.elements_of_l);
}

/// Solves the equations that begin at row `first`, for as many unknowns as x has elements. Before
/// the call, x contains the right-hand side. Returns the first row in which a partial sum may
/// overflow T, or the row after the last equation if there is none.
template <typename T>
std::size_t substitute(staircase::View<const T, 2> l, std::size_t first,
                       std::vector<long double>& x) {
  constexpr long double largest =
      std::numeric_limits<T>::max() / T{2};  // larger values may round up to infinity
  for (std::size_t i = 0; i < x.size(); ++i) {
    long double size = std::abs(x[i]);
    for (std::size_t j = 0; j < i; ++j) {
      const long double term = l(first + i, first + j) * x[j];
      x[i] -= term;
      size += std::abs(term);
    }
    const long double pivot = l(first + i, first + i);
    x[i] /= pivot;
    if (!(std::max(size, size / std::abs(pivot)) <= largest)) return first + i;
  }
  return first + x.size();
}

constexpr std::size_t rows_of_block = 64;  // for inverses, which stages after 05 use

/// Rejects a system if substitute() overflows T, for a right-hand side or for a block's inverse.
template <typename T>
void refuse_overflow(const Problem& problem) {
  const auto l = problem.l<T>(), b = problem.b<T>();
  const std::size_t n = b.extent(1);
  const auto given = [&](std::size_t i) {  // index of an unknown in the user's order
    return std::to_string(problem.transposed != 0 ? n - 1 - i : i);
  };
  for (std::size_t side = 0; side < b.extent(0); ++side) {
    std::vector<long double> x(b.row(side).data(), b.row(side).data() + n);
    if (const std::size_t row = substitute(l, 0, x); row < n)
      throw staircase::BadInput(
          "unknown " + given(row) +
          " of the solution overflows; the matrix must be better conditioned, or "
          "the right-hand side smaller");
  }
  for (std::size_t column = 0; column < n; ++column) {
    const std::size_t last = std::min(n, column - column % rows_of_block + rows_of_block);
    std::vector<long double> inverse(last - column);
    inverse[0] = 1;
    if (substitute(l, column, inverse) < last)
      throw staircase::BadInput("column " + given(column) +
                                " of the inverses of the blocks of 64 rows overflows; stages from "
                                "06 on multiply by these "
                                "inverses, and stages up to 05 may solve the system");
  }
}

/// Rejects a system whose solution is not finite because an intermediate value overflows. If no
/// value overflows, the stage is wrong, and the harness reports the error.
void check_finite(const Problem& problem, const staircase::NpyArray& solution) {
  const auto is_finite = [](const auto& x) {
    return std::ranges::all_of(
        x, [](auto value) { return std::isfinite(static_cast<double>(value)); });
  };
  if (std::visit(is_finite, solution.values)) return;
  if (std::holds_alternative<staircase::Elements<double>>(problem.elements_of_l))
    refuse_overflow<double>(problem);
  else
    refuse_overflow<float>(problem);
}
// [refused]

/// Number of elements of the triangle.
double size_of_triangle(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return n * (n + 1) / 2;
}

/// Number of elements of all right-hand sides.
double size_of_sides(const Problem& problem) {
  return static_cast<double>(problem.rhs) * static_cast<double>(problem.n);
}

/// Counts one multiplication and one subtraction for each element below the diagonal, and one
/// division for each element on the diagonal.
staircase::Work work(const Problem& problem, Precision precision) {
  return {.flops = static_cast<double>(problem.n) * size_of_sides(problem),
          .bytes = staircase::bytes_of(precision) *
                   (size_of_triangle(problem) + 2 * size_of_sides(problem)),
          .matrix = problem.rhs > 1};
}

// [tolerance]
/// The magnitude of unknowns, and the error that rounding may cause in them.
struct Bound {
  double largest = 0;  ///< largest magnitude |x_i| of an unknown
  double off = 0;      ///< largest element of |L⁻¹| times the residual bound, without γ
};

/// Computes L⁻¹ with n³ / 6 products. The diagonal blocks of L⁻¹ are the inverses of those of L.
template <typename T>
std::vector<double> inverse_of(staircase::View<const T, 2> l) {
  const std::size_t n = l.extent(0);
  std::vector<double> inverse(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &inverse[i * n];
    row[i] = 1;
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = 0; j <= k; ++j)
        row[j] -= static_cast<double>(l(i, k)) * inverse[k * n + j];
    for (std::size_t j = 0; j <= i; ++j) row[j] /= static_cast<double>(l(i, i));
  }
  return inverse;
}

/// The bound that is computed from |L⁻¹| itself, for one right-hand side.
template <typename T>
Bound exact_bound(staircase::View<const T, 2> l, const std::vector<double>& inverse,
                  staircase::View<const T, 1> b) {
  const std::size_t n = l.extent(0);
  std::vector<double> rest(n), x(n), sizes(n), sums(n);
  Bound bound;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = i - i % rows_of_block;
    rest[i] = b(i);
    for (std::size_t j = 0; j < first; ++j) rest[i] -= static_cast<double>(l(i, j)) * x[j];
    for (std::size_t j = first; j <= i; ++j) {
      x[i] += inverse[i * n + j] * rest[j];
      sizes[i] += std::abs(inverse[i * n + j] * rest[j]);
    }
    double off = 0;
    for (std::size_t j = 0; j <= i; ++j) sums[i] += std::abs(l(i, j)) * sizes[j];
    for (std::size_t j = 0; j <= i; ++j) off += std::abs(inverse[i * n + j]) * sums[j];
    bound = {std::max(bound.largest, std::abs(x[i])), std::max(bound.off, off)};
  }
  return bound;
}

/// The bound that is computed from the inverse of the comparison matrix, which has |l_ii| on the
/// diagonal and -|l_ij| below it. Each element of |L⁻¹| and of a block's inverse is at most as
/// large as the same element of this inverse. One pass over the triangle computes the bound, for
/// the right-hand side b and for the largest magnitude of all right-hand sides in each equation.
template <typename T>
Bound quick_bound(staircase::View<const T, 2> l, staircase::View<const T, 1> b,
                  const std::vector<double>& largest) {
  const std::size_t n = l.extent(0);
  std::vector<double> x(n), sizes(n), off(n);
  for (std::size_t i = 0; i < n; ++i) {
    double sum_x = 0, sum_sizes = 0, sum_off = 0;
#pragma omp simd reduction(+ : sum_x, sum_sizes, sum_off)
    for (std::size_t j = 0; j < i; ++j) {
      const double element = l(i, j);
      sum_x += element * x[j];
      sum_sizes += std::abs(element) * sizes[j];
      sum_off += std::abs(element) * off[j];
    }
    const double pivot = l(i, i), right = b(i);
    x[i] = (right - sum_x) / pivot;
    sizes[i] = (largest[i] + sum_sizes) / std::abs(pivot);
    off[i] = (largest[i] + 2 * sum_sizes + sum_off) / std::abs(pivot);
  }
  Bound bound;
  for (std::size_t i = 0; i < n; ++i)
    bound = {std::max(bound.largest, std::abs(x[i])), std::max(bound.off, off[i])};
  return bound;
}

template <typename T>
Bound bound_of(const Problem& problem) {
  constexpr std::int64_t few = 512;  // so few that computing the inverse is fast
  const auto l = problem.l<T>(), b = problem.b<T>();
  const std::size_t n = b.extent(1);
  Bound bound;
  if (problem.n <= few) {
    const std::vector<double> inverse = inverse_of(l);
    for (std::size_t side = 0; side < b.extent(0); ++side) {
      const Bound of_side = exact_bound(l, inverse, b.row(side));
      bound = {std::max(bound.largest, of_side.largest), std::max(bound.off, of_side.off)};
    }
    return bound;
  }
  std::vector<double> largest(n);
  std::size_t side_of_largest = 0;
  double so_far = 0;
  for (std::size_t side = 0; side < b.extent(0); ++side)
    for (std::size_t i = 0; i < n; ++i) {
      const double size = std::abs(b(side, i));
      largest[i] = std::max(largest[i], size);
      if (size > so_far) side_of_largest = side;
      so_far = std::max(so_far, size);
    }
  return quick_bound(l, b.row(side_of_largest), largest);
}

/// Substitution has a residual of at most γ |L| |x|, for any order of its sums (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2nd ed., Theorem 8.5). Inverted blocks have a larger
/// bound, in which |A⁻¹| |c| replaces |x| for a diagonal block A and its updated right-hand side c.
/// The inverse of the comparison matrix times |b| bounds both vectors, for blocks of any size. A
/// residual r changes the solution by L⁻¹ r. The accumulated relative error of n roundings stays
/// below 8 √n u, where u is the unit roundoff, except with negligible probability (Higham and Mary,
/// "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019). The
/// factor 2 allows for errors on both sides of a comparison.
staircase::Tolerance tolerance(const Problem& problem, Precision precision) {
  if (is_empty(problem.elements_of_l)) {
    Problem prepared = problem;
    prepare(prepared, precision);
    return tolerance(prepared, precision);
  }
  const double u = precision == Precision::f64 ? 0x1p-53 : 0x1p-24;
  const auto n = static_cast<double>(problem.n);
  const double gamma = u * (8 + 2 * std::min(n, 8 * std::sqrt(n)));
  const bool is_double = std::holds_alternative<staircase::Elements<double>>(problem.elements_of_l);
  const Bound bound = is_double ? bound_of<double>(problem) : bound_of<float>(problem);
  constexpr double hopeless = 1e6;
  const double floor = std::max(bound.largest, 0x1p-126);
  const double relative = 2 * gamma * bound.off / floor;
  return {.relative = relative < hopeless ? relative : hopeless,
          .floor = std::min(floor, 1e300),
          .scale = staircase::Scale::given};
}
// [tolerance]

// [traffic]
/// Elements moved in column form: a step reads a column, and reads and writes the right-hand side.
double traffic_of_columns(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return size_of_triangle(problem) + n * n + n;
}

constexpr double block = rows_of_block;

/// Elements moved in blocked form: each step reads 64 columns of the triangle, and reads and writes
/// the right-hand side below the block.
double traffic_of_blocks(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return size_of_triangle(problem) + n * n / block + 4 * n;
}

/// Elements moved in blocked form with inverses, which are also written once and read once.
double traffic_of_inverses(const Problem& problem) {
  return traffic_of_blocks(problem) + 2 * block * static_cast<double>(problem.n);
}

/// Elements moved with several right-hand sides: each step moves the remaining rows of all of them.
double traffic_of_sides(const Problem& problem) {
  return size_of_triangle(problem) + 2 * block * static_cast<double>(problem.n) +
         size_of_sides(problem) * (static_cast<double>(problem.n) / block + 4);
}

/// Elements moved by one kernel: triangle, right-hand side and solution. Other data stay on chip.
double traffic_of_rows(const Problem& problem) {
  return size_of_triangle(problem) + 2 * static_cast<double>(problem.n);
}
// [traffic]

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"n", &Problem::n, 1, most, "number of unknowns"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"},
                   {"matrix", &Problem::matrix, well_conditioned, ill_conditioned,
                    "0 well-conditioned, 1 graded, 2 ill-conditioned"},
                   {"unit", &Problem::unit, 0, 1, "1: all diagonal elements of L count as 1"},
                   {"rhs", &Problem::rhs, 1, most, "number of right-hand sides"},
                   {"transposed", &Problem::transposed, 0, 1, "1: solve with the transpose of L"},
                   {"budget", &Problem::budget, 0, 1e15,
                    "bytes of device memory for panels of L; 0: chosen by the stage"}},
    .datasets = {{"small", {.n = 1000}},
                 {"medium", {.n = 4096}},
                 {"large", {.n = 16384}},
                 {"huge", {.n = 65536}},
                 {"tiny", {.n = 37}}},
    .test_cases = {{"smallest", {.n = 1}},
                   {"two", {.n = 2}},
                   {"three", {.n = 3}},
                   {"warp-1", {.n = 31}},
                   {"warp", {.n = 32}},
                   {"warp+1", {.n = 33}},
                   {"half a block", {.n = 64}},
                   {"half a block+1", {.n = 65}},
                   {"block-1", {.n = 127}},
                   {"block", {.n = 128}},
                   {"block+1", {.n = 129}},
                   {"prime", {.n = 211}},
                   {"two blocks", {.n = 256}},
                   {"several blocks", {.n = 401}},
                   {"many blocks", {.n = 701}},
                   {"ones on the diagonal", {.n = 150, .unit = 1}},
                   {"graded", {.n = 170, .matrix = graded}},
                   {"ill-conditioned", {.n = 190, .matrix = ill_conditioned}},
                   {"ill-conditioned, ones", {.n = 131, .matrix = ill_conditioned, .unit = 1}},
                   {"a budget", {.n = 333, .budget = 1e6}},
                   {"a small budget", {.n = 333, .budget = 4e5}},
                   {"transposed", {.n = 140, .matrix = ill_conditioned, .transposed = 1}},
                   {"two right-hand sides", {.n = 65, .rhs = 2}},
                   {"three right-hand sides", {.n = 129, .rhs = 3}},
                   {"a warp of them-1", {.n = 64, .rhs = 31}},
                   {"a warp of them+1", {.n = 211, .rhs = 33}},
                   {"a block of them", {.n = 190, .matrix = ill_conditioned, .rhs = 64}},
                   {"a block of them+1", {.n = 130, .matrix = graded, .rhs = 65}},
                   {"wide", {.n = 5, .rhs = 200}},
                   {"wide, transposed", {.n = 70, .rhs = 129, .transposed = 1}},
                   {"another seed", {.n = 100, .seed = 99}}},
    .inputs = {{.rank = 2,
                .min = -1e15,
                .max = 1e15,
                .typical = 1,
                .meaning = "the matrix L, whose lower triangle is used",
                .extents = {"n", "n"}},
               {.rank = 1,
                .min = -1e15,
                .max = 1e15,
                .typical = 1,
                .meaning = "the right-hand side b, or several as columns",
                .extents = {"n", "rhs"},
                .greatest_rank = 2}},
    .set_inputs = set_system,
    .check = check,
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "kernels",
    .check_solution = check_finite,
    .traffic = {{"04_naive_cuda", traffic_of_columns},
                {"05_blocked_cuda", traffic_of_blocks},
                {"06_inverted_blocks", traffic_of_inverses},
                {"07_flags_in_data", traffic_of_rows},
                {"08_prefetched", traffic_of_rows},
                {"09_out_of_core", traffic_of_rows},
                {"10_multiple_right_hand_sides", traffic_of_sides},
                {"11_register_tiled", traffic_of_rows},
                {"12_two_step_prefetch", traffic_of_rows},
                {"13_recursive_inversion", traffic_of_rows},
                {"14_polling_warp", traffic_of_rows},
                {"15_precomputed_product", traffic_of_rows},
                {"16_batched_loads", traffic_of_rows},
                {"17_asynchronous_copies", traffic_of_rows},
                {"18_distributed_shared_memory", traffic_of_rows},
                {"21_tensor_core_inversion", traffic_of_rows}},
    .limits = {{"04_naive_cuda", {{"rhs", 1}}},
               {"05_blocked_cuda", {{"rhs", 1}}},
               {"06_inverted_blocks", {{"rhs", 1}}},
               {"07_flags_in_data", {{"rhs", 1}}},
               {"08_prefetched", {{"rhs", 1}}},
               {"09_out_of_core", {{"rhs", 1}}},
               {"11_register_tiled", {{"rhs", 1}}},
               {"12_two_step_prefetch", {{"rhs", 1}}},
               {"13_recursive_inversion", {{"rhs", 1}}},
               {"14_polling_warp", {{"rhs", 1}}},
               {"15_precomputed_product", {{"rhs", 1}}},
               {"16_batched_loads", {{"rhs", 1}}},
               {"17_asynchronous_copies", {{"rhs", 1}}},
               {"18_distributed_shared_memory", {{"rhs", 1}}},
               {"21_tensor_core_inversion", {{"rhs", 1}}}},
    .finish = finish};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace triangular_solve
