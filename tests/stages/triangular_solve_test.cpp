/// \file
/// Checks a program of L x = b against the theory of rounding errors: triangular_solve_test PROGRAM
/// [inverted | recursive | precomputed]. The options select the bound: `inverted` for programs that
/// multiply by inverses of diagonal blocks, `recursive` for programs that invert these blocks by
/// halves, and `precomputed` for programs that also multiply the block on the left of the diagonal
/// by the inverse.
///
/// Residuals are computed here in long double, whose rounding errors are 2¹¹ times as small as
/// those of f64.

#include <fmt/format.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <random>

#include "support.hpp"

namespace staircase::test {
namespace {

using Arguments = std::vector<std::string>;
using Numbers = Elements<double>;
using LongNumbers = std::vector<long double>;

std::string program;
bool inverted = false, recursive = false, precomputed = false;

/// The number of rows of the diagonal blocks that programs invert.
constexpr std::size_t block = 64;

/// L, whose upper triangle is never used, and b.
struct System {
  Numbers l, b;

  std::size_t size() const { return b.size(); }
  long double operator()(std::size_t i, std::size_t j) const { return l[i * size() + j]; }
};

ProcessResult run(const System& system, Arguments arguments, const std::string& output,
                  const ProcessOptions& options = {}) {
  const Directory directory;
  const std::size_t n = system.size();
  write_npy(directory / "l.npy", {{n, n}, system.l});
  write_npy(directory / "b.npy", {{n}, system.b});
  const Arguments files{program, "--input", directory / "l.npy", "--input", directory / "b.npy"};
  arguments.insert(arguments.begin(), files.begin(), files.end());
  if (!output.empty()) arguments.insert(arguments.end(), {"--output", output});
  return run_process(arguments, options);
}

/// The solution that the program computes for a system.
Numbers solve(const System& system, const std::string& precision, Arguments arguments = {},
              const ProcessOptions& options = {}) {
  const Directory directory;
  arguments.insert(arguments.end(), {"--precision", precision});
  const ProcessResult result = run(system, arguments, directory / "x.npy", options);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {};
  NpyArray x = read_npy(directory / "x.npy");
  EXPECT_EQ(x.shape, std::vector{system.size()});
  return std::move(x).as_double();
}

/// γ_n = n u / (1 - n u) for the unit roundoff u of a precision.
long double gamma(std::size_t n, const std::string& precision) {
  const long double nu = static_cast<long double>(n) * (precision == "f64" ? 0x1p-53L : 0x1p-24L);
  return nu / (1 - nu);
}

/// The sum of the products of L's elements in row i, columns `first` to last - 1, with the
/// unknowns, and the sum of the products' magnitudes.
struct Sums {
  long double value = 0, magnitude = 0;
};
Sums product(const System& system, std::size_t i, std::size_t first, std::size_t last,
             const Numbers& x) {
  Sums sums;
  for (std::size_t j = first; j < last; ++j) {
    const long double term = system(i, j) * x[j];
    sums.value += term;
    sums.magnitude += std::abs(term);
  }
  return sums;
}

/// The inverse of the diagonal block in rows and columns `first` to last - 1.
LongNumbers inverse(const System& system, std::size_t first, std::size_t last) {
  const std::size_t size = last - first;
  LongNumbers inverse(size * size);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = j; i < size; ++i) {
      long double sum = i == j ? 1 : 0;
      for (std::size_t k = j; k < i; ++k)
        sum -= system(first + i, first + k) * inverse[k * size + j];
      inverse[i * size + j] = sum / system(first + i, first + i);
    }
  return inverse;
}

/// The product |L| |L⁻¹| |c| for the diagonal block that begins in row `first`.
LongNumbers spread(const System& system, std::size_t first, const LongNumbers& c) {
  const std::size_t size = c.size();
  const LongNumbers of_block = inverse(system, first, first + size);
  LongNumbers sizes(size), sums(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) sizes[i] += std::abs(of_block[i * size + j] * c[j]);
    for (std::size_t j = 0; j <= i; ++j)
      sums[i] += std::abs(system(first + i, first + j)) * sizes[j];
  }
  return sums;
}

