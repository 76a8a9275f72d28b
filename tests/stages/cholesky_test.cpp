/// \file
/// Checks a program of A = L Lᵀ against the theory of rounding errors: cholesky_test PROGRAM
/// [inverted]. `inverted` selects the error bound for programs that multiply by inverses of
/// diagonal tiles.
///
/// Residuals are computed here in long double, whose rounding errors are 2¹¹ times as small as
/// those of f64.

#include <fmt/format.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <map>
#include <random>

#include "support.hpp"

namespace staircase::test {
namespace {

using Arguments = std::vector<std::string>;
using Numbers = Elements<double>;
using LongNumbers = std::vector<long double>;

std::string program;
bool inverted = false;

/// The maximum number of rows of the diagonal tiles that programs invert.
constexpr std::size_t tile = 128;

/// L, or a square matrix whose upper triangle is never used.
struct Matrix {
  std::size_t n;
  Numbers elements;

  double& operator()(std::size_t i, std::size_t j) { return elements[i * n + j]; }
  double operator()(std::size_t i, std::size_t j) const { return elements[i * n + j]; }
};

ProcessResult run(const Matrix& a, Arguments arguments, const std::string& output,
                  const ProcessOptions& options = {}) {
  const Directory directory;
  write_npy(directory / "a.npy", {{a.n, a.n}, a.elements});
  const Arguments files{program, "--input", directory / "a.npy"};
  arguments.insert(arguments.begin(), files.begin(), files.end());
  if (!output.empty()) arguments.insert(arguments.end(), {"--output", output});
  return run_process(arguments, options);
}

/// The factor that the program computes for a matrix. If the program fails, the test fails and the
/// factor is empty.
Matrix factor(const Matrix& a, const std::string& precision, Arguments arguments = {},
              const ProcessOptions& options = {}) {
  const Directory directory;
  arguments.insert(arguments.end(), {"--precision", precision});
  const ProcessResult result = run(a, arguments, directory / "l.npy", options);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {};
  NpyArray l = read_npy(directory / "l.npy");
  EXPECT_EQ(l.shape, (std::vector{a.n, a.n}));
  return {a.n, std::move(l).as_double()};
}

/// γ_n = n u / (1 - n u) for the unit roundoff u of a precision.
long double gamma(std::size_t n, const std::string& precision) {
  const long double nu = static_cast<long double>(n) * (precision == "f64" ? 0x1p-53L : 0x1p-24L);
  return nu / (1 - nu);
}

/// The sum of the products of rows i and j of L in columns 0 to last - 1, and the sum of the
/// products' magnitudes.
struct Sums {
  long double value = 0, magnitude = 0;
};
Sums product(const Matrix& l, std::size_t i, std::size_t j, std::size_t last) {
  Sums sums;
  for (std::size_t k = 0; k < last; ++k) {
    const long double term = static_cast<long double>(l(i, k)) * l(j, k);
    sums.value += term;
    sums.magnitude += std::abs(term);
  }
  return sums;
}

/// Whether L has zeros above its diagonal, a positive diagonal, and finite elements below.
testing::AssertionResult is_factor(const Matrix& a, const Matrix& l) {
  if (l.elements.size() != a.n * a.n) return testing::AssertionFailure() << "not the size of A";
  for (std::size_t i = 0; i < a.n; ++i)
    for (std::size_t j = 0; j < a.n; ++j)
      if (!(j < i ? std::isfinite(l(i, j)) : j == i ? l(i, j) > 0 : l(i, j) == 0))
        return testing::AssertionFailure() << fmt::format("({}, {}) is {}", i, j, l(i, j));
  return testing::AssertionSuccess();
}

testing::AssertionResult left_over(const Matrix& a, std::size_t i, std::size_t j, long double rest,
                                   long double bound) {
  return testing::AssertionFailure()
         << fmt::format("({}, {}) of {} leaves {} and may leave {}", i, j, a.n,
                        static_cast<double>(rest), static_cast<double>(bound));
}

/// Whether |A - L Lᵀ| is within γ_{n+1} |L| |Lᵀ|, element by element, for any order of summation
/// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., Theorem 10.3).
testing::AssertionResult is_within_bound(const Matrix& a, const Matrix& l,
                                         const std::string& precision) {
  if (auto result = is_factor(a, l); !result) return result;
  for (std::size_t i = 0; i < a.n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const auto [value, magnitude] = product(l, i, j, j + 1);
      // Element (i, j) is affected by j + 1 roundings of products, and by a quotient or a root.
      const long double bound = gamma(j + 2, precision) * magnitude * (1 + 1e-9L);
      const long double rest = std::abs(a(i, j) - value);
      if (!(rest <= bound)) return left_over(a, i, j, rest, bound);
    }
  return testing::AssertionSuccess();
}

/// The magnitudes |L⁻¹| for the diagonal block of L in rows and columns `first` to last - 1.
LongNumbers inverse_sizes(const Matrix& l, std::size_t first, std::size_t last) {
  const std::size_t size = last - first;
  LongNumbers inverse(size * size);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = j; i < size; ++i) {
      long double sum = i == j ? 1 : 0;
      for (std::size_t k = j; k < i; ++k) sum -= l(first + i, first + k) * inverse[k * size + j];
      inverse[i * size + j] = sum / l(first + i, first + i);
    }
  for (long double& element : inverse) element = std::abs(element);
  return inverse;
}

/// Whether |A - L Lᵀ| is within the bound for programs that multiply by inverses. The rows of a
/// panel are X̂ c, with X̂ the computed inverse of the diagonal tile and c a partially updated row
/// of A. With L as the tile, |L X̂ - I| is within γ |L| |X̂| (Du Croz and Higham, "Stability of
/// Methods for Matrix Inversion", IMA Journal of Numerical Analysis 12, 1992, method 1). A row of
/// the panel times the tile therefore has an error of at most 2 γ |L| |L⁻¹| |c|, in addition to the
/// errors of earlier products. The bound also holds for programs that invert only diagonal blocks
/// of the tile, because the inverse of such a block is a block of the tile's inverse.
testing::AssertionResult is_within_inverted_bound(const Matrix& a, const Matrix& l,
                                                  const std::string& precision) {
  if (auto result = is_factor(a, l); !result) return result;
  for (std::size_t first = 0; first < a.n; first += tile) {
    const std::size_t last = std::min(first + tile, a.n), size = last - first;
    const LongNumbers inverse = inverse_sizes(l, first, last);
    for (std::size_t i = first; i < a.n; ++i) {
      LongNumbers c(size), spread(size);
      const std::size_t columns = std::min(size, i - first + 1);
      for (std::size_t j = 0; j < columns; ++j) {
        const auto [value, magnitude] = product(l, i, first + j, first);
        c[j] = std::abs(a(i, first + j) - value) + gamma(first + 1, precision) * magnitude;
      }
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t k = 0; k <= j; ++k) spread[j] += inverse[j * size + k] * c[k];
      for (std::size_t j = 0; j < columns; ++j) {
        const auto [value, magnitude] = product(l, i, first + j, first + j + 1);
        long double of_tile = 0;
        for (std::size_t k = 0; k <= j; ++k)
          of_tile += std::abs(l(first + j, first + k)) * spread[k];
        const long double bound = gamma(first + size + 4, precision) * magnitude +
                                  2 * gamma(tile + 4, precision) * of_tile;
        const long double rest = std::abs(a(i, first + j) - value);
        if (!(rest <= bound)) return left_over(a, i, first + j, rest, bound);
      }
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult is_right(const Matrix& a, const Matrix& l, const std::string& precision) {
  return inverted ? is_within_inverted_bound(a, l, precision) : is_within_bound(a, l, precision);
}

/// The factor that LAPACK computes for a matrix, in f64 or in f32, and LAPACK's status.
std::pair<Matrix, lapack_int> by_lapack(const Matrix& a, const std::string& precision) {
  Matrix l = a;
  for (std::size_t i = 0; i < a.n; ++i)
    std::fill_n(&l.elements[i * a.n + i], a.n - i, 0), l(i, i) = a(i, i);
  const auto n = static_cast<lapack_int>(a.n);
  if (precision == "f64") {
    const lapack_int info = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, l.elements.data(), n);
    return {std::move(l), info};
  }
  std::vector<float> in_f32(l.elements.begin(), l.elements.end());
  const lapack_int info = LAPACKE_spotrf(LAPACK_ROW_MAJOR, 'L', n, in_f32.data(), n);
  l.elements.assign(in_f32.begin(), in_f32.end());
  return {std::move(l), info};
}

/// Sizes around multiples of the sizes of warps and tiles, primes, and a random size.
std::vector<std::size_t> sizes(std::mt19937_64& random) {
  return {1,  2,   3,   7,   31,  32,  33,  63,  64,  65,
          97, 127, 128, 129, 191, 193, 255, 256, 257, 1 + random() % 400};
}

/// Tests on fresh random matrices.
class Residual : public testing::Test {
 protected:
  double normal() { return normal_(random_); }
  double uniform() { return uniform_(random_); }
  std::mt19937_64& random() { return random_; }

  /// A number that f32 represents exactly.
  static double rounded(double x) { return static_cast<float>(x); }

  /// A matrix with element(i, j) in the lower triangle, and values above it that must have no
  /// effect.
  template <typename Element>
  Matrix matrix_of(std::size_t n, Element element) {
    Matrix a{n, Numbers(n * n)};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        a(i, j) = rounded(j <= i ? element(i, j) : 1e15 * (2 * uniform_(random_) - 1));
    return a;
  }

  /// G Gᵀ / n for a random square matrix G, plus `more` on the diagonal.
  Matrix random_matrix(std::size_t n, double more = 0.01) {
    Matrix g{n, Numbers(n * n)};
    for (double& element : g.elements) element = normal();
    return matrix_of(n, [&](std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += g(i, k) * g(j, k);
      return sum / static_cast<double>(n) + (i == j ? more : 0);
    });
  }

  /// A matrix with a strong diagonal, which is well conditioned and fast to generate.
  Matrix well_conditioned(std::size_t n) {
    return matrix_of(n, [&](std::size_t i, std::size_t j) {
      return i == j ? 1 + uniform_(random_)
                    : 0.5 * normal() / std::sqrt(static_cast<double>(n) + 9);
    });
  }

  void expect_right(const Matrix& a, const Arguments& arguments = {}) {
    for (const std::string precision : {"f64", "f32"})
      EXPECT_TRUE(is_right(a, factor(a, precision, arguments), precision))
          << a.n << " rows in " << precision;
  }

  /// Checks that the program refuses the matrix with a sentence that names the same pivot as
  /// LAPACK, and that the program writes no file.
  void expect_refused(const Matrix& a, std::size_t at, const std::string& precision) {
    const Directory directory;
    ASSERT_EQ(by_lapack(a, precision).second, static_cast<lapack_int>(at + 1)) << precision;
    expect_refusal(run(a, {"--precision", precision}, directory / "l.npy"), 2,
                   {"not positive definite", fmt::format("pivot {} is ", at),
                    fmt::format("the first {} rows", at + 1)});
    EXPECT_TRUE(directory.files().empty());
  }
  void expect_refused(const Matrix& a, std::size_t at) {
    for (const char* precision : {"f64", "f32"}) expect_refused(a, at, precision);
  }
  /// Performs the check of expect_refused() in one random precision, for tests of many positions.
  void expect_refused_in_one(const Matrix& a, std::size_t at) {
    expect_refused(a, at, random()() % 2 == 0 ? "f64" : "f32");
  }

 private:
  unsigned seed_ = fresh_seed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("STAIRCASE_TEST_SEED={}", seed_)};
  std::mt19937_64 random_{seed_};
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
};

TEST_F(Residual, OfRandomMatricesIsSmall) {
  for (const std::size_t n : sizes(random())) expect_right(random_matrix(n));
}

TEST_F(Residual, OfWellConditionedMatricesIsSmall) {
  for (const std::size_t n : {1, 33, 127, 385, 509}) expect_right(well_conditioned(n));
}

/// Tests of stages in which tiles start in groups (units). A unit waits for tiles of earlier units.
using Units = Residual;

TEST_F(Units, WaitForThoseBefore) { expect_right(well_conditioned(1100)); }

TEST_F(Residual, OfGradedMatricesIsSmallInEachElement) {
  for (const std::size_t n : {1, 2, 33, 65, 129, 200, 257})
    for (const double sign : {-1, 1}) {
      const Matrix a = random_matrix(n);
      const auto grade = [&](std::size_t i) {
        return std::pow(10, sign * 6 * static_cast<double>(i) / static_cast<double>(n));
      };
      expect_right(matrix_of(
          n, [&](std::size_t i, std::size_t j) { return grade(i) * grade(j) * a(i, j); }));
    }
}

TEST_F(Residual, OfMatricesLikeThatOfHilbertIsSmall) {
  for (const std::size_t n : {1, 2, 31, 65, 128, 200})
    expect_right(matrix_of(n, [&](std::size_t i, std::size_t j) {
      return 1 / static_cast<double>(i + j + 1) + (i == j ? 1e-3 : 0);
    }));
  // Very ill-conditioned matrices that f64 can still factorise.
  for (const std::size_t n : {3, 7}) {
    Matrix a = matrix_of(n, [](std::size_t i, std::size_t j) { return i == j ? 1 : 0; });
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) a(i, j) = 1 / static_cast<double>(i + j + 1);
    EXPECT_TRUE(is_right(a, factor(a, "f64"), "f64")) << n;
  }
}

