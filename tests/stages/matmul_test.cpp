/// \file
/// Checks matrix products against independent results: matmul_test PROGRAM [GTEST
/// OPTIONS].
///
/// If a program has slices, the tests also check that the slices respect a budget. A program has
/// slices if it refuses a budget that is too small.

#include "../../stages/matmul/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <numeric>
#include <random>
#include <set>
#include <staircase/error.hpp>

#include "support.hpp"

namespace staircase::test {
namespace {

using Arguments = std::vector<std::string>;

std::string program;

ProcessResult run(Arguments arguments, const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), program);
  return run_process(arguments, options);
}

/// The precisions that the program offers.
const Arguments& precisions() {
  static const Arguments precisions =
      nlohmann::json::parse(run({"--describe"}).out).at("precisions");
  return precisions;
}

bool offers(const std::string& precision) {
  return std::find(precisions().begin(), precisions().end(), precision) != precisions().end();
}

/// A matrix whose elements are the values of a function.
template <typename T, typename Element>
NpyArray matrix(std::size_t rows, std::size_t cols, Element element) {
  Elements<T> values(rows * cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) values[i * cols + j] = static_cast<T>(element(i, j));
  return {{rows, cols}, values};
}

/// The product of two matrices, computed by the program.
NpyArray product(const NpyArray& a, const NpyArray& b, Arguments arguments = {},
                 const ProcessOptions& options = {}) {
  const Directory directory;
  write_npy(directory / "a.npy", a);
  write_npy(directory / "b.npy", b);
  const Arguments files{"--input",           directory / "a.npy", "--input",
                        directory / "b.npy", "--output",          directory / "c.npy"};
  arguments.insert(arguments.end(), files.begin(), files.end());
  const ProcessResult result = run(arguments, options);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? read_npy(directory / "c.npy") : NpyArray{};
}

struct Shape {
  std::size_t l, m, n;
};

void PrintTo(const Shape& shape, std::ostream* stream) {
  *stream << shape.l << " × " << shape.m << " × " << shape.n;
}

/// Shapes of all kinds, one of them random.
std::vector<Shape> shapes(std::mt19937_64& random) {
  return {{1, 1, 1},    {1, 97, 1},
          {53, 1, 37},  {31, 32, 33},
          {64, 64, 64}, {97, 89, 3},
          {2, 61, 83},  {1 + random() % 90, 1 + random() % 200, 1 + random() % 90}};
}

/// A budget for small slices, so that there are many; programs without slices ignore this option.
Arguments many_slices(const Shape& shape) {
  const std::size_t four_rows = 4 * 8 * (4 * shape.m + 4 * shape.m + 16);
  return {"--set", fmt::format("budget={}", four_rows)};
}

// --- The product

/// The number of roundings of a product beyond the m roundings of a sum. If factors are split into
/// two tf32 numbers, the splitting loses 2 u per factor, and the omitted product of the low parts
/// loses 4 u. The three products are added with truncation, which loses 2 u each.
double more_roundings() { return program.find("split_tf32") == std::string::npos ? 0 : 14; }

/// Checks each element against the standard bound of a sum of m rounded products: m u / (1 - m u)
/// times the sum of the products' magnitudes. Both sums are computed here in long double.
template <typename T>
void expect_sums(const NpyArray& c, const Elements<T>& a, const Elements<T>& b, const Shape& shape,
                 double u) {
  const auto sums = c.as_double();
  const auto [l, m, n] = shape;
  ASSERT_EQ(c.shape, (std::vector{l, n}));
  const double mu = (static_cast<double>(m) + more_roundings()) * u, gamma = mu / (1 - mu);
  for (std::size_t i = 0; i < l; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      long double sum = 0, magnitudes = 0;
      for (std::size_t k = 0; k < m; ++k) {
        const long double term = static_cast<long double>(a[i * m + k]) * b[k * n + j];
        sum += term;
        magnitudes += std::abs(term);
      }
      ASSERT_LE(std::abs(sums[i * n + j] - sum), gamma * magnitudes * (1 + 1e-9))
          << i << ", " << j << " of " << testing::PrintToString(shape);
    }
}