/// E |c| for a diagonal block that is inverted by halves, where |L X̂ - I| is within γ E. For [A 0;
/// C B], with inverses X of A and Y of B, fl(-Y fl(C X)) leaves (I - B Y) C X and the roundings of
/// both products. E therefore consists of E(A) and E(B) on the diagonal, and of (E(B) + |B| |Y|)
/// |C| |X| below it.
LongNumbers left_by_halves(const System& system, std::size_t first, const LongNumbers& c) {
  const std::size_t size = c.size();
  const LongNumbers of_block = inverse(system, first, first + size);
  const auto l = [&](std::size_t i, std::size_t j) {
    return std::abs(system(first + i, first + j));
  };
  LongNumbers left(size * size), sums(size);
  for (std::size_t i = 0; i < size; ++i) left[i * size + i] = 1;
  for (std::size_t half = 1; half < size; half *= 2)
    for (std::size_t middle = half; middle < size; middle += 2 * half) {
      const std::size_t top = middle - half, end = std::min(middle + half, size);
      LongNumbers right(half * half);  // |C| |X|
      for (std::size_t i = middle; i < end; ++i)
        for (std::size_t j = top; j < middle; ++j)
          for (std::size_t k = j; k < middle; ++k)
            right[(i - middle) * half + j - top] += l(i, k) * std::abs(of_block[k * size + j]);
      for (std::size_t i = middle; i < end; ++i)
        for (std::size_t m = middle; m <= i; ++m) {
          long double factor = left[i * size + m];
          for (std::size_t k = m; k <= i; ++k) factor += l(i, k) * std::abs(of_block[k * size + m]);
          for (std::size_t j = top; j < middle; ++j)
            left[i * size + j] += factor * right[(m - middle) * half + j - top];
        }
    }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) sums[i] += left[i * size + j] * std::abs(c[j]);
  return sums;
}

/// Whether |b - L x| is within γ_n |L| |x| in each row, for any order of summation (Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., Theorem 8.5).
testing::AssertionResult is_within_bound(const System& system, const Numbers& x,
                                         const std::string& precision) {
  if (x.size() != system.size()) return testing::AssertionFailure() << "not the size of b";
  const long double bound = gamma(system.size(), precision);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto [value, magnitude] = product(system, i, 0, i + 1, x);
    const long double residual = std::abs(system.b[i] - value);
    if (!std::isfinite(magnitude) || !(residual <= bound * magnitude * (1 + 1e-9L)))
      return testing::AssertionFailure()
             << fmt::format("row {} of {} leaves {} and may leave {}", i, x.size(),
                            static_cast<double>(residual), static_cast<double>(bound * magnitude));
  }
  return testing::AssertionSuccess();
}