TEST_F(Residual, OfBandedMatricesIsSmall) {
  for (const std::size_t n : {2, 33, 64, 129, 211, 300})
    for (const std::size_t width : {1, 5, 40}) {
      const Matrix a = matrix_of(n, [&](std::size_t i, std::size_t j) {
        return i == j ? 2 : i - j <= width ? normal() / static_cast<double>(4 * width) : 0;
      });
      EXPECT_TRUE(is_right(a, factor(a, "f32"), "f32")) << n << " rows in f32";
      const Matrix l = factor(a, "f64");
      EXPECT_TRUE(is_right(a, l, "f64")) << n << " rows in f64";
      for (std::size_t i = width + 1; i < n && l.n == n; ++i)
        for (std::size_t j = 0; j < i - width; ++j) ASSERT_EQ(l(i, j), 0) << i << ", " << j;
    }
}

TEST_F(Residual, IsSmallWithAnyNumberOfThreads) {
  const Matrix a = random_matrix(300);
  for (const char* threads : {"1", "2", "3"})
    EXPECT_TRUE(is_right(
        a, factor(a, "f64", {}, {.environment = {fmt::format("OMP_NUM_THREADS={}", threads)}}),
        "f64"))
        << threads;
}

/// Integers with ones on the diagonal of L: no operation rounds.
TEST_F(Residual, OfIntegersIsZero) {
  for (const std::size_t n : {1, 2, 33, 130, 300}) {
    Matrix l{n, Numbers(n * n, 0)};
    for (std::size_t i = 0; i < n; ++i) {
      l(i, i) = 1;
      for (std::size_t j = i > 20 ? i - 20 : 0; j < i; ++j)
        l(i, j) = i - j == 1 || random()() % 5 == 0 ? static_cast<double>(random()() % 3) - 1 : 0;
    }
    // The inverse of a tile of this L also has integer elements, which soon become large.
    if (inverted)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (i - j != 17) l(i, j) = 0;
    const Matrix a = matrix_of(n, [&](std::size_t i, std::size_t j) {
      return static_cast<double>(product(l, i, j, j + 1).value);
    });
    for (const std::string precision : {"f64", "f32"})
      EXPECT_EQ(factor(a, precision).elements, l.elements) << n << " rows in " << precision;
  }
}