template <typename T>
void expect_products(const std::string& precision, double u) {
  if (!offers(precision)) return;
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> value;
  const auto any = [&](std::size_t, std::size_t) { return value(random); };
  for (const Shape& shape : shapes(random)) {
    const NpyArray a = matrix<T>(shape.l, shape.m, any), b = matrix<T>(shape.m, shape.n, any);
    for (Arguments arguments : {Arguments{}, many_slices(shape)}) {
      arguments.insert(arguments.end(), {"--precision", precision});
      expect_sums(product(a, b, arguments), std::get<Elements<T>>(a.values),
                  std::get<Elements<T>>(b.values), shape, u);
    }
  }
}

TEST(Product, IsASumOfRoundedProductsInF64) { expect_products<double>("f64", 0x1p-53); }

TEST(Product, IsASumOfRoundedProductsInF32) { expect_products<float>("f32", 0x1p-24); }

/// Checks long sums, and shapes with more tiles than a stage processes at once. The elements are
/// positive, so the terms of a sum do not cancel.
template <typename T>
void expect_large_products(const std::string& precision, double u) {
  if (!offers(precision)) return;
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value;
  const auto any = [&](std::size_t, std::size_t) { return value(random); };
  for (const Shape& shape : {Shape{70, 1100, 9},
                             {130, 4200, 5},
                             {127, 33, 255},
                             {128, 64, 256},
                             {129, 50, 257},
                             {130, 40, 520},
                             {300, 40, 7}}) {
    const NpyArray a = matrix<T>(shape.l, shape.m, any), b = matrix<T>(shape.m, shape.n, any);
    expect_sums(product(a, b, {"--precision", precision}), std::get<Elements<T>>(a.values),
                std::get<Elements<T>>(b.values), shape, u);
  }
}

TEST(Product, OfManyPositiveNumbersIsSuchASumInF64) {
  expect_large_products<double>("f64", 0x1p-53);
}

TEST(Product, OfManyPositiveNumbersIsSuchASumInF32) {
  expect_large_products<float>("f32", 0x1p-24);
}

/// The products and sums of these integers are exact.
TEST(Product, OfIntegersIsExact) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const auto whole = [&](std::size_t, std::size_t) {
    return static_cast<double>(random() % 17) - 8;
  };
  for (const Shape& shape : shapes(random)) {
    const auto [l, m, n] = shape;
    const NpyArray a = matrix<double>(l, m, whole), b = matrix<double>(m, n, whole);
    const auto x = a.as_double(), y = b.as_double();
    const NpyArray expected = matrix<double>(l, n, [&](std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k < shape.m; ++k) sum += x[i * shape.m + k] * y[k * shape.n + j];
      return sum;
    });
    for (Arguments arguments : {Arguments{}, many_slices(shape)})
      for (const std::string& precision : precisions()) {
        arguments.insert(arguments.end(), {"--precision", precision});
        EXPECT_EQ(product(a, b, arguments).as_double(), expected.as_double())
            << testing::PrintToString(shape) << " in " << precision;
        arguments.resize(arguments.size() - 2);
      }
  }
}

/// The elements have at most 22 bits, which two tf32 numbers can represent.
TEST(Product, WithAPermutationMovesRowsOrColumns) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  std::normal_distribution<float> value;
  const std::size_t rows = 43, cols = 70;
  const NpyArray a = matrix<float>(rows, cols, [&](std::size_t, std::size_t) {
    return std::round(value(random) * 0x1p18f) * 0x1p-18f;
  });
  const auto elements = a.as_double();
  const auto permuted = [&](std::size_t size) {
    std::vector<std::size_t> place(size);
    std::iota(place.begin(), place.end(), std::size_t{0});
    std::shuffle(place.begin(), place.end(), random);
    return place;
  };
  const auto of_rows = permuted(rows), of_cols = permuted(cols);
  const NpyArray p = matrix<float>(
      rows, rows, [&](std::size_t i, std::size_t j) { return of_rows[i] == j ? 1 : 0; });
  const NpyArray q = matrix<float>(
      cols, cols, [&](std::size_t i, std::size_t j) { return of_cols[i] == j ? 1 : 0; });
  const NpyArray one =
      matrix<float>(cols, cols, [](std::size_t i, std::size_t j) { return i == j ? 1 : 0; });
  for (const std::string& precision : precisions()) {
    const Arguments in{"--precision", precision, "--set", "Sl=3", "--set", "Sn=4"};
    EXPECT_EQ(product(a, one, in).as_double(), elements);
    EXPECT_EQ(product(p, a, in).as_double(),
              matrix<double>(rows, cols, [&](std::size_t i, std::size_t j) {
                return elements[of_rows[i] * cols + j];
              }).as_double());
    EXPECT_EQ(product(a, q, in).as_double(),
              matrix<double>(rows, cols, [&](std::size_t i, std::size_t j) {
                const auto from = std::find(of_cols.begin(), of_cols.end(), j) - of_cols.begin();
                return elements[i * cols + static_cast<std::size_t>(from)];
              }).as_double());
  }
}