/// The check of is_within_bound() for programs in which a block's unknowns are X̂ c, with c the
/// partially updated part of b. The inverse X̂ satisfies |L X̂ - I| <= γ |L| |X̂| (Du Croz and
/// Higham, "Stability of Methods for Matrix Inversion", IMA Journal of Numerical Analysis 12, 1992,
/// method 1). The bound is γ_n (|c| + |L| |x|) + 2 γ |L| |L⁻¹| |c|, where L in the last term is the
/// diagonal block. The programs compute X̂ with divisions instead of multiplications, for which
/// three more roundings are allowed. The last term counts γ |L| |L⁻¹| |c| twice. If blocks are
/// inverted by halves, γ E |c| replaces one of these two products, with the E of left_by_halves().
/// If the block N on the left of the diagonal is multiplied by the inverse, unknowns are X̂ c' +
/// fl(-X̂ N) x', where x' are the unknowns of the previous block and c' = c + N x'. In the other
/// product, |c'| + |N| |x'| then replaces |c|, because c may cancel, and γ covers sums of 64 and of
/// 128 terms.
testing::AssertionResult is_within_inverted_bound(const System& system, const Numbers& x,
                                                  const std::string& precision) {
  const std::size_t n = system.size();
  if (x.size() != n) return testing::AssertionFailure() << "not the size of b";
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t last = std::min(first + block, n);
    LongNumbers c(last - first);
    LongNumbers multiplied(last - first);
    const std::size_t near = precomputed && first > 0 ? first - block : first;
    for (std::size_t i = first; i < last; ++i) {
      c[i - first] = system.b[i] - product(system, i, 0, first, x).value;
      multiplied[i - first] = std::abs(system.b[i] - product(system, i, 0, near, x).value) +
                              product(system, i, near, first, x).magnitude;
    }
    const LongNumbers sums = spread(system, first, multiplied);
    const LongNumbers left = recursive ? left_by_halves(system, first, c) : sums;
    for (std::size_t i = first; i < last; ++i) {
      const long double bound =
          gamma(n + 2, precision) *
              (std::abs(c[i - first]) + product(system, i, 0, first, x).magnitude) +
          gamma((precomputed ? 3 * block : block) + 3, precision) * sums[i - first] +
          gamma(block + 3, precision) * left[i - first];
      const long double residual =
          std::abs(c[i - first] - product(system, i, first, i + 1, x).value);
      if (!std::isfinite(x[i]) || !(residual <= bound))
        return testing::AssertionFailure()
               << fmt::format("row {} of {} leaves {} and may leave {}", i, n,
                              static_cast<double>(residual), static_cast<double>(bound));
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult is_right(const System& system, const Numbers& x,
                                  const std::string& precision) {
  return inverted ? is_within_inverted_bound(system, x, precision)
                  : is_within_bound(system, x, precision);
}

/// The product of |L| and a bound for |x|, which is |x| itself or |L⁻¹| |b|.
LongNumbers spread_of(const System& system, const Numbers& x) {
  if (inverted) return spread(system, 0, LongNumbers(system.b.begin(), system.b.end()));
  LongNumbers sums(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] = product(system, i, 0, i + 1, x).magnitude;
  return sums;
}

/// Whether the program accepts only one right-hand side.
bool takes_one_side() {
  const ProcessResult described = run_process({program, "--describe"});
  return nlohmann::json::parse(described.out).at("limits").contains("rhs");
}

/// Sizes around multiples of the sizes of warps and blocks, primes, and a random size.
std::vector<std::size_t> sizes(std::mt19937_64& random) {
  return {1, 2, 3, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 257, 383, 509, 1 + random() % 400};
}

/// Tests on fresh random systems.
class Residual : public testing::Test {
 protected:
  double normal() { return normal_(random_); }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  std::mt19937_64& random() { return random_; }

  /// A number that f32 represents exactly.
  static double rounded(double x) { return static_cast<float>(x); }

  /// A system with element(i, j) in the lower triangle, and values above it that must have no
  /// effect.
  template <typename Element>
  System system_of(std::size_t n, Element element) {
    System system{Numbers(n * n), Numbers(n)};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        system.l[i * n + j] = rounded(j <= i ? element(i, j) : 1e15 * uniform(-1, 1));
      system.b[i] = rounded(normal());
    }
    return system;
  }

  /// A pivot from 1 to 2 in magnitude.
  double pivot() { return std::copysign(uniform(1, 2), normal()); }

  System well_conditioned(std::size_t n) {
    return system_of(n, [&](std::size_t i, std::size_t j) {
      return i == j ? pivot() : normal() / static_cast<double>(n);
    });
  }

  void expect_right(const System& system, const Arguments& arguments = {}) {
    for (const std::string precision : {"f64", "f32"})
      EXPECT_TRUE(is_right(system, solve(system, precision, arguments), precision))
          << system.size() << " unknowns in " << precision;
  }

 private:
  unsigned seed_ = fresh_seed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("STAIRCASE_TEST_SEED={}", seed_)};
  std::mt19937_64 random_{seed_};
  std::normal_distribution<double> normal_;
};

TEST_F(Residual, OfWellConditionedSystemsIsSmall) {
  for (const std::size_t n : sizes(random())) expect_right(well_conditioned(n));
}

TEST_F(Residual, OfGradedSystemsIsSmallInEachRow) {
  for (const std::size_t n : sizes(random())) {
    const auto grade = [&](std::size_t i) {
      return std::pow(10, -6 * static_cast<double>(i) / static_cast<double>(n));
    };
    expect_right(system_of(n, [&](std::size_t i, std::size_t j) {  // rows shrink
      return grade(i) * (i == j ? pivot() : normal() / static_cast<double>(n));
    }));
    expect_right(system_of(n, [&](std::size_t i, std::size_t j) {  // columns shrink
      return grade(j) * (i == j ? pivot() : normal() / static_cast<double>(n));
    }));
    expect_right(system_of(n, [&](std::size_t i, std::size_t j) {  // large values below the
                                                                   // diagonal
      return grade(i) * (i == j ? pivot() : normal() / std::sqrt(static_cast<double>(n)));
    }));
  }
}