/// To first order, the factors of A + ΔA and A + ΔA' differ by L times the lower triangle, with
/// half of the diagonal, of L⁻¹ (ΔA - ΔA') L⁻ᵀ. |ΔA| and |ΔA'| are within the bound of the
/// residual. Three times this bound, instead of twice, allows for terms of higher order.
TEST_F(Residual, LeavesTheFactorOfLapack) {
  for (const std::size_t n : {1, 2, 33, 129, 200})
    for (const std::string precision : {"f64", "f32"}) {
      const Matrix a = well_conditioned(n);
      const auto [expected, info] = by_lapack(a, precision);
      ASSERT_EQ(info, 0);
      const Matrix l = factor(a, precision);
      ASSERT_EQ(l.n, n);
      const LongNumbers inverse = inverse_sizes(expected, 0, n);
      LongNumbers m(n * n), lower(n * n);  // M = |L⁻¹| |L|, and the lower triangle of M Mᵀ
      const long double bound = (inverted ? 9 : 3) * gamma(n + 4, precision);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k <= i; ++k)
          for (std::size_t j = 0; j <= k; ++j)
            m[i * n + j] += inverse[i * n + k] * std::abs(expected(k, j));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j)
          for (std::size_t k = 0; k <= j; ++k) lower[i * n + j] += m[i * n + k] * m[j * n + k];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          long double off = 0;
          for (std::size_t k = j; k <= i; ++k) off += std::abs(expected(i, k)) * lower[k * n + j];
          ASSERT_LE(std::abs(l(i, j) - expected(i, j)), bound * off)
              << i << ", " << j << " of " << n << " in " << precision;
        }
    }
}

