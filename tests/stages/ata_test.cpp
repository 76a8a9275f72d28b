/// \file
/// Checks a program of C = AᵀA against the theory of rounding errors: ata_test PROGRAM
/// [general|whole]. With `general`, for programs that use a general matrix product, C need not be
/// exactly symmetric. With `whole`, for programs that round A to integers, matrices that would lose
/// too much must be refused.
///
/// References are computed here in long double, whose rounding errors are 2¹¹ times as small as
/// those of f64.

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <random>

#include "support.hpp"

namespace staircase::test {
namespace {

std::string program;
bool symmetric = true, whole = false;

/// A matrix, stored row by row.
struct Matrix {
  std::size_t rows, cols;
  Elements<double> values;

  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

/// Runs the program on a matrix.
ProcessResult run(const Matrix& a, const Directory& directory) {
  write_npy(directory / "a.npy", {{a.rows, a.cols}, a.values});
  return run_process({program, "--input", directory / "a.npy", "--output", directory / "c.npy"});
}

/// The product AᵀA that the program computes for a matrix.
Matrix product_of(const Matrix& a) {
  const Directory directory;
  const ProcessResult result = run(a, directory);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {0, 0, {}};
  NpyArray c = read_npy(directory / "c.npy");
  EXPECT_EQ(c.shape, (std::vector<std::size_t>{a.cols, a.cols}));
  return {a.cols, a.cols, c.as_double()};
}

/// The sums over k of a(k, i) a(k, j) and of |a(k, i)| |a(k, j)|, for i <= j.
struct Sums {
  long double value, magnitude;
};
std::vector<Sums> sums_of(const Matrix& a) {
  std::vector<Sums> sums(a.cols * a.cols);
  for (std::size_t k = 0; k < a.rows; ++k)
    for (std::size_t i = 0; i < a.cols; ++i)
      for (std::size_t j = i; j < a.cols; ++j) {
        const long double term = static_cast<long double>(a(k, i)) * a(k, j);
        sums[i * a.cols + j].value += term;
        sums[i * a.cols + j].magnitude += std::abs(term);
      }
  return sums;
}

/// Checks each element against the bound that holds for any order of summation (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2nd ed., section 3.1). Also checks that C is symmetric
/// bit for bit.
void expect_within_bound(const Matrix& a) {
  const Matrix c = product_of(a);
  ASSERT_EQ(c.values.size(), a.cols * a.cols);
  const long double nu = static_cast<long double>(a.rows) * 0x1p-53L, gamma = nu / (1 - nu);
  const std::vector<Sums> sums = sums_of(a);
  for (std::size_t i = 0; i < a.cols; ++i)
    for (std::size_t j = i; j < a.cols; ++j) {
      const auto [value, magnitude] = sums[i * a.cols + j];
      const long double error = std::max(std::abs(c(i, j) - value), std::abs(c(j, i) - value));
      ASSERT_TRUE(error <= gamma * magnitude)
          << fmt::format("c({}, {}) of {} x {} is {} and must be {}", i, j, a.rows, a.cols, c(i, j),
                         static_cast<double>(value));
      if (symmetric) {
        ASSERT_EQ(c(i, j), c(j, i)) << i << ", " << j;
      }
    }
}

/// Checks that a program that rounds A to integers refuses a matrix, and checks other programs
/// against the bound.
void expect_refusal_or_bound(const Matrix& a, const std::vector<std::string>& fragments) {
  if (!whole) return expect_within_bound(a);
  const Directory directory;
  expect_refusal(run(a, directory), 77, fragments);
  EXPECT_EQ(directory.files(), std::vector<std::string>{"a.npy"});
}

/// A matrix whose elements are element(k, i).
template <typename Element>
Matrix matrix_of(std::size_t rows, std::size_t cols, Element element) {
  Matrix a{rows, cols, {}};
  for (std::size_t k = 0; k < rows; ++k)
    for (std::size_t i = 0; i < cols; ++i) a.values.push_back(element(k, i));
  return a;
}

/// Shapes with sides that are not multiples of tile sizes, and some with sides that are.
const std::vector<std::pair<std::size_t, std::size_t>> shapes{
    {1, 1},   {1, 90},  {90, 1},   {2, 3},    {3, 2},     {15, 16},  {16, 17},  {17, 15},
    {31, 33}, {33, 31}, {97, 53},  {32, 127}, {64, 128},  {65, 129}, {128, 96}, {47, 151},
    {7, 260}, {5, 24},  {130, 25}, {400, 23}, {1021, 13}, {4099, 7}};

/// Tests on fresh random matrices.
class Bound : public testing::Test {
 protected:
  double normal() { return normal_(random_); }
  /// A random number with few digits: an integer multiple of 2⁻³⁰.
  double short_normal() { return std::round(normal() * 0x1p30) / 0x1p30; }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

