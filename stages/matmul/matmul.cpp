/// \file
/// The product C = A B: its input, data sets and test cases, its slices, its work and tolerance.

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

/// The numbers of A, of B and of C.
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
/// Random numbers from -1 to 1 that either precision holds: multiples of 2⁻²³.
template <typename T>
staircase::Elements<T> random_elements(std::uint64_t seed, std::size_t first, std::size_t size) {
  staircase::Elements<T> elements(size);
#pragma omp parallel for
  for (std::size_t e = 0; e < size; ++e)
    elements[e] = static_cast<T>(staircase::random_multiple(seed, first + e));
  return elements;
}

/// Makes A and B, unless the user gave them, in the precision that is solved.
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
                              std::to_string(b[0]) + " rows; A B takes as many of both");
  problem.l = static_cast<std::int64_t>(a[0]);
  problem.m = static_cast<std::int64_t>(a[1]);
  problem.n = static_cast<std::int64_t>(b[1]);
  problem.elements_of_a = elements_of(std::move(inputs[0]));
  problem.elements_of_b = elements_of(std::move(inputs[1]));
}
// [input]

constexpr std::int64_t most = 1 << 20;  // rows or columns of a matrix

/// Refuses files whose matrices are too long.
void check(const Problem& problem, Precision) {
  for (const auto& [name, size] : {std::pair("l", problem.l), {"m", problem.m}, {"n", problem.n}})
    if (size > most)
      throw staircase::BadInput(std::string(name) + " is " + std::to_string(size) +
                                "; it may be at most " + std::to_string(most));
}

// [slices]
/// Bytes of a thread's slice on a processor, where nobody says how many: its part of a third-level
/// cache.
constexpr double cache = 1 << 22;

/// The size of `asked` slices of a whole; where none are asked for, one element.
std::size_t size_of(std::size_t whole, std::size_t asked) {
  return asked == 0 ? 1 : (whole + asked - 1) / asked;
}

/// C in slices of a size; there are none behind its last row and column.
Slices in_slices(const Problem& problem, std::size_t rows, std::size_t cols) {
  const std::size_t l = count(problem.l), n = count(problem.n);
  return {l, n, rows, cols, (l + rows - 1) / rows, (n + cols - 1) / cols};
}

/// Elements that a slice takes: its rows of A, its columns of B, and itself.
double elements_of_slice(const Problem& problem, std::size_t rows, std::size_t cols) {
  const auto r = static_cast<double>(rows), c = static_cast<double>(cols);
  return (r + c) * static_cast<double>(problem.m) + r * c;
}

/// The columns of the largest slice of so many rows that takes so many elements at most, or 0.
std::size_t columns_for(const Problem& problem, std::size_t rows, double elements) {
  const auto r = static_cast<double>(rows), m = static_cast<double>(problem.m);
  const double cols = std::floor((elements - r * m) / (m + r));
  if (cols < 1) return 0;
  return cols < static_cast<double>(problem.n) ? static_cast<std::size_t>(cols) : count(problem.n);
}

/// Bytes that panels of A and B, the longest on its way, and slices of C take.
double bytes_of_panels(const Panels& panels, std::size_t bytes_of_element, const Line& line) {
  const auto& [slices, kept, coming] = panels;
  return static_cast<double>(line.bytes * (slices.rows * kept + slices.cols * coming)) +
         static_cast<double>(line.bytes_on_the_way * std::max(slices.rows, slices.cols)) +
         static_cast<double>(bytes_of_element * line.slices * slices.rows * slices.cols);
}

/// Lets as many panels stay as a budget holds, beside the ones that have to.
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

/// Bytes that slices may take, if the smallest one takes so many.
double budget_of(const Problem& problem, double smallest) {
  if (problem.budget != 0) return problem.budget;
  const staircase::Device& device = staircase::this_device();
  if (device.free_memory == nullptr) return std::max(cache, smallest);
  return 7. / 8 * device.free_memory();  // which comes in pages
}
// [slices]

/// A product and an addition for each element of C and each k.
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

/// The largest sum of squares of a column of B, by strips of columns.
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