/// The condition number of such triangles doubles with each row (Viswanath and Trefethen 1998).
TEST_F(Residual, OfIllConditionedSystemsIsSmall) {
  for (const std::size_t n : {1, 2, 5, 31, 32, 33, 47})
    expect_right(system_of(n, [&](std::size_t i, std::size_t j) {
      const double element = normal();
      return i == j ? std::copysign(std::max(std::abs(element), 0.05), element) : element;
    }));
  for (const std::size_t n : {129, 257, 300})
    expect_right(system_of(n, [&](std::size_t i, std::size_t j) {
      return i == j ? pivot() : normal() * std::sqrt(30 / static_cast<double>(n));
    }));
}

TEST_F(Residual, IsSmallWithOnesOnTheDiagonal) {
  for (const std::size_t n : {1, 2, 33, 128, 131, 290}) {
    System system = well_conditioned(n);
    System given = system;
    for (std::size_t i = 0; i < n; ++i) {
      system.l[i * n + i] = 1;
      given.l[i * n + i] = i % 3 == 0 ? 0 : normal();  // the program must not read this element
    }
    for (const std::string precision : {"f64", "f32"})
      EXPECT_TRUE(is_right(system, solve(given, precision, {"--set", "unit=1"}), precision)) << n;
  }
}

TEST_F(Residual, IsSmallWithAnyNumberOfThreads) {
  // Stage 20 gives each thread four blocks of 64 rows, so three threads need more than 704 rows.
  const System system = well_conditioned(program.ends_with("-cpu") ? 300 : 900);
  for (const char* threads : {"1", "2", "3"})
    EXPECT_TRUE(is_right(
        system,
        solve(system, "f64", {}, {.environment = {fmt::format("OMP_NUM_THREADS={}", threads)}}),
        "f64"))
        << threads;
}

/// Programs that store all of L at once ignore this option.
TEST_F(Residual, IsSmallWithinABudget) {
  for (const std::size_t n : {1, 64, 129, 200, 257, 509}) {
    const System system = well_conditioned(n);
    const std::size_t of_block = 2 * 64 * ((n + 63) / 64 * 64) * 8;
    for (const std::size_t budget : {of_block, 2 * of_block + 7, 3 * of_block})
      expect_right(system, {"--set", fmt::format("budget={}", budget)});
  }
  // This system has more than two panels of the size that is used without a budget.
  if (program.find("-09_") != std::string::npos) expect_right(well_conditioned(2100));
}

TEST_F(Residual, IsNotComputedWithinABudgetForNoPanel) {
  const System system = well_conditioned(100);
  const Directory directory;
  const ProcessResult result = run(system, {"--set", "budget=131071"}, directory / "x.npy");
  if (program.find("-09_") == std::string::npos) {
    EXPECT_EQ(result.status, 0) << result.err;
  } else {
    expect_refusal(result, 3, {"the budget is 131071 bytes", "take 131072"});
    EXPECT_TRUE(directory.files().empty());
  }
}

/// Integers with 1 or -1 on the diagonal: no operation rounds.
TEST_F(Residual, OfIntegersIsZero) {
  for (const std::size_t n : {1, 2, 33, 130, 300}) {
    Numbers x(n);
    System system = system_of(n, [&](std::size_t i, std::size_t j) {
      return i == j ? (random()() % 2 == 0 ? 1 : -1) : (i - j == 1 || j + 17 == i ? 1 : 0);
    });
    for (double& value : x) value = static_cast<double>(random()() % 9) - 4;
    for (std::size_t i = 0; i < n; ++i)
      system.b[i] = static_cast<double>(product(system, i, 0, i + 1, x).value);
    // The elements of the inverse of such a block are integers, too. They are as large as several
    // million.
    for (const std::string& precision : inverted ? Arguments{"f64"} : Arguments{"f64", "f32"})
      EXPECT_EQ(solve(system, precision), x) << n << " unknowns in " << precision;
  }
}

