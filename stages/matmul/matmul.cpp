/// \file
/// The product C = A B: input, data sets and test cases, slices, work and tolerance.

#include "matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <harness/elements.hpp>
#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <optional>
#include <staircase/error.hpp>
#include <string>
#include <utility>
#include <vector>

namespace matmul {
namespace {

using staircase::convert;
using staircase::elements_of;
using staircase::is_empty;
using staircase::NotEnoughMemory;
using staircase::Precision;

std::size_t count(std::int64_t number) { return static_cast<std::size_t>(number); }

/// The numbers of elements of A, of B and of C.
double size_of_a(const Problem& problem) {
  return static_cast<double>(problem.l) * static_cast<double>(problem.m);
}
double size_of_b(const Problem& problem) {
  return static_cast<double>(problem.m) * static_cast<double>(problem.n);
}
double size_of_c(const Problem& problem) {
  return static_cast<double>(problem.l) * static_cast<double>(problem.n);
}

// [input]
/// Returns random elements from -1 to 1 that both precisions represent exactly (multiples of 2⁻²³).
template <typename T>
staircase::Elements<T> random_elements(std::uint64_t seed, std::size_t first, std::size_t size) {
  staircase::Elements<T> elements(size);
#pragma omp parallel for
  for (std::size_t e = 0; e < size; ++e)
    elements[e] = static_cast<T>(staircase::random_multiple(seed, first + e));
  return elements;
}

/// Generates A and B in the precision of the computation, or converts the user's matrices.
template <typename T>
void make(Problem& problem) {
  const auto seed = static_cast<std::uint64_t>(problem.seed);
  const std::size_t of_a = count(problem.l) * count(problem.m);
  const std::size_t of_b = count(problem.m) * count(problem.n);
  if (is_empty(problem.elements_of_a)) {
    problem.elements_of_a = random_elements<T>(seed, 0, of_a);
    problem.elements_of_b = random_elements<T>(seed, of_a, of_b);
  }
  convert<T>(problem.elements_of_a);
  convert<T>(problem.elements_of_b);
}

void prepare(Problem& problem, Precision precision) {
  precision == Precision::f64 ? make<double>(problem) : make<float>(problem);
}

void set_matrices(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  const auto &a = inputs[0].shape, &b = inputs[1].shape;
  if (a[1] != b[0])
    throw staircase::BadInput("A has " + std::to_string(a[1]) + " columns and B has " +
                              std::to_string(b[0]) + " rows; both numbers must be equal");
  problem.l = static_cast<std::int64_t>(a[0]);
  problem.m = static_cast<std::int64_t>(a[1]);
  problem.n = static_cast<std::int64_t>(b[1]);
  problem.elements_of_a = elements_of(std::move(inputs[0]));
  problem.elements_of_b = elements_of(std::move(inputs[1]));
}
// [input]

constexpr std::int64_t most = 1 << 20;  // maximum number of rows or columns of a matrix

/// Rejects files whose matrices have too many rows or columns.
void check(const Problem& problem, Precision) {
  for (const auto& [name, size] : {std::pair("l", problem.l), {"m", problem.m}, {"n", problem.n}})
    if (size > most)
      throw staircase::BadInput(std::string(name) + " is " + std::to_string(size) +
                                "; it may be at most " + std::to_string(most));
}

// [slices]
/// Default number of bytes for a thread's slice on a CPU: the thread's share of an L3 cache.
constexpr double cache = 1 << 22;

/// Returns the length of each of `requested` parts of `whole` elements; 1 if `requested` is 0.
std::size_t size_of(std::size_t whole, std::size_t requested) {
  return requested == 0 ? 1 : (whole + requested - 1) / requested;
}

/// Divides C into slices of a given size; no slice begins beyond the last row or column of C.
Slices in_slices(const Problem& problem, std::size_t rows, std::size_t cols) {
  const std::size_t l = count(problem.l), n = count(problem.n);
  return {l, n, rows, cols, (l + rows - 1) / rows, (n + cols - 1) / cols};
}

/// Number of elements that a slice needs: its rows of A, its columns of B, and its elements of C.
double elements_of_slice(const Problem& problem, std::size_t rows, std::size_t cols) {
  const auto r = static_cast<double>(rows), c = static_cast<double>(cols);
  return (r + c) * static_cast<double>(problem.m) + r * c;
}

/// The maximum width of a slice of `rows` rows that needs at most `elements` elements; 0 if none.
std::size_t columns_for(const Problem& problem, std::size_t rows, double elements) {
  const auto r = static_cast<double>(rows), m = static_cast<double>(problem.m);
  const double cols = std::floor((elements - r * m) / (m + r));
  if (cols < 1) return 0;
  return cols < static_cast<double>(problem.n) ? static_cast<std::size_t>(cols) : count(problem.n);
}

/// Bytes of the panels of A and B, the buffer for the longest panel, and the slices of C.
double bytes_of_panels(const Panels& panels, std::size_t bytes_of_element, const Line& line) {
  const auto& [slices, kept, coming] = panels;
  return static_cast<double>(line.bytes * (slices.rows * kept + slices.cols * coming)) +
         static_cast<double>(line.bytes_in_transit * std::max(slices.rows, slices.cols)) +
         static_cast<double>(bytes_of_element * line.slices * slices.rows * slices.cols);
}

/// Adds as many panels to the necessary panels as fit into the budget.
void fill(Panels& panels, double budget, std::size_t bytes_of_element, const Line& line) {
  const Slices& slices = panels.slices;
  const auto fitting = [&](std::size_t lines, std::size_t most_of_them) {
    const double left = budget - bytes_of_panels(panels, bytes_of_element, line);
    const auto bytes = static_cast<double>(lines * line.bytes);
    return static_cast<std::size_t>(
        std::min(std::floor(left / bytes), static_cast<double>(most_of_them)));
  };
  panels.kept += fitting(slices.rows, slices.sl - panels.kept);
  const std::size_t groups = (slices.sl + panels.kept - 1) / panels.kept;
  if (groups == 1) return;
  panels.kept = (slices.sl + groups - 1) / groups;
  panels.coming +=
      fitting(slices.cols, slices.sn - std::min<std::size_t>(slices.sn, panels.coming));
}

/// Returns the number of bytes for slices; on a CPU, if no budget is given, at least `smallest`.
double budget_of(const Problem& problem, double smallest) {
  if (problem.budget != 0) return problem.budget;
  const staircase::Device& device = staircase::this_device();
  if (device.free_memory == nullptr) return std::max(cache, smallest);
  return 7. / 8 * device.free_memory();  // allocations are rounded up to pages
}
// [slices]

/// One multiplication and one addition for each of the m products of each element of C.
staircase::Work work(const Problem& problem, Precision precision) {
  const double bytes = staircase::bytes_of(precision);
  return {.flops = 2 * size_of_c(problem) * static_cast<double>(problem.m),
          .bytes = bytes * (size_of_a(problem) + size_of_b(problem) + size_of_c(problem)),
          .matrix = true};
}

// [tolerance]
/// The largest sum of squares of a row of A.
template <typename T>
double largest_row(staircase::View<const T, 2> a) {
  double largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (std::size_t i = 0; i < a.extent(0); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < a.extent(1); ++k) sum += static_cast<double>(a(i, k)) * a(i, k);
    largest = std::max(largest, sum);
  }
  return largest;
}

/// The largest sum of squares of a column of B; the columns are processed in strips.
template <typename T>
double largest_column(staircase::View<const T, 2> b) {
  constexpr std::size_t strip = 256;
  double largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (std::size_t j0 = 0; j0 < b.extent(1); j0 += strip) {
    const std::size_t cols = std::min(strip, b.extent(1) - j0);
    double sums[strip] = {};
    for (std::size_t k = 0; k < b.extent(0); ++k)
      for (std::size_t j = 0; j < cols; ++j)
        sums[j] += static_cast<double>(b(k, j0 + j)) * b(k, j0 + j);
    largest = std::max(largest, *std::max_element(sums, sums + cols));
  }
  return largest;
}

/// An upper bound on all (|A| |B|)_ij, according to the Cauchy-Schwarz inequality.
double largest_sum(const Problem& problem) {
  if (is_empty(problem.elements_of_a)) return static_cast<double>(problem.m);  // random elements
  return std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        return std::sqrt(largest_row<T>(problem.a<T>()) * largest_column<T>(problem.b<T>()));
      },
      problem.elements_of_a);
}