 private:
  unsigned seed_ = fresh_seed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("STAIRCASE_TEST_SEED={}", seed_)};
  std::mt19937_64 random_{seed_};
  std::normal_distribution<double> normal_;
};

TEST_F(Bound, HoldsForEveryShape) {
  for (const auto& [rows, cols] : shapes) {
    // With normal(), more than a quarter of a column's values may happen to be small if the column
    // has few rows. Programs that round A to integers refuse such a column.
    const bool in_short = whole && rows < 90;
    expect_within_bound(
        matrix_of(rows, cols, [&](auto, auto) { return in_short ? short_normal() : normal(); }));
  }
}

TEST_F(Bound, HoldsForManyRows) {
  expect_refusal_or_bound(matrix_of(200000, 3, [&](auto, auto) { return normal(); }),
                          {"takes rows up to 131071, not 200000"});
}

TEST_F(Bound, HoldsForColumnsOfAllSizes) {
  Elements<double> scale(70);
  for (double& s : scale) s = std::pow(10, uniform(-100, 100));
  expect_within_bound(matrix_of(90, 70, [&](auto, auto i) { return scale[i] * normal(); }));
}

TEST_F(Bound, HoldsForRowsOfAllSizes) {
  Elements<double> scale(90);
  for (double& s : scale) s = std::pow(10, uniform(-20, 20));
  expect_refusal_or_bound(matrix_of(90, 70, [&](auto k, auto) { return scale[k] * normal(); }),
                          {"takes columns", "of column 0", "in 90"});
}

TEST_F(Bound, HoldsForAColumnOfAllSizes) {
  // In the other columns, a tenth of the values are small, which is less than a quarter.
  const auto element = [&](auto k, auto i) {
    return (i == 37 ? std::pow(10, uniform(-20, 20)) : k % 10 == 0 ? 1e-10 : 1) * normal();
  };
  expect_refusal_or_bound(matrix_of(400, 70, element), {"takes columns", "of column 37", "in 400"});
}

TEST_F(Bound, HoldsForSomeSmallValues) {
  expect_within_bound(
      matrix_of(400, 70, [&](auto k, auto) { return (k % 10 == 0 ? 1e-10 : 1) * normal(); }));
}

TEST_F(Bound, HoldsForValuesOfAllMagnitudes) {
  expect_refusal_or_bound(
      matrix_of(60, 50, [&](auto, auto) { return normal() * std::pow(10, uniform(-20, 20)); }),
      {"takes columns", "of column 0", "in 60"});
}

TEST_F(Bound, HoldsForColumnsThatNearlyCancel) {
  // Neighbouring columns are orthogonal up to their last digits.
  expect_within_bound(matrix_of(128, 40, [&](auto k, auto i) {
    return ((k >> (i % 7)) % 2 == 0 ? 1 : -1) * (1 + 1e-15 * normal());
  }));
}

TEST_F(Bound, HoldsForZeros) {
  expect_within_bound(matrix_of(40, 35, [](auto, auto) { return 0.0; }));
  expect_within_bound(matrix_of(90, 35, [&](auto, auto i) { return i % 3 == 0 ? 0.0 : normal(); }));
}

TEST_F(Bound, IsExactForIntegers) {
  const Matrix a = matrix_of(300, 40, [&](auto, auto) { return std::round(uniform(-1000, 1000)); });
  const Matrix c = product_of(a);
  ASSERT_EQ(c.values.size(), 1600u);
  const std::vector<Sums> sums = sums_of(a);
  for (std::size_t i = 0; i < a.cols; ++i)
    for (std::size_t j = i; j < a.cols; ++j)
      ASSERT_EQ(c(i, j), static_cast<double>(sums[i * a.cols + j].value)) << i << ", " << j;
}

TEST_F(Bound, HoldsForOpenBlasToo) {
  const Matrix a = matrix_of(217, 83, [&](auto, auto) { return normal(); });
  const Matrix c = product_of(a);
  ASSERT_EQ(c.values.size(), 83u * 83u);
  Elements<double> of_blas(a.cols * a.cols);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, 83, 83, 217, 1, a.values.data(), 83,
              a.values.data(), 83, 0, of_blas.data(), 83);
  const std::vector<Sums> sums = sums_of(a);
  for (std::size_t i = 0; i < a.cols; ++i)
    for (std::size_t j = i; j < a.cols; ++j)
      ASSERT_LE(std::abs(c(i, j) - of_blas[i * a.cols + j]),
                2 * 217 * 0x1.01p-53 * static_cast<double>(sums[i * a.cols + j].magnitude));
}

TEST(Shape, WithoutRowsOrColumnsIsRefused) {
  expect_refusal(run_process({program, "--set", "rows=0"}), 2, {"rows", "'0'", "from 1"});
  expect_refusal(run_process({program, "--set", "cols=0"}), 2, {"cols", "'0'", "from 1"});
  const Directory directory;
  write_npy(directory / "none.npy", {{0, 5}, Elements<double>{}});
  expect_refusal(run_process({program, "--input", directory / "none.npy"}), 2,
                 {"none.npy", "empty"});
  write_npy(directory / "cube.npy", {{1, 1, 2}, Elements<double>{1, 2}});
  expect_refusal(run_process({program, "--input", directory / "cube.npy"}), 2,
                 {"cube.npy", "3 dimensions", "must have 2"});
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: ata_test PROGRAM [general|whole] [GTEST OPTIONS]\n");
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::symmetric = argc < 3 || argv[2] != std::string("general");
  staircase::test::whole = argc > 2 && argv[2] == std::string("whole");
  staircase::test::try_device(staircase::test::program, {"Bound"});
  return staircase::test::run_all_tests();
}