/// For two solutions x and x' whose residuals are within their bound, the difference |x - x'| is
/// within 2 γ_n |L⁻¹| |L| |x|.
TEST_F(Residual, LeavesTheSolutionOfLapack) {
  for (const std::size_t n : {1, 2, 33, 129, 200}) {
    const System system = well_conditioned(n);
    Numbers expected = system.b;
    const auto order = static_cast<lapack_int>(n);
    ASSERT_EQ(LAPACKE_dtrtrs(LAPACK_ROW_MAJOR, 'L', 'N', 'N', order, 1, system.l.data(), order,
                             expected.data(), 1),
              0);
    const Numbers x = solve(system, "f64");
    ASSERT_EQ(x.size(), n);
    const LongNumbers whole = inverse(system, 0, n), sums = spread_of(system, x);
    for (std::size_t i = 0; i < n; ++i) {
      long double bound = 0;
      for (std::size_t j = 0; j <= i; ++j)
        bound += 3 * gamma(n + 3, "f64") * std::abs(whole[i * n + j]) * sums[j];
      ASSERT_LE(std::abs(x[i] - expected[i]), bound) << i << " of " << n;
    }
  }
}

// --- Many right-hand sides, and the transpose

/// L, and right-hand sides as the columns of a matrix with n rows.
struct Systems {
  Numbers l, b;
  std::size_t n, sides;

  System of(std::size_t side) const { return {l, column(b, side)}; }
  Numbers column(const Numbers& matrix, std::size_t side) const {
    Numbers of_side(n);
    for (std::size_t i = 0; i < n; ++i) of_side[i] = matrix[i * sides + side];
    return of_side;
  }
};