// --- Refused matrices

/// A negative pivot on each side of the boundaries of warps, blocks, tiles and panels.
TEST_F(Residual, IsNotComputedWhereAPivotIsNegative) {
  const std::map<std::size_t, std::vector<std::size_t>> of_size{
      {130, {1, 31, 32, 33, 63, 64, 65, 129}},
      {260, {0, 100, 127, 128, 129, 191, 192, 193, 255, 256, 257, 259}}};
  for (const auto& [n, places] : of_size)
    for (const std::size_t at : places) {
      Matrix a = well_conditioned(n);
      a(at, at) = -1;
      if (at + 1 < n) a(n - 1, n - 1) = -1;  // the first negative pivot is named
      expect_refused_in_one(a, at);
    }
}

/// A large off-diagonal element makes a pivot negative, although the diagonal is positive.
TEST_F(Residual, IsNotComputedWhereAnOffDiagonalElementIsTooLarge) {
  constexpr std::size_t n = 200;
  for (const std::size_t at : {1, 32, 64, 100, 128, 150, 199}) {
    Matrix a = well_conditioned(n);
    a(at, at / 3) = 2;
    expect_refused(a, at);
  }
}

/// The elements are integers, and the pivot is exactly zero, without rounding.
TEST_F(Residual, IsNotComputedWhereAPivotIsZero) {
  constexpr std::size_t n = 140;
  for (const std::size_t at : {0, 1, 31, 32, 63, 64, 65, 127, 128, 139}) {
    Matrix a = matrix_of(n, [&](std::size_t i, std::size_t j) {
      return i == j && i != at ? (i % 2 == 0 ? 4 : 1) : 0;
    });
    expect_refused_in_one(a, at);
    if (at == 0) continue;
    a(at, at - 1) = a(at - 1, at - 1);  // the same row twice
    a(at, at) = a(at - 1, at - 1);
    expect_refused_in_one(a, at);
  }
}