/// Each element of A and of B is a multiple of 2⁻²³ from -1 to 1, so f64 represents the products of
/// two elements exactly.
TEST(Numbers, ThatAreRandomAreTheSameInBothPrecisions) {
  if (!offers("f64") || !offers("f32")) return;
  const auto numbers = [&](const std::string& precision, int seed) {
    const Directory directory;
    const ProcessResult result = run({"--set", "l=40", "--set", "m=1", "--set", "n=30", "--set",
                                      fmt::format("seed={}", seed), "--precision", precision,
                                      "--output", directory / "c.npy"});
    EXPECT_EQ(result.status, 0) << result.err;
    return read_npy(directory / "c.npy").as_double();
  };
  const auto in_f64 = numbers("f64", 1), in_f32 = numbers("f32", 1);
  std::set<double> different;
  for (std::size_t e = 0; e < in_f64.size(); ++e) {
    const double multiple = in_f64[e] * 0x1p46;
    EXPECT_EQ(multiple, std::round(multiple));
    EXPECT_LE(std::abs(in_f64[e]), 1);
    EXPECT_EQ(static_cast<float>(in_f64[e]), in_f32[e]);
    different.insert(in_f64[e]);
  }
  EXPECT_GT(different.size(), 1100u);
  EXPECT_NE(numbers("f64", 2), in_f64);
}

TEST(Numbers, InAnotherPrecisionAreConverted) {
  const auto element = [](std::size_t i, std::size_t j) {
    return 1 + 0x1p-20 * static_cast<double>(i * 3 + j);
  };
  const NpyArray wide = matrix<double>(5, 3, element), narrow = matrix<float>(5, 3, element);
  const NpyArray one =
      matrix<float>(3, 3, [](std::size_t i, std::size_t j) { return i == j ? 1 : 0; });
  for (const auto& array : {wide, narrow})
    for (const std::string& precision : precisions())
      EXPECT_EQ(product(array, one, {"--precision", precision}).as_double(), wide.as_double());
}

TEST(Input, WhoseShapesDoNotFitIsRefused) {
  const Directory directory;
  const auto zero = [](std::size_t, std::size_t) { return 0; };
  write_npy(directory / "a.npy", matrix<double>(4, 5, zero));
  write_npy(directory / "b.npy", matrix<double>(7, 3, zero));
  const std::string a = directory / "a.npy", b = directory / "b.npy";
  expect_refusal(run({"--input", a, "--input", b}), 2, {"A has 5 columns and B has 7 rows"});
  expect_refusal(run({"--input", b, "--input", a}), 2, {"A has 3 columns and B has 4 rows"});
  expect_refusal(run({"--input", a}), 2, {"1 file;", "2: the matrix A, then the matrix B"});
  write_npy(directory / "b.npy", matrix<double>(5, 3, zero));
  expect_refusal(run({"--input", a, "--input", b, "--set", "n=4"}), 2,
                 {"n = 4 was set", "a.npy", "b.npy", "3"});
  write_npy(directory / "a.npy", matrix<double>((1 << 20) + 1, 1, zero));
  write_npy(directory / "b.npy", matrix<double>(1, 1, zero));
  expect_refusal(run({"--input", a, "--input", b}), 2, {"l is 1048577", "1048576"});
}

// --- Slices

matmul::Problem problem_of(std::mt19937_64& random) {
  matmul::Problem problem;
  for (auto* size : {&problem.l, &problem.m, &problem.n})
    *size = 1 + static_cast<std::int64_t>(random() % 90);
  return problem;
}