/// The largest that (|A| |B|)_ij may be, by Cauchy and Schwarz.
double largest_sum(const Problem& problem) {
  if (is_empty(problem.elements_of_a)) return static_cast<double>(problem.m);  // of random numbers
  return std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        return std::sqrt(largest_row<T>(problem.a<T>()) * largest_column<T>(problem.b<T>()));
      },
      problem.elements_of_a);
}

/// How far apart two sums of m products may be, whatever their order, as a part of the largest
/// (|A| |B|)_ij.
///
/// A product of f32 numbers goes through at most m roundings, and two more if its factors were
/// rounded from f64. In the model of Higham and Mary ("A New Approach to Probabilistic Rounding
/// Error Analysis", SIAM J. Sci. Comput. 41, 2019) the errors are independent and have mean zero;
/// then n of them come to exp(λ √n u + n u² / (1 - u)) - 1 at most, but for a probability of
/// 2 exp(-λ² (1 - u)² / 2). Here λ is such that in all l m n products together that happens once in
/// 10¹⁵ problems. Both sides may be so far off. Numbers too small to be normal lose up to half of
/// the least one each; the floor is so large that the bound allows for that, too.
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

/// The numbers that the kernels of any stage read and write, each once.
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
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random numbers"},
                   {"budget", &Problem::budget, 0, 1e15,
                    "bytes of the device that slices may take; 0: what it has"},
                   {"Sl", &Problem::sl, 0, most, "slices along rows of C; 0: as few as fit"},
                   {"Sn", &Problem::sn, 0, most, "slices along columns of C; 0: as few as fit"},
                   {"gpus", &Problem::gpus, 0, 16, "GPUs that slices are dealt to; 0: all"}},
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
                {"06_four_buffers", traffic},
                {"07_streams", traffic},
                {"08_resident_panels", traffic},
                {"09_library_kernel", traffic},
                {"10_split_tf32", traffic},
                {"11_several_gpus", traffic},
                {"12_transposed", traffic},
                {"13_two_at_a_time", traffic},
                {"14_handed_on", traffic},
                {"yardstick_cublas_gemm", traffic},
                {"yardstick_cublasxt_gemm", traffic}}};

}  // namespace

Slices slices_of(const Problem& problem, std::size_t buffers, std::size_t bytes_of_element,
                 std::size_t least) {
  const std::size_t l = count(problem.l), n = count(problem.n);
  const std::size_t asked_l = count(problem.sl), asked_n = count(problem.sn);
  const auto bytes = static_cast<double>(buffers * bytes_of_element);  // of an element in all sets
  const std::size_t fewest_rows = size_of(l, asked_l), fewest_cols = size_of(n, asked_n);
  const double smallest = bytes * elements_of_slice(problem, fewest_rows, fewest_cols);
  const double budget = budget_of(problem, smallest);

  const std::size_t most_slices = (asked_l == 0 ? l : asked_l) * (asked_n == 0 ? n : asked_n);
  const std::size_t wanted = std::min(least, most_slices);

  std::optional<Slices> best;
  double moved_by_best = 0;
  for (std::size_t sl = asked_l == 0 ? 1 : asked_l; sl <= (asked_l == 0 ? l : asked_l); ++sl) {
    const std::size_t rows = size_of(l, sl);
    const std::size_t fitting = columns_for(problem, rows, budget / bytes);
    if (fitting < fewest_cols) continue;
    const std::size_t fewest = std::max(size_of(n, fitting), std::min(n, size_of(wanted, sl)));
    const std::size_t sn = asked_n == 0 ? fewest : asked_n;
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
      problem.budget != 0 ? "the budget is" : "the device has room for", budget, fewest_rows,
      fewest_cols, smallest, buffers == 1 ? "" : fmt::format(" in {} sets of buffers", buffers)));
}

Panels panels_of(const Problem& problem, std::size_t bytes_of_element, const Line& line) {
  constexpr std::size_t side = 2048;
  const auto parts = [](std::int64_t whole, std::int64_t asked, std::size_t size) {
    return asked != 0 ? count(asked) : (count(whole) + size - 1) / size;
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
    if (cols > side && panels.kept < slices.sl) {  // large ones are for where all of A stays
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
                      problem.budget != 0 ? "the budget is" : "the device has room for", budget,
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