/// G Gᵀ for a matrix G of integers with fewer columns than rows: the pivots are computed without
/// rounding.
TEST_F(Residual, IsNotComputedOfASemidefiniteMatrix) {
  for (const std::size_t n : {2, 40, 100, 150}) {
    const std::size_t rank = n / 2;
    const Matrix a =
        matrix_of(n, [&](std::size_t i, std::size_t j) { return i % rank == j % rank ? 9 : 0; });
    expect_refused(a, rank);
  }
}

/// A stage that divides by a zero pivot continues with NaN. It must terminate all the same.
TEST_F(Residual, IsNotComputedOfAMatrixOfZeros) {
  expect_refused(matrix_of(150, [](std::size_t, std::size_t) { return 0; }), 0);
}

TEST_F(Residual, IsNotComputedWithAPivotThatIsZeroInF32) {
  Matrix a = well_conditioned(70);
  for (std::size_t k = 0; k < 70; ++k) (k < 66 ? a(66, k) : a(k, 66)) = k == 66 ? 1e-60 : 0;
  expect_refusal(run(a, {"--precision", "f32"}, ""), 2, {"pivot 66 is 0"});
  EXPECT_TRUE(is_right(a, factor(a, "f64"), "f64"));
}

TEST_F(Residual, IsNotComputedWithNaNs) {
  for (const double value : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    Matrix a = well_conditioned(33);
    a(20, 20) = value;
    expect_refusal(run(a, {}, ""), 2, {"a.npy", fmt::format("element {}", 20 * 33 + 20)});
  }
}

TEST_F(Residual, IsNotComputedOfARectangle) {
  const Directory directory;
  write_npy(directory / "a.npy", {{3, 4}, Numbers(12, 1)});
  expect_refusal(run_process({program, "--input", directory / "a.npy"}), 2,
                 {"A has 3 rows and 4 columns"});
}

// --- The budget and the number of GPUs

using Budget = Residual;
using Gpus = Residual;
using CpuDevices = Residual;
using Peers = Residual;

/// The minimum number of bytes that a program needs, as it reports when it refuses a budget.
double smallest_budget(const Matrix& a, const std::string& precision) {
  const Directory directory;
  const ProcessResult result =
      run(a, {"--precision", precision, "--set", "budget=1"}, directory / "l.npy");
  expect_refusal(result, 3, {"the budget is 1 bytes", "take "});
  EXPECT_TRUE(directory.files().empty());
  const std::size_t at = result.err.find("take ");
  return at == std::string::npos ? 0 : std::stod(result.err.substr(at + 5));
}