/// The size in bytes of `buffers` sets of buffers for slices of rows × cols elements.
double bytes_of(const matmul::Problem& problem, std::size_t rows, std::size_t cols,
                std::size_t buffers) {
  const auto r = static_cast<double>(rows), c = static_cast<double>(cols);
  return 8 * static_cast<double>(buffers) * ((r + c) * static_cast<double>(problem.m) + r * c);
}

void expect_each_cell_once(const matmul::Problem& problem, const matmul::Slices& slices) {
  const auto l = static_cast<std::size_t>(problem.l), n = static_cast<std::size_t>(problem.n);
  std::vector<int> covered(l * n);
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const matmul::Slice s = slices(e);
    ASSERT_GE(s.rows, 1u);
    ASSERT_GE(s.cols, 1u);
    ASSERT_LE(s.rows, slices.rows);
    ASSERT_LE(s.cols, slices.cols);
    for (std::size_t i = s.i0; i < s.i0 + s.rows; ++i)
      for (std::size_t j = s.j0; j < s.j0 + s.cols; ++j) ++covered.at(i * n + j);
  }
  EXPECT_EQ(covered, std::vector<int>(l * n, 1));
}

TEST(Slices, CoverEachCellOnce) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 300; ++draw) {
    matmul::Problem problem = problem_of(random);
    problem.sl = static_cast<std::int64_t>(random() % 100);
    problem.sn = static_cast<std::int64_t>(random() % 100);
    SCOPED_TRACE(fmt::format("l {} m {} n {} Sl {} Sn {}", problem.l, problem.m, problem.n,
                             problem.sl, problem.sn));
    const auto slices = matmul::slices_of(problem, 1, 8, 1 + random() % 20);
    const auto size_of = [](std::int64_t whole, std::int64_t asked) {
      return static_cast<std::size_t>((whole + asked - 1) / asked);
    };
    EXPECT_TRUE(problem.sl == 0 || slices.rows == size_of(problem.l, problem.sl));
    EXPECT_TRUE(problem.sn == 0 || slices.cols == size_of(problem.n, problem.sn));
    expect_each_cell_once(problem, slices);
  }
}

TEST(Slices, RunAlongRowsFirst) {
  matmul::Problem problem{.l = 10, .m = 3, .n = 9, .sl = 3, .sn = 2};
  const auto slices = matmul::slices_of(problem, 1, 8);
  ASSERT_EQ(slices.count(), 6u);
  for (std::size_t e = 0; e < 6; ++e) {
    EXPECT_EQ(slices(e).i0, e % 3 * 4);
    EXPECT_EQ(slices(e).j0, e / 3 * 5);
  }
  EXPECT_EQ(slices(5).rows, 2u);
  EXPECT_EQ(slices(5).cols, 4u);
}

/// Among all cuts into enough slices for which the sets of buffers fit into the budget, none
/// transfers fewer elements of A and B than the chosen cut.
TEST(Slices, FitIntoTheBudgetAndMoveTheLeast) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 300; ++draw) {
    matmul::Problem problem = problem_of(random);
    const std::size_t buffers = 1 + random() % 3, least = 1 + random() % 20;
    const auto l = static_cast<std::size_t>(problem.l), n = static_cast<std::size_t>(problem.n);
    problem.budget = bytes_of(problem, 1 + random() % l, 1 + random() % n, buffers);
    SCOPED_TRACE(fmt::format("l {} m {} n {} budget {} buffers {} least {}", problem.l, problem.m,
                             problem.n, problem.budget, buffers, least));
    const auto slices = matmul::slices_of(problem, buffers, 8, least);
    expect_each_cell_once(problem, slices);
    EXPECT_LE(bytes_of(problem, slices.rows, slices.cols, buffers), problem.budget);
    const std::size_t moved = slices.sn * l + slices.sl * n;
    // If a side of length l is cut into s slices of length ⌈l / s⌉, fewer than half of the slices
    // are empty. Empty slices are left out.
    EXPECT_GE(4 * slices.count(), std::min(l * n, least));
    for (std::size_t sl = 1; sl <= l; ++sl)
      for (std::size_t sn = 1; sn <= n; ++sn) {
        const bool fits =
            bytes_of(problem, (l + sl - 1) / sl, (n + sn - 1) / sn, buffers) <= problem.budget;
        ASSERT_TRUE(!fits || sl * sn < least || moved <= sn * l + sl * n) << sl << " × " << sn;
      }
  }
}