/// The solution that the program computes for a matrix of right-hand sides, in the program's shape.
NpyArray solve(const Systems& systems, const std::string& precision, Arguments arguments = {}) {
  const Directory directory;
  write_npy(directory / "l.npy", {{systems.n, systems.n}, systems.l});
  write_npy(directory / "b.npy", {{systems.n, systems.sides}, systems.b});
  const Arguments command{program,   "--input",           directory / "l.npy",
                          "--input", directory / "b.npy", "--precision",
                          precision, "--output",          directory / "x.npy"};
  arguments.insert(arguments.begin(), command.begin(), command.end());
  const ProcessResult result = run_process(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? read_npy(directory / "x.npy") : NpyArray{};
}

/// Tests of programs that accept more than one right-hand side.
class Sides : public Residual {
 protected:
  Systems systems(std::size_t n, std::size_t sides) {
    Systems systems{well_conditioned(n).l, Numbers(n * sides), n, sides};
    for (double& value : systems.b) value = rounded(normal());
    return systems;
  }
};

/// Sizes around those of warps and blocks, with more or fewer right-hand sides than unknowns.
/// Libraries multiply at least by the inverses of pivots, which adds one rounding compared with a
/// division.
TEST_F(Sides, AreSolvedEachWithinItsBound) {
  const bool of_library = program.find("baseline") != std::string::npos;
  const auto check = of_library ? is_within_inverted_bound : is_right;
  for (const auto& [n, sides] : {std::pair{1, 1},
                                 {1, 70},
                                 {3, 2},
                                 {2, 3},
                                 {31, 33},
                                 {33, 31},
                                 {64, 64},
                                 {65, 65},
                                 {129, 2},
                                 {200, 67},
                                 {5, 131},
                                 {257, 3}}) {
    const Systems given = systems(n, sides);
    for (const std::string precision : {"f64", "f32"}) {
      const NpyArray x = solve(given, precision);
      ASSERT_EQ(x.shape, (std::vector{given.n, given.sides}));
      for (std::size_t side = 0; side < given.sides; ++side)
        EXPECT_TRUE(check(given.of(side), given.column(x.as_double(), side), precision))
            << "side " << side << " of " << sides << ", " << n << " unknowns in " << precision;
    }
  }
}

/// Compares the solutions with those of LAPACK, like LeavesTheSolutionOfLapack for one right-hand
/// side.
TEST_F(Sides, AreThoseOfLapack) {
  for (const auto& [n, sides] : {std::pair{33, 31}, {65, 2}, {130, 65}}) {
    const Systems given = systems(n, sides);
    Numbers expected = given.b;
    ASSERT_EQ(LAPACKE_dtrtrs(LAPACK_ROW_MAJOR, 'L', 'N', 'N', n, sides, given.l.data(), n,
                             expected.data(), sides),
              0);
    const Numbers x = solve(given, "f64").as_double();
    ASSERT_EQ(x.size(), expected.size());
    const LongNumbers whole = inverse(given.of(0), 0, n);
    for (std::size_t side = 0; side < given.sides; ++side) {
      const LongNumbers sums = spread_of(given.of(side), given.column(x, side));
      for (std::size_t i = 0; i < given.n; ++i) {
        long double bound = 0;
        for (std::size_t j = 0; j <= i; ++j)
          bound += 3 * gamma(n + 3, "f64") * std::abs(whole[i * n + j]) * sums[j];
        ASSERT_LE(std::abs(x[i * sides + side] - expected[i * sides + side]), bound);
      }
    }
  }
}

/// The solution has the shape of the right-hand side: a vector, or a matrix of one column.
TEST_F(Residual, HasTheShapeOfTheRightHandSide) {
  const System system = well_conditioned(40);
  const NpyArray x = solve(Systems{system.l, system.b, 40, 1}, "f64");
  EXPECT_EQ(x.shape, (std::vector<std::size_t>{40, 1}));
  EXPECT_EQ(x.as_double(), solve(system, "f64"));
}

/// The transpose of L is an upper triangle. With its equations and unknowns in reverse order, it is
/// a lower triangle again, so the same bound holds.
TEST_F(Residual, OfTheTransposeIsSmall) {
  for (const std::size_t n : {1, 2, 33, 64, 65, 129, 200}) {
    const System system = well_conditioned(n);
    System reversed{Numbers(n * n), Numbers(system.b.rbegin(), system.b.rend())};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        reversed.l[i * n + j] = system.l[(n - 1 - j) * n + n - 1 - i];
    for (const std::string precision : {"f64", "f32"}) {
      Numbers x = solve(system, precision, {"--set", "transposed=1"});
      std::reverse(x.begin(), x.end());
      EXPECT_TRUE(is_right(reversed, x, precision)) << n << " unknowns in " << precision;
    }
  }
}

/// Integers with ones on the diagonal: no operation rounds.
TEST_F(Residual, OfTheTransposeOfIntegersIsZero) {
  for (const std::size_t n : {2, 65, 130}) {
    Numbers x(n);
    System system = system_of(n, [&](std::size_t i, std::size_t j) {
      return i == j ? 1 : (i - j == 1 || j + 17 == i ? 1 : 0);
    });
    for (double& value : x) value = static_cast<double>(random()() % 9) - 4;
    for (std::size_t i = 0; i < n; ++i) {
      system.b[i] = 0;
      for (std::size_t k = i; k < n; ++k) system.b[i] += system.l[k * n + i] * x[k];
    }
    EXPECT_EQ(solve(system, "f64", {"--set", "transposed=1"}), x) << n;
  }
}

// --- Refused systems

TEST_F(Residual, IsNotComputedWithMoreSidesThanTheStageTakes) {
  if (!takes_one_side()) return;
  const Directory directory;
  write_npy(directory / "l.npy", {{2, 2}, Numbers{1, 0, 1, 1}});
  write_npy(directory / "b.npy", {{2, 3}, Numbers(6, 1)});
  expect_refusal(
      run_process({program, "--input", directory / "l.npy", "--input", directory / "b.npy"}), 77,
      {"this stage takes rhs up to 1, not 3"});
}

TEST_F(Residual, IsNotComputedWithoutAPivot) {
  const Directory directory;
  for (const std::size_t at : {0, 1, 31, 32, 127, 128, 129}) {
    System system = well_conditioned(130);
    system.l[at * 130 + at] = 0;
    system.l[129 * 130 + 129] = 0;  // the first zero is named
    for (const char* precision : {"f64", "f32"})
      expect_refusal(run(system, {"--precision", precision}, directory / "x.npy"), 2,
                     {fmt::format("pivot {} on", at), "is 0", "unit=1"});
  }
  EXPECT_TRUE(directory.files().empty());
}

TEST_F(Residual, IsNotComputedWithAPivotThatIsZeroInF32) {
  System system = well_conditioned(40);
  system.l[7 * 40 + 7] = 1e-60;
  expect_refusal(run(system, {"--precision", "f32"}, ""), 2, {"pivot 7 on", "1e-60", "f32"});
  EXPECT_TRUE(is_right(system, solve(system, "f64"), "f64"));
}

TEST_F(Residual, IsNotComputedWithNaNs) {
  for (const double value : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    System system = well_conditioned(33);
    system.l[20 * 33 + 20] = value;
    expect_refusal(run(system, {}, ""), 2, {"l.npy", fmt::format("element {}", 20 * 33 + 20)});
  }
}

/// Unknowns of later blocks are NaN, and the program must not wait for them.
TEST_F(Residual, IsNotComputedWhereUnknownsOverflow) {
  constexpr std::size_t n = 200;
  System system = well_conditioned(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) system.l[i * n + j] = i - j == 1 ? -1e15 : 0;
    system.l[i * n + i] = 1;
    system.b[i] = 1;
  }
  for (const char* precision : {"f64", "f32"})
    expect_refusal(run(system, {"--precision", precision}, ""), 2, {"unknown ", "overflows"});
}