Arguments with_budget(double budget) { return {"--set", fmt::format("budget={}", budget)}; }

/// The smallest budget permits only slices of one block each, and the largest permits a single
/// slice.
TEST_F(Budget, OfAnySizeLeavesASmallResidual) {
  for (const std::size_t n : {64, 65, 200, 333, 600})
    for (const std::string precision : {"f64", "f32"}) {
      const Matrix a = well_conditioned(n);
      const double least = smallest_budget(a, precision);
      const double whole = least + 24 * static_cast<double>(n * n);
      for (const double budget : {least, least + (whole - least) * uniform(), whole})
        EXPECT_TRUE(is_right(a, factor(a, precision, with_budget(budget)), precision))
            << n << " rows in " << precision << ", budget " << budget;
    }
}

TEST_F(Budget, OfTheSmallestSlicesIsEnoughAndLessIsRefused) {
  const Matrix a = well_conditioned(300);
  const double rows = 320, block = 64;  // two slices of 64 columns, and two segments below
  for (const std::string precision : {"f64", "f32"}) {
    const double least = smallest_budget(a, precision);
    EXPECT_EQ(least, (precision == "f64" ? 8 : 4) * block *
                         (rows + (rows - block) + 2 * (rows - 2 * block)));
    const Directory directory;
    Arguments arguments = with_budget(least - 1);
    arguments.insert(arguments.end(), {"--precision", precision});
    expect_refusal(run(a, arguments, directory / "l.npy"), 3, {fmt::format("take {}", least)});
    EXPECT_TRUE(directory.files().empty());
    EXPECT_TRUE(is_right(a, factor(a, precision, with_budget(least)), precision));
  }
}

/// The memory that the CPU device counts as allocated is at most the budget.
TEST_F(Budget, IsAllThatADeviceMustHave) {
  if (!program.ends_with("-cpu")) return;
  const Matrix a = well_conditioned(500);
  const double least = smallest_budget(a, "f64");
  for (const double budget : {least, 2 * least}) {
    const ProcessOptions just_enough{.environment = {fmt::format("CUDA_ON_CPU_MEMORY={}", budget)}};
    EXPECT_TRUE(is_right(a, factor(a, "f64", with_budget(budget), just_enough), "f64")) << budget;
  }
}

/// A pivot that is not positive in the first slice, and one in the last slice.
TEST_F(Budget, LeavesNoBlockWaitingAtANegativePivot) {
  for (const std::size_t at : {3, 250}) {
    Matrix a = well_conditioned(300);
    a(at, at) = -1;
    const Directory directory;
    expect_refusal(run(a, with_budget(smallest_budget(a, "f64")), directory / "l.npy"), 2,
                   {fmt::format("pivot {} is ", at)});
    EXPECT_TRUE(directory.files().empty());
  }
}

Arguments with_gpus(int gpus) { return {"--set", fmt::format("gpus={}", gpus)}; }

/// Programs for the CPU device use up to four devices; other programs use one GPU, and all GPUs.
TEST_F(Gpus, InAnyNumberGiveTheSameDigits) {
  const int most = program.ends_with("-cpu") ? 4 : 1;
  const ProcessOptions options{.environment = {fmt::format("CUDA_ON_CPU_DEVICES={}", most)}};
  for (const std::size_t n : {1, 255, 257, 770})  // up to four panels
    for (const std::string precision : {"f64", "f32"}) {
      const Matrix a = well_conditioned(n);
      const Matrix one = factor(a, precision, with_gpus(1), options);
      EXPECT_TRUE(is_right(a, one, precision)) << n;
      for (const int gpus : most > 1 ? std::vector{0, 2, 3} : std::vector{0})  // 0 selects all GPUs
        EXPECT_EQ(factor(a, precision, with_gpus(gpus), options).elements, one.elements)
            << n << " rows in " << precision << ", " << gpus << " GPUs";
    }
}

/// There are more GPUs than panels.
TEST_F(CpuDevices, WithoutAPanelDoNothing) {
  const Matrix a = well_conditioned(300);
  EXPECT_TRUE(is_right(
      a, factor(a, "f64", with_gpus(7), {.environment = {"CUDA_ON_CPU_DEVICES=7"}}), "f64"));
}

