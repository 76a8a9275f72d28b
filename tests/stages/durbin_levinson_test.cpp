/// \file
/// Checks a program of the Durbin-Levinson recursion against independently known results:
/// durbin_levinson_test PROGRAM [large]. The large cases are for fast programs.
///
/// Partial autocorrelations of ARFIMA(0, d, 0) are known exactly. Autocorrelations that are
/// computed from random reflection coefficients must reproduce these coefficients. A direct product
/// yields the residual of y.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <limits>
#include <numeric>
#include <random>

#include "support.hpp"

namespace staircase::test {
namespace {

using Numbers = Elements<double>;
using LongNumbers = std::vector<long double>;
using Arguments = std::vector<std::string>;

std::string program;

/// Both rows of a solution.
struct Solved {
  Numbers y, alpha;
};

ProcessResult run(Arguments arguments, const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), program);
  return run_process(arguments, options);
}

/// The solution that the program computes; empty, with a failed test, if the program fails.
Solved solve(Arguments arguments, const std::string& precision,
             const ProcessOptions& options = {}) {
  const Directory directory;
  arguments.insert(arguments.end(),
                   {"--precision", precision, "--output", directory / "solution.npy"});
  const ProcessResult result = run(arguments, options);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {};
  const NpyArray solution = read_npy(directory / "solution.npy");
  EXPECT_EQ(solution.shape.size(), 2u);
  EXPECT_EQ(solution.shape.at(0), 2u);
  const Numbers values = solution.as_double();
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  return {{values.begin(), half}, {half, values.end()}};
}

/// The precisions that the program offers.
const Arguments& precisions() {
  static const Arguments precisions =
      nlohmann::json::parse(run({"--describe"}).out).at("precisions");
  return precisions;
}

/// The unit roundoff: half the distance from 1 to the next number.
long double unit(const std::string& precision) { return precision == "f64" ? 0x1p-53L : 0x1p-24L; }

/// The numbers after rounding to a precision.
Numbers rounded(Numbers numbers, const std::string& precision) {
  if (precision == "f32")
    for (double& x : numbers) x = static_cast<float>(x);
  return numbers;
}

/// Values that do not change the size of a problem; with sanitizers, only the first value.
template <typename T>
std::vector<T> watched(std::initializer_list<T> numbers) {
  return {numbers.begin(), SANITIZED ? numbers.begin() + 1 : numbers.end()};
}

// --- Known results

/// The partial autocorrelations of ARFIMA(0, d, 0) with the sign of reflection coefficients.
Numbers arfima_coefficients(std::size_t n, double d) {
  Numbers alpha;
  for (std::size_t k = 1; k <= n; ++k) alpha.push_back(-d / (static_cast<double>(k) - d));
  return alpha;
}

/// The autocorrelations r_0 ... r_n with these reflection coefficients: the recursion solved for r
/// instead of alpha.
Numbers autocorrelations_of(const Numbers& alpha) {
  LongNumbers r{1}, y;
  long double beta = 1;
  for (const long double a : alpha) {
    const std::size_t k = y.size();
    r.push_back(-a * beta - std::transform_reduce(y.begin(), y.end(), r.rbegin(), 0.0L));
    LongNumbers longer(k + 1, a);
    for (std::size_t i = 0; i < k; ++i) longer[i] = y[i] + a * y[k - 1 - i];
    y = longer;
    beta *= 1 - a * a;
  }
  return {r.begin(), r.end()};
}

/// ‖T y + r‖ / ‖r‖, by a direct product.
long double residual(const Numbers& r, const Numbers& y) {
  const std::size_t n = y.size();
  const LongNumbers numbers(y.begin(), y.end());
  // The last row of T, followed by the first row without its first element.
  LongNumbers rows(r.rend() - static_cast<std::ptrdiff_t>(n), r.rend());
  rows.insert(rows.end(), r.begin() + 1, r.begin() + static_cast<std::ptrdiff_t>(n));
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = rows.end() - static_cast<std::ptrdiff_t>(n + i);
    const long double sum = std::transform_reduce(numbers.begin(), numbers.end(), row,
                                                  static_cast<long double>(r[i + 1]));
    error += sum * sum;
    norm += static_cast<long double>(r[i + 1]) * r[i + 1];
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

/// A bound for the residual that rounding causes. Cybenko ("The numerical stability of the
/// Levinson-Durbin algorithm for Toeplitz systems of equations", SIAM J. Sci. Stat. Comput. 1(3),
/// 1980) bounds the residual by the product of all 1 + |alpha_k| times a power of n. If positive
/// and negative errors are equally frequent, this power becomes √n.
long double residual_bound(const Numbers& alpha, const std::string& precision) {
  long double product = 1;
  for (const double a : alpha) product *= 1 + std::abs(a);
  return 4 * unit(precision) * std::sqrt(static_cast<long double>(alpha.size())) * product;
}

/// The largest error of a reflection coefficient.
long double largest_error(const Numbers& alpha, const Numbers& exact) {
  if (alpha.size() != exact.size()) return std::numeric_limits<long double>::infinity();
  long double largest = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const long double error = std::abs(static_cast<long double>(alpha[k]) - exact[k]);
    if (!(error <= largest)) largest = error;
    if (std::isnan(error)) break;
  }
  return largest;
}