/// Substitution solves these systems, but their diagonal block has no inverse in f32.
TEST_F(Residual, IsNotComputedWhereAnInverseOverflows) {
  constexpr std::size_t n = 64;
  System growing = system_of(n, [](std::size_t i, std::size_t j) { return i == j ? 1 : -1000; });
  for (std::size_t i = 0; i < n; ++i) growing.b[i] = 1 - 1000 * static_cast<double>(i);
  System small_pivot = system_of(n, [](std::size_t i, std::size_t j) { return i == j ? 1 : 0; });
  small_pivot.l[7 * n + 7] = small_pivot.b[7] = rounded(1e-39);
  for (double& value : small_pivot.b) value = value == small_pivot.b[7] ? value : 1;
  for (const auto& [system, column] : {std::pair{growing, 0}, std::pair{small_pivot, 7}})
    if (inverted)
      expect_refusal(run(system, {"--precision", "f32"}, ""), 2,
                     {fmt::format("column {} of the inverses of the blocks", column), "overflows"});
    else
      EXPECT_EQ(solve(system, "f32"), Numbers(n, 1));
}

TEST_F(Residual, IsNotComputedWithShapesThatDoNotFit) {
  const Directory directory;
  write_npy(directory / "l.npy", {{3, 4}, Numbers(12, 1)});
  write_npy(directory / "b.npy", {{3}, Numbers(3, 1)});
  const auto run_both = [&] {
    return run_process({program, "--input", directory / "l.npy", "--input", directory / "b.npy"});
  };
  expect_refusal(run_both(), 2, {"L has 3 rows and 4 columns"});
  write_npy(directory / "l.npy", {{4, 4}, Numbers(16, 1)});
  expect_refusal(run_both(), 2, {"b has 3 elements and L has 4 rows"});
}

// --- The checks themselves

/// A solution that this test computes by substitution in long double.
Numbers right_solution(const System& system) {
  Numbers x(system.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>((system.b[i] - product(system, i, 0, i, x).value) / system(i, i));
  return x;
}

TEST_F(Residual, ChecksCatchWrongSolutions) {
  for (const std::size_t n : {7, 200}) {
    const System system = well_conditioned(n);
    const Numbers right = right_solution(system);
    for (const auto& check : {is_within_bound, is_within_inverted_bound}) {
      EXPECT_TRUE(check(system, right, "f64"));
      const auto caught = [&](auto plant) {
        Numbers x = right;
        plant(x);
        return !check(system, x, "f64");
      };
      EXPECT_TRUE(caught([](Numbers& x) { x[5] *= 1 + 1e-11; }));
      EXPECT_TRUE(caught([](Numbers& x) { std::swap(x[2], x[3]); }));
      EXPECT_TRUE(caught([](Numbers& x) { x.back() = std::nan(""); }));
      EXPECT_TRUE(caught([](Numbers& x) { x.front() = INFINITY; }));
      EXPECT_TRUE(caught([](Numbers& x) { x.pop_back(); }));
      EXPECT_TRUE(caught([](Numbers& x) {
        for (double& value : x) value = static_cast<float>(value);  // f32 values in place of f64
                                                                    // values
      }));
    }
  }
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    fmt::print(
        stderr,
        "usage: triangular_solve_test PROGRAM [inverted | recursive | precomputed] "
        "[GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::program = std::filesystem::absolute(argv[1]);
  const std::string kind = argc > 2 ? argv[2] : "";
  staircase::test::precomputed = kind == "precomputed";
  staircase::test::recursive = kind == "recursive" || kind == "precomputed";
  staircase::test::inverted = kind == "inverted" || staircase::test::recursive;
  staircase::test::try_device(staircase::test::program, {"Residual", "Sides"});
  if (staircase::test::takes_one_side()) staircase::test::leave_out("Sides.*");
  return staircase::test::run_all_tests();
}