TEST_F(CpuDevices, ThatAreNotThereAreNotAvailable) {
  const Directory directory;
  expect_refusal(run(well_conditioned(40), with_gpus(3), directory / "l.npy",
                     {.environment = {"CUDA_ON_CPU_DEVICES=2"}}),
                 77, {"3 GPUs", "2 are available"});
  EXPECT_TRUE(directory.files().empty());
}

/// The CPU device can simulate a device failure at any kernel or copy.
TEST_F(CpuDevices, ThatFailDuringASolveAreReportedInASentence) {
  const Matrix a = well_conditioned(600);
  for (const int at : {1, 3, 9, 20, 31, 35}) {
    const Directory directory;
    expect_refusal(
        run(a, {}, directory / "l.npy",
            {.environment = {fmt::format("CUDA_ON_CPU_LOST_AT={}", at), "CUDA_ON_CPU_DEVICES=3"}}),
        3, {"unknown error"});
    EXPECT_TRUE(directory.files().empty()) << at;
  }
}

TEST_F(CpuDevices, LeaveNoBlockWaitingAtANegativePivot) {
  for (const std::size_t at : {3, 700}) {
    Matrix a = well_conditioned(800);
    a(at, at) = -1;
    const Directory directory;
    expect_refusal(run(a, {}, directory / "l.npy", {.environment = {"CUDA_ON_CPU_DEVICES=3"}}), 2,
                   {fmt::format("pivot {} is ", at)});
    EXPECT_TRUE(directory.files().empty());
  }
}

/// Kernels that store into the memory of all other GPUs need access to this memory.
TEST_F(Peers, ThatCannotReachEachOtherAreNotAvailable) {
  const Matrix a = well_conditioned(600);
  const ProcessOptions pairs{.environment = {"CUDA_ON_CPU_DEVICES=4", "CUDA_ON_CPU_PEERS=2"}};
  const Directory directory;
  expect_refusal(run(a, with_gpus(3), directory / "l.npy", pairs), 77,
                 {"GPU 0 ", "GPU 2;", "peer access"});
  EXPECT_TRUE(directory.files().empty());
  EXPECT_TRUE(is_right(a, factor(a, "f64", with_gpus(2), pairs), "f64"));
}

TEST_F(Peers, ThatAreTooManyAreNotAvailable) {
  expect_refusal(run(well_conditioned(1200), {}, "", {.environment = {"CUDA_ON_CPU_DEVICES=9"}}),
                 77, {"at most 8 GPUs", "9 are"});
}

// --- The checks themselves

TEST_F(Residual, ChecksCatchWrongFactors) {
  for (const std::size_t n : {7, 200}) {
    const Matrix a = random_matrix(n);
    const Matrix right = by_lapack(a, "f64").first;
    for (const auto& check : {is_within_bound, is_within_inverted_bound}) {
      EXPECT_TRUE(check(a, right, "f64"));
      const auto caught = [&](auto plant) {
        Matrix l = right;
        plant(l);
        return !check(a, l, "f64");
      };
      EXPECT_TRUE(caught([](Matrix& l) { l(5, 3) *= 1 + 1e-9; }));
      EXPECT_TRUE(caught([](Matrix& l) { l(l.n - 1, l.n - 1) *= 1 + 1e-10; }));
      EXPECT_TRUE(caught([](Matrix& l) { std::swap(l(2, 1), l(3, 1)); }));
      EXPECT_TRUE(caught([](Matrix& l) { l(4, 4) = -l(4, 4); }));
      EXPECT_TRUE(caught([](Matrix& l) { l(2, 4) = 1e-300; }));
      EXPECT_TRUE(caught([](Matrix& l) { l(l.n - 1, 0) = std::nan(""); }));
      EXPECT_TRUE(caught([](Matrix& l) { l.elements.pop_back(); }));
      EXPECT_TRUE(caught([](Matrix& l) {
        for (double& value : l.elements) value = static_cast<float>(value);  // f32 values in place
                                                                             // of f64 values
      }));
    }
  }
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: cholesky_test PROGRAM [inverted] [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::inverted = argc > 2 && argv[2] == std::string("inverted");
  staircase::test::try_device(staircase::test::program,
                              {"Residual", "Budget", "Gpus", "Units", "CpuDevices", "Peers"});
  return staircase::test::run_all_tests();
}