TEST(Slices, ThatExceedTheBudgetAreRefused) {
  matmul::Problem problem{.l = 6, .m = 10, .n = 8, .budget = 8 * 2 * (10 + 10 + 1)};
  EXPECT_EQ(matmul::slices_of(problem, 2, 8).count(), 48u);
  EXPECT_THROW(matmul::slices_of(problem, 3, 8), NotEnoughMemory);
  problem.budget -= 1;
  EXPECT_THROW(matmul::slices_of(problem, 2, 8), NotEnoughMemory);
  problem = {.l = 6, .m = 10, .n = 8, .budget = 1000, .sl = 2, .sn = 4};
  EXPECT_THROW(matmul::slices_of(problem, 4, 8), NotEnoughMemory);
  EXPECT_EQ(matmul::slices_of(problem, 2, 8).count(), 8u);
}

// --- Panels

/// The size in bytes of the given numbers of panels of A and of B, and of two slices.
double bytes_of(const matmul::Problem& problem, const matmul::Slices& slices, std::size_t of_a,
                std::size_t of_b) {
  const auto r = static_cast<double>(slices.rows), c = static_cast<double>(slices.cols);
  const auto rows = static_cast<double>(of_a) * r, cols = static_cast<double>(of_b) * c;
  return 8 * ((rows + cols) * static_cast<double>(problem.m) + 2 * r * c);
}

/// The panels of A form as few groups as possible, provided that a group and two panels of B fit
/// into the budget. If there are several groups, the number of panels of B on the device is the
/// largest that fits.
TEST(Panels, FillTheBudget) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 300; ++draw) {
    matmul::Problem problem = problem_of(random);
    problem.budget = 8 * static_cast<double>(3 * problem.m + 2 + random() % 20000);
    SCOPED_TRACE(
        fmt::format("l {} m {} n {} budget {}", problem.l, problem.m, problem.n, problem.budget));
    const auto [slices, kept, coming] = matmul::panels_of(problem, 8);
    expect_each_cell_once(problem, slices);
    ASSERT_GE(kept, 1u);
    ASSERT_LE(kept, slices.sl);
    const std::size_t least = std::min<std::size_t>(slices.sn, 2);
    ASSERT_GE(coming, least);
    EXPECT_LE(bytes_of(problem, slices, kept, coming), problem.budget);
    const std::size_t groups = (slices.sl + kept - 1) / kept;
    if (groups == 1) {
      EXPECT_EQ(coming, least);
    } else {
      const std::size_t for_fewer = (slices.sl + groups - 2) / (groups - 1);
      EXPECT_GT(bytes_of(problem, slices, for_fewer, least), problem.budget);
      EXPECT_EQ(kept, (slices.sl + groups - 1) / groups);
      EXPECT_TRUE(coming == slices.sn ||
                  bytes_of(problem, slices, kept, coming + 1) > problem.budget);
    }
  }
}

TEST(Panels, HaveSidesOfAtMost2048) {
  const matmul::Problem problem{.l = 5000, .m = 2, .n = 2049, .budget = 1e9};
  const auto slices = matmul::panels_of(problem, 4).slices;
  EXPECT_EQ(slices.rows, 1667u);
  EXPECT_EQ(slices.cols, 1025u);
}