/// The largest permitted difference between two sums of m products in any order, relative to the
/// largest (|A| |B|)_ij.
///
/// A product in f32 undergoes at most m roundings, and two more if its factors were rounded from
/// f64. In the model of Higham and Mary ("A New Approach to Probabilistic Rounding Error Analysis",
/// SIAM J. Sci. Comput. 41, 2019), the errors are independent and have mean zero. Then r errors add
/// up to at most exp(λ √r u + r u² / (1 - u)) - 1, except with a probability of 2 exp(-λ² (1 - u)²
/// / 2). We choose λ such that, on average, one in 10¹⁵ problems has an exception among its l m n
/// products. Both sides of the comparison may have such an error. Each subnormal result loses up to
/// half of the smallest subnormal; `floor` is large enough to include these losses.
staircase::Tolerance tolerance(const Problem& problem, Precision precision) {
  const bool is_double = precision == Precision::f64;
  const double u = is_double ? 0x1p-53 : 0x1p-24;
  const double least = is_double ? 0x1p-1022 : 0x1p-126;
  const auto m = static_cast<double>(problem.m);
  const double lambda = std::sqrt(2 * std::log(2e15 * size_of_c(problem) * m)) / (1 - u);
  const double roundings = m + 2;
  return {
      .relative = 2 * std::expm1(lambda * std::sqrt(roundings) * u + roundings * u * u / (1 - u)),
      .floor = std::max(largest_sum(problem), m * least),
      .scale = staircase::Scale::given};
}
// [tolerance]