/// A bound for the error of reflection coefficients that rounding causes: 4 u (u is the unit
/// roundoff) times bounds for the row sums of |T| and of |T⁻¹|. The bound for |T⁻¹| is Cybenko's:
/// the product of (1 + |alpha_k|) / (1 - |alpha_k|).
long double coefficient_bound(const Numbers& r, const Numbers& alpha,
                              const std::string& precision) {
  long double row = 1, inverse = 1;
  for (std::size_t k = 1; k < r.size(); ++k) row += 2 * std::abs(r[k]);
  for (const double a : alpha) inverse *= (1 + std::abs(a)) / (1 - std::abs(a));
  return 4 * unit(precision) * row * inverse;
}

/// A tighter bound for ARFIMA, because coefficient_bound() is far too large for a large matrix. The
/// bound is 4 u √n / beta², where beta is the product of 1 - alpha_k² over all k.
long double arfima_bound(const Numbers& alpha, const std::string& precision) {
  long double beta = 1;
  for (const double a : alpha) beta *= 1 - static_cast<long double>(a) * a;
  return 4 * unit(precision) * std::sqrt(static_cast<long double>(alpha.size())) / (beta * beta);
}

/// Whether a solution is correct within rounding errors; `bound` limits the errors of the
/// coefficients.
testing::AssertionResult is_right(const Solved& solved, const Numbers& r, const Numbers& alpha,
                                  const std::string& precision, long double bound) {
  const std::size_t n = alpha.size();
  if (solved.y.size() != n || solved.alpha.size() != n)
    return testing::AssertionFailure() << "the rows have not " << n << " numbers";
  const long double off = largest_error(solved.alpha, alpha);
  if (!(off <= bound))
    return testing::AssertionFailure() << "a reflection coefficient is off by " << off;
  const long double left = residual(rounded(r, precision), solved.y);
  if (!(left <= residual_bound(alpha, precision)))
    return testing::AssertionFailure() << "the residual is " << left;
  if (solved.y.back() != solved.alpha.back())
    return testing::AssertionFailure() << "the last of y is not the last reflection coefficient";
  return testing::AssertionSuccess();
}

/// Tests that need a solve.
class Solution : public testing::Test {
 protected:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  /// Random coefficients whose magnitudes are at most start / (1 + k / decay).
  Numbers random_coefficients(std::size_t n, double start, double decay) {
    Numbers alpha(n);
    for (std::size_t k = 0; k < n; ++k)
      alpha[k] = uniform(-1, 1) * start / (1 + static_cast<double>(k) / decay);
    return alpha;
  }

  /// Solves for autocovariances from the user.
  Solved solve_for(const Numbers& r, const std::string& precision) {
    write_npy(directory_ / "r.npy", {{r.size()}, r});
    return solve({"--input", directory_ / "r.npy"}, precision);
  }

  ProcessResult run_for(const Numbers& r, const std::string& precision) {
    write_npy(directory_ / "r.npy", {{r.size()}, r});
    return run({"--input", directory_ / "r.npy", "--precision", precision});
  }

 private:
  Directory directory_;
  unsigned seed_ = fresh_seed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("STAIRCASE_TEST_SEED={}", seed_)};
  std::mt19937_64 random_{seed_};
};