/// Each row of A and each column of B (a line) takes `bytes` bytes in its panel. The larger side of
/// a panel takes another `bytes_in_transit` bytes per line while a panel is in transit.
TEST(Panels, CountTheBytesOfTheirLines) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 300; ++draw) {
    matmul::Problem problem = problem_of(random);
    const matmul::Line line{.bytes = 1 + random() % 1000,
                            .bytes_in_transit = random() % 1000,
                            .slices = 2 + random() % 2};
    const auto bytes = [&](std::size_t rows, std::size_t cols, std::size_t of_a, std::size_t of_b) {
      return static_cast<double>(line.bytes * (of_a * rows + of_b * cols) +
                                 line.bytes_in_transit * std::max(rows, cols) +
                                 4 * line.slices * rows * cols);
    };
    problem.budget = bytes(1, 1, 1, 2) + static_cast<double>(random() % 60000);
    SCOPED_TRACE(fmt::format("l {} n {} budget {} bytes {} and {}", problem.l, problem.n,
                             problem.budget, line.bytes, line.bytes_in_transit));
    const auto [slices, kept, coming] = matmul::panels_of(problem, 4, line);
    expect_each_cell_once(problem, slices);
    EXPECT_LE(bytes(slices.rows, slices.cols, kept, coming), problem.budget);
    const std::size_t groups = (slices.sl + kept - 1) / kept;
    const std::size_t for_fewer = groups == 1 ? 0 : (slices.sl + groups - 2) / (groups - 1);
    const std::size_t least = std::min<std::size_t>(slices.sn, 2);
    EXPECT_TRUE(groups == 1 || bytes(slices.rows, slices.cols, for_fewer, least) > problem.budget);
  }
}

/// Panels of B may be larger if all of A stays on the device.
TEST(Panels, OfManyColumnsAreForOneGroup) {
  matmul::Problem problem{.l = 5000, .m = 1, .n = 9000, .budget = 1e9};
  const matmul::Line line{.bytes = 100000, .most_columns = 6144};
  EXPECT_EQ(matmul::panels_of(problem, 4, line).slices.cols, 1800u);
  problem.budget = 2e9;  // enough for three panels of 1667 rows and two of 4500 columns
  const auto [slices, kept, coming] = matmul::panels_of(problem, 4, line);
  EXPECT_EQ(slices.rows, 1667u);
  EXPECT_EQ(slices.cols, 4500u);
  EXPECT_EQ(kept, 3u);
  EXPECT_EQ(coming, 2u);
}

TEST(Panels, ThatExceedTheBudgetAreRefused) {
  matmul::Problem problem{.l = 6, .m = 10, .n = 8, .budget = 8 * (3 * 10 + 2)};
  EXPECT_EQ(matmul::panels_of(problem, 8).slices.count(), 48u);
  problem.budget -= 1;
  EXPECT_THROW(matmul::panels_of(problem, 8), NotEnoughMemory);
  problem = {.l = 6, .m = 10, .n = 8, .budget = 650, .sl = 2, .sn = 4};
  EXPECT_THROW(matmul::panels_of(problem, 8), NotEnoughMemory);
  problem.budget = 8 * (30 + 2 * 20 + 2 * 6);
  EXPECT_EQ(matmul::panels_of(problem, 8).slices.count(), 8u);
}

// --- The budget of programs

/// The size in bytes of the smallest slice, as a refusal of the budget reports it; 0 for programs
/// without slices.
double smallest_slice(const Arguments& sizes) {
  Arguments arguments = sizes;
  arguments.insert(arguments.end(), {"--set", "budget=1"});
  const ProcessResult result = run(arguments);
  if (result.status == 0) return 0;
  expect_refusal(result, 3, {"the budget is 1 bytes", "a slice of 1 × 1 takes "});
  return std::stod(result.err.substr(result.err.find("takes ") + 6));
}