/// Number of elements that the kernels of any stage read and write, each once.
double traffic(const Problem& problem) {
  return size_of_a(problem) + size_of_b(problem) + size_of_c(problem);
}

staircase::InputFormat matrix(const char* meaning, std::vector<std::string> extents) {
  return {.rank = 2,
          .min = -1e15,
          .max = 1e15,
          .typical = 1,
          .meaning = meaning,
          .extents = std::move(extents)};
}

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"l", &Problem::l, 1, most, "rows of A and of C"},
                   {"m", &Problem::m, 1, most, "columns of A, rows of B"},
                   {"n", &Problem::n, 1, most, "columns of B and of C"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"},
                   {"budget", &Problem::budget, 0, 1e15,
                    "bytes of device memory for slices; 0: all free memory"},
                   {"Sl", &Problem::sl, 0, most, "slices along the rows of C; 0: as few as fit"},
                   {"Sn", &Problem::sn, 0, most, "slices along the columns of C; 0: as few as fit"},
                   {"gpus", &Problem::gpus, 0, 16, "number of GPUs to use; 0: all"}},
    .datasets = {{"example", {.l = 1024, .m = 2000, .n = 777}},
                 {"published", {.l = 5000, .m = 5000, .n = 5000}},
                 {"medium", {.l = 8192, .m = 8192, .n = 8192}},
                 {"large", {.l = 24576, .m = 24576, .n = 24576}},
                 {"huge", {.l = 49152, .m = 49152, .n = 49152}},
                 {"tiny", {.l = 37, .m = 29, .n = 23}}},
    .test_cases = {{"smallest", {.l = 1, .m = 1, .n = 1}},
                   {"dot product", {.l = 1, .m = 301, .n = 1}},
                   {"outer product", {.l = 41, .m = 1, .n = 67}},
                   {"one row", {.l = 1, .m = 33, .n = 129}},
                   {"one column", {.l = 129, .m = 33, .n = 1}},
                   {"tile-1", {.l = 31, .m = 31, .n = 31}},
                   {"tile", {.l = 32, .m = 32, .n = 32}},
                   {"tile+1", {.l = 33, .m = 33, .n = 33}},
                   {"half a tile", {.l = 48, .m = 16, .n = 80}},
                   {"several tiles", {.l = 130, .m = 65, .n = 100}},
                   {"primes", {.l = 101, .m = 127, .n = 89}},
                   {"deep", {.l = 7, .m = 2003, .n = 11}},
                   {"tall", {.l = 503, .m = 5, .n = 3}},
                   {"wide", {.l = 3, .m = 7, .n = 601}},
                   {"another seed", {.l = 40, .m = 50, .n = 60, .seed = 12345}},
                   {"a small budget", {.l = 101, .m = 37, .n = 89, .budget = 30000}},
                   {"a tiny budget", {.l = 13, .m = 37, .n = 17, .budget = 6000}},
                   {"slices", {.l = 50, .m = 20, .n = 70, .sl = 3, .sn = 5}},
                   {"slices of rows", {.l = 37, .m = 29, .n = 23, .sl = 4, .sn = 1}},
                   {"slices of columns", {.l = 37, .m = 29, .n = 23, .sl = 1, .sn = 7}},
                   {"one slice per element", {.l = 5, .m = 4, .n = 3, .sl = 5, .sn = 3}},
                   {"more slices than rows", {.l = 5, .m = 6, .n = 9, .sl = 7, .sn = 4}},
                   {"an odd number of slices",
                    {.l = 64, .m = 96, .n = 33, .budget = 200000, .sl = 1, .sn = 3}}},
    .inputs = {matrix("the matrix A", {"l", "m"}), matrix("the matrix B", {"m", "n"})},
    .set_inputs = set_matrices,
    .check = check,
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "multiply",
    .traffic = {{"04_cuda_slices", traffic},
                {"05_pinned", traffic},
                {"06_double_buffered", traffic},
                {"07_streams", traffic},
                {"08_resident_panels", traffic},
                {"09_library_kernel", traffic},
                {"10_split_tf32", traffic},
                {"11_multi_gpu", traffic},
                {"12_transposed", traffic},
                {"13_overlapped_kernels", traffic},
                {"14_all_gather", traffic},
                {"baseline_cublas_gemm", traffic},
                {"baseline_cublasxt_gemm", traffic}}};

}  // namespace