TEST_F(Solution, OfArfimaHasItsPartialAutocorrelations) {
  for (const double d : watched<double>({0.3, -0.4, 0.45, 0.0}))
    for (const std::size_t n : {1, 2, 3, 31, 32, 33, 64, 100, 257, 509, 1000})
      for (const auto& precision : precisions()) {
        SCOPED_TRACE(fmt::format("n = {}, d = {}, {}", n, d, precision));
        const Numbers alpha = arfima_coefficients(n, d);
        const Solved solved = solve(
            {"--set", fmt::format("n={}", n), "--set", fmt::format("d={}", d), "--set", "model=0"},
            precision);
        EXPECT_TRUE(is_right(solved, autocorrelations_of(alpha), alpha, precision,
                             arfima_bound(alpha, precision)));
      }
}

TEST_F(Solution, GivesRandomReflectionCoefficientsBack) {
  for (const auto& [n, start, decay] :
       std::vector<std::tuple<std::size_t, double, double>>{{1, 0.99, 1},
                                                            {2, 0.95, 1e9},
                                                            {12, 0.9, 1e9},
                                                            {30, 0.5, 1e9},
                                                            {65, 0.9, 5},
                                                            {129, 0.7, 10},
                                                            {600, 0.8, 4}})
    for (const auto& precision : precisions()) {
      SCOPED_TRACE(fmt::format("n = {}, {}", n, precision));
      const Numbers alpha = random_coefficients(n, start, decay);
      const Numbers r = autocorrelations_of(alpha);
      EXPECT_TRUE(is_right(solve_for(r, precision), r, alpha, precision,
                           coefficient_bound(r, alpha, precision)));
    }
}

TEST_F(Solution, DoesNotDependOnTheVariance) {
  const Numbers r = autocorrelations_of(random_coefficients(77, 0.8, 5));
  for (const auto& precision : precisions()) {
    const Solved once = solve_for(r, precision);
    const long double bound = coefficient_bound(r, once.alpha, precision);
    for (const double variance : {0x1p-600, 0.3, 1024.0}) {
      Numbers scaled = r;
      for (double& x : scaled) x *= variance;
      const Solved again = solve_for(scaled, precision);
      EXPECT_LE(largest_error(again.y, once.y), bound) << variance;
      EXPECT_LE(largest_error(again.alpha, once.alpha), bound) << variance;
    }
  }
}

TEST_F(Solution, SolvesLargeSystemsByAnyNumberOfThreads) {
  const std::size_t n = 10007;
  const Numbers alpha = arfima_coefficients(n, 0.3), r = autocorrelations_of(alpha);
  // Threads wait for each other at each step. Each number of threads is tested in one precision,
  // and the largest number in the precision in which a system takes the most memory.
  for (const auto& precision : precisions())
    for (const std::string& threads : precision == "f64" ? Arguments{"1", "3"} : Arguments{"2"}) {
      SCOPED_TRACE(fmt::format("{}, {} threads", precision, threads));
      const Solved solved = solve({"--set", fmt::format("n={}", n)}, precision,
                                  {.environment = {fmt::format("OMP_NUM_THREADS={}", threads)}});
      EXPECT_TRUE(is_right(solved, r, alpha, precision, arfima_bound(alpha, precision)));
    }
}

// --- Refused input

TEST_F(Solution, IsRefusedWithoutAPositiveVariance) {
  for (const double variance : {0.0, -0.0, -1.0})
    expect_refusal(run_for({variance, 0.5, 0.2}, "f64"), 2, {"r_0", "greater than 0"});
}

TEST_F(Solution, IsRefusedWithoutUnknowns) {
  expect_refusal(run_for({1}, "f64"), 2, {"r.npy", "1 element;", "at least 2"});
}

TEST_F(Solution, IsRefusedForWhatIsNotFinite) {
  for (const double value : {std::nan(""), double{INFINITY}, -double{INFINITY}})
    expect_refusal(run_for({1, 0.5, value, 0.1}, "f64"), 2, {"element 2", "from"});
}

TEST_F(Solution, IsRefusedWhereTheMatrixIsNotPositiveDefinite) {
  const auto refused_at = [&](const Numbers& r, std::size_t k) {
    for (const auto& precision : precisions())
      expect_refusal(run_for(r, precision), 2,
                     {"not positive definite",
                      fmt::format("reflection coefficient {} of {} is", k, r.size() - 1)});
  };
  refused_at({1, 0.5, 2}, 2);
  refused_at({1, 1}, 1);
  refused_at({1, -1}, 1);
  refused_at({2, 3, 0.5, 0.1}, 1);
  refused_at({1, 0.5, 0.2, 1e300, 0.1, 0.1}, 3);
}