TEST(Budget, OfTheSmallestSliceIsEnoughAndLessIsRefused) {
  const Arguments sizes{"--set", "l=7", "--set", "m=11", "--set", "n=5"};
  const double bytes = smallest_slice(sizes);
  bool has_slices = true;
  for (const char* other : {"-00_", "-15_", "-16_", "-17_", "-18_", "-baseline"})
    has_slices = has_slices && program.find(other) == std::string::npos;
  ASSERT_EQ(bytes > 0, has_slices);
  if (!has_slices) return;
  const bool in_sets = std::fmod(bytes, 8 * (11 + 11 + 1)) == 0;
  const bool in_panels = bytes == 8 * (3 * 11 + 2);
  const bool taken_apart = bytes == 3 * 16 * 8 + 4 * (11 + 2);  // 16 elements of a line, of 8 bytes
                                                                // each
  const bool transposed = bytes == 8 * (3 * 11 + 2 * 11 + 2);   // two lines of A before their
                                                                // transposition
  const bool two_at_a_time = bytes == 8 * (3 * 11 + 2 * 11 + 3);
  EXPECT_TRUE(in_sets || in_panels || taken_apart || transposed || two_at_a_time) << bytes;
  const Directory directory;
  const auto with = [&](double budget) {
    Arguments arguments = sizes;
    arguments.insert(arguments.end(),
                     {"--set", fmt::format("budget={}", budget), "--output", directory / "c.npy"});
    return run(arguments);
  };
  expect_refusal(with(bytes - 1), 3, {fmt::format("takes {} bytes", bytes)});
  EXPECT_TRUE(directory.files().empty());
  const ProcessResult result = with(bytes);
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(Budget, ThatIsTooSmallForTheRequestedSlicesIsRefused) {
  if (smallest_slice({"--dataset", "tiny"}) == 0) return;
  expect_refusal(run({"--set", "l=60", "--set", "m=10", "--set", "n=80", "--set", "Sl=2", "--set",
                      "Sn=4", "--set", "budget=4000"}),
                 3, {"the budget is 4000 bytes", "30 × 20"});
}

/// Without a budget, slices fit into the device's memory.
TEST(Budget, IsTheMemoryOfTheDeviceWhereNoneIsGiven) {
  if (!program.ends_with("-cpu") || smallest_slice({"--dataset", "tiny"}) == 0) return;
  std::mt19937_64 random(1);
  const auto whole = [&](std::size_t, std::size_t) { return static_cast<double>(random() % 7); };
  const NpyArray a = matrix<double>(150, 40, whole), b = matrix<double>(40, 130, whole);
  const NpyArray in_slices =
      product(a, b, {}, {.environment = {"CUDA_ON_CPU_MEMORY=40000"}});  // of 245600 bytes in total
  EXPECT_EQ(in_slices.as_double(), product(a, b).as_double());
  expect_refusal(run({"--set", "m=3000"}, {.environment = {"CUDA_ON_CPU_MEMORY=40000"}}), 3,
                 {"the free device memory is 35000 bytes", "a slice of 1 × 1 takes"});
}

// --- A device that fails

/// The CPU device can simulate a device failure at any kernel or copy. Libraries may launch only a
/// few kernels.
TEST(CpuDevice, ThatFailsDuringASolveIsReportedInASentence) {
  for (const int at : {1, 2, 4, 7, 20}) {
    const Directory directory;
    expect_refusal(
        run({"--dataset", "tiny", "--set", "Sl=3", "--set", "Sn=4", "--output",
             directory / "c.npy"},
            {.environment = {fmt::format("CUDA_ON_CPU_LOST_AT={}", at), "CUDA_ON_CPU_DEVICES=2"}}),
        3, {"unknown error"});
    EXPECT_TRUE(directory.files().empty()) << at;
  }
}

// --- The number of GPUs, which does not change any digit

/// Programs for the CPU device use up to four devices; other programs use one GPU, and all GPUs.
TEST(Gpus, InAnyNumberGiveTheSameDigits) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const int most = program.ends_with("-cpu") ? 4 : 1;
  std::normal_distribution<double> normal;
  const auto any = [&](std::size_t, std::size_t) { return normal(random); };
  for (const Shape& shape : shapes(random)) {
    const NpyArray a = matrix<double>(shape.l, shape.m, any);
    const NpyArray b = matrix<double>(shape.m, shape.n, any);
    for (const Arguments& slices : {Arguments{}, many_slices(shape)}) {
      const auto by = [&](int gpus) {
        Arguments arguments = slices;
        arguments.insert(arguments.end(), {"--set", fmt::format("gpus={}", gpus)});
        return product(a, b, arguments,
                       {.environment = {fmt::format("CUDA_ON_CPU_DEVICES={}", most)}})
            .as_double();
      };
      const auto one = by(1);
      for (int gpus = 0; gpus <= most; ++gpus)
        EXPECT_EQ(by(gpus), one) << testing::PrintToString(shape) << ", " << gpus << " GPUs";
    }
  }
}

TEST(CpuDevices, ThatAreNotThereAreNotAvailable) {
  expect_refusal(
      run({"--dataset", "tiny", "--set", "gpus=3"}, {.environment = {"CUDA_ON_CPU_DEVICES=2"}}), 77,
      {"3 GPUs", "2 are available"});
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: matmul_test PROGRAM [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::try_device(staircase::test::program, {"Product", "Numbers", "Budget", "Gpus"});
  return staircase::test::run_all_tests();
}