Slices slices_of(const Problem& problem, std::size_t buffers, std::size_t bytes_of_element,
                 std::size_t least) {
  const std::size_t l = count(problem.l), n = count(problem.n);
  const std::size_t requested_l = count(problem.sl), requested_n = count(problem.sn);
  const auto bytes = static_cast<double>(buffers * bytes_of_element);  // per element, in all sets
  const std::size_t fewest_rows = size_of(l, requested_l), fewest_cols = size_of(n, requested_n);
  const double smallest = bytes * elements_of_slice(problem, fewest_rows, fewest_cols);
  const double budget = budget_of(problem, smallest);

  const std::size_t most_slices =
      (requested_l == 0 ? l : requested_l) * (requested_n == 0 ? n : requested_n);
  const std::size_t wanted = std::min(least, most_slices);

  std::optional<Slices> best;
  double moved_by_best = 0;
  for (std::size_t sl = requested_l == 0 ? 1 : requested_l;
       sl <= (requested_l == 0 ? l : requested_l); ++sl) {
    const std::size_t rows = size_of(l, sl);
    const std::size_t fitting = columns_for(problem, rows, budget / bytes);
    if (fitting < fewest_cols) continue;
    const std::size_t fewest = std::max(size_of(n, fitting), std::min(n, size_of(wanted, sl)));
    const std::size_t sn = requested_n == 0 ? fewest : requested_n;
    if (sl * sn < wanted) continue;
    const double moved =
        static_cast<double>(sn) * size_of_a(problem) + static_cast<double>(sl) * size_of_b(problem);
    if (best && moved >= moved_by_best) continue;
    best = in_slices(problem, rows, size_of(n, sn));
    moved_by_best = moved;
  }
  if (best) return *best;
  throw NotEnoughMemory(fmt::format(
      "{} {:.0f} bytes; a slice of {} × {} takes {:.0f} bytes{}",
      problem.budget != 0 ? "the budget is" : "the free device memory is", budget, fewest_rows,
      fewest_cols, smallest, buffers == 1 ? "" : fmt::format(" in {} sets of buffers", buffers)));
}

Panels panels_of(const Problem& problem, std::size_t bytes_of_element, const Line& line) {
  constexpr std::size_t side = 2048;
  const auto parts = [](std::int64_t whole, std::int64_t requested, std::size_t size) {
    return requested != 0 ? count(requested) : (count(whole) + size - 1) / size;
  };
  std::size_t rows = side, cols = line.most_columns;
  while (true) {
    const Slices slices =
        in_slices(problem, size_of(count(problem.l), parts(problem.l, problem.sl, rows)),
                  size_of(count(problem.n), parts(problem.n, problem.sn, cols)));
    Panels panels{slices, 1, std::min<std::size_t>(slices.sn, 2)};
    const double smallest = bytes_of_panels(panels, bytes_of_element, line);
    const double budget = budget_of(problem, smallest);
    if (smallest <= budget) fill(panels, budget, bytes_of_element, line);
    if (cols > side && panels.kept < slices.sl) {  // wide panels require that all of A stays
      cols = side;
      continue;
    }
    if (smallest <= budget) return panels;
    const bool rows_remain = problem.sl == 0 && slices.rows > 1;
    const bool cols_remain = problem.sn == 0 && slices.cols > 1;
    if (!rows_remain && !cols_remain)
      throw NotEnoughMemory(
          fmt::format("{} {:.0f} bytes; a slice of {} × {} takes {:.0f} bytes with a panel of A "
                      "and {} of B",
                      problem.budget != 0 ? "the budget is" : "the free device memory is", budget,
                      slices.rows, slices.cols, smallest, slices.sn == 1 ? "one" : "two"));
    if (rows_remain && (slices.rows >= slices.cols || !cols_remain))
      rows = (slices.rows + 1) / 2;
    else
      cols = (slices.cols + 1) / 2;
  }
}

Panels panels_of(const Problem& problem, std::size_t bytes_of_element) {
  return panels_of(problem, bytes_of_element, {.bytes = count(problem.m) * bytes_of_element});
}

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace matmul