TEST_F(Solution, IsRefusedWithACoefficientOfOne) {
  const auto refused_with = [&](const Numbers& r, std::size_t k, double alpha) {
    for (const auto& precision : precisions())
      expect_refusal(run_for(r, precision), 2,
                     {fmt::format("coefficient {} of {} is {};", k, r.size() - 1, alpha)});
  };
  refused_with({1, 0.5, -0.5}, 2, 1);
  refused_with({1, -0.5, -0.5, 0.25}, 2, 1);
  refused_with({1, 0.5, 0.25, -0.625, 0.5}, 3, 1);
  for (const double alpha : watched<double>({1.0, -1.0}))
    for (const std::size_t k : {1, 2, 3, 16, 17, 32, 33, 64, 65}) {
      Numbers r(k + 1, 0.0);
      r[0] = 1;
      r[k] = -alpha;
      refused_with(r, k, alpha);
      r.push_back(0.5);
      refused_with(r, k, alpha);
    }
}

TEST_F(Solution, IsRefusedAtTheFirstCoefficientThatIsTooLarge) {
  for (const std::size_t k : {1, 2, 17, 32, 33, 63, 64}) {
    Numbers alpha = random_coefficients(64, 0.5, 8);
    alpha[k - 1] = uniform(1.1, 3) * (uniform(-1, 1) < 0 ? -1 : 1);
    Numbers r = autocorrelations_of(alpha);
    for (const auto& precision : precisions())
      expect_refusal(run_for(r, precision), 2,
                     {fmt::format("reflection coefficient {} of 64 is", k)});
  }
}

// --- The checks themselves

/// A correct solution, computed by Durbin's recursion in long double.
Solved right_solution(const Numbers& alpha) {
  LongNumbers y;
  for (const long double a : alpha) {
    LongNumbers longer(y.size() + 1, a);
    for (std::size_t i = 0; i < y.size(); ++i) longer[i] = y[i] + a * y[y.size() - 1 - i];
    y = longer;
  }
  return {{y.begin(), y.end()}, alpha};
}

TEST(Check, LetsARightSolutionPass) {
  const Numbers alpha = arfima_coefficients(200, 0.3), r = autocorrelations_of(alpha);
  EXPECT_TRUE(is_right(right_solution(alpha), r, alpha, "f64", arfima_bound(alpha, "f64")));
}

TEST(Check, CatchesWrongSolutions) {
  const Numbers alpha = arfima_coefficients(200, 0.3), r = autocorrelations_of(alpha);
  const auto caught = [&](auto plant) {
    Solved solved = right_solution(alpha);
    plant(solved);
    return !is_right(solved, r, alpha, "f64", arfima_bound(alpha, "f64"));
  };
  EXPECT_TRUE(caught([](Solved& s) { s.y[150] *= 1 + 1e-8; })) << "one inexact number of y";
  EXPECT_TRUE(caught([](Solved& s) { s.alpha[150] *= 1 + 1e-8; })) << "one inexact coefficient";
  EXPECT_TRUE(caught([](Solved& s) { std::swap(s.y[7], s.y[8]); })) << "exchanged numbers";
  EXPECT_TRUE(caught([](Solved& s) { s.y[3] = std::nan(""); })) << "a NaN in y";
  EXPECT_TRUE(caught([](Solved& s) { s.alpha[3] = std::nan(""); })) << "a NaN in alpha";
  EXPECT_TRUE(caught([](Solved& s) { s.y.pop_back(); })) << "a missing number";
  EXPECT_TRUE(caught([&](Solved& s) {
    Numbers multiplied = alpha;  // multiplies by beta, whereas the recursion divides by it
    long double beta = 1;
    for (std::size_t k = 1; k < alpha.size(); ++k) {
      beta *= 1 - alpha[k - 1] * alpha[k - 1];
      multiplied[k] *= static_cast<double>(beta * beta);
    }
    s = right_solution(multiplied);
  })) << "multiplied by beta";
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: durbin_levinson_test PROGRAM [large] [GTEST OPTIONS]\n");
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::try_device(staircase::test::program, {"Solution"});
  if (argc < 3 || argv[2] != std::string("large")) staircase::test::leave_out("*.SolvesLarge*");
  return staircase::test::run_all_tests();
}
