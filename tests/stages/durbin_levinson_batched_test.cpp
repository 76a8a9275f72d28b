/// \file
/// Checks a program that solves batches of Yule-Walker systems against known reflection
/// coefficients and a recursion in long double: durbin_levinson_batched_test PROGRAM.
///
/// The autocorrelations are computed from chosen reflection coefficients. The rounding errors of a
/// recursion in long double are 2¹¹ times as small as in f64.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <random>

#include "../../stages/durbin_levinson_batched/durbin_levinson_batched.hpp"
#include "support.hpp"

namespace staircase::test {
namespace {

std::string program;

/// A system whose solution is known.
struct System {
  Elements<double> r;                 // r_0 ... r_n, not normalised
  std::vector<long double> y, alpha;  // y_1 ... y_n, alpha_1 ... alpha_n
  long double condition = 1;          // the product of (1 + |alpha|) / (1 - |alpha|)
};

/// The system with a variance r_0 and given reflection coefficients.
System system_of(double variance, const std::vector<long double>& alpha) {
  System system{{variance}, {}, alpha};
  std::vector<long double> r{1}, &y = system.y;
  long double beta = 1;
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    long double sum = alpha[k] * beta;
    for (std::size_t i = 0; i < k; ++i) sum += r[k - i] * y[i];
    r.push_back(-sum);
    system.r.push_back(static_cast<double>(-sum * variance));
    const std::vector<long double> before = y;
    for (std::size_t i = 0; i < k; ++i) y[i] += alpha[k] * before[k - 1 - i];
    y.push_back(alpha[k]);
    beta *= 1 - alpha[k] * alpha[k];
    system.condition *= (1 + std::abs(alpha[k])) / (1 - std::abs(alpha[k]));
  }
  return system;
}

/// Rows of autocovariances in the form that a program reads.
NpyArray input_of(const std::vector<System>& systems) {
  Elements<double> rows;
  for (const System& system : systems) rows.insert(rows.end(), system.r.begin(), system.r.end());
  return {{systems.size(), systems[0].r.size()}, rows};
}

ProcessResult run_on(const NpyArray& input, const std::string& precision,
                     const std::filesystem::path& output) {
  const Directory directory;
  write_npy(directory / "r.npy", input);
  return run_process(
      {program, "--input", directory / "r.npy", "--precision", precision, "--output", output});
}

/// The highest order that the program accepts.
std::size_t most_unknowns() {
  const auto limits = nlohmann::json::parse(run_process({program, "--describe"}).out).at("limits");
  return limits.value("n", std::size_t{2147483647});
}

/// The solution that the program computes from autocovariances: y and the reflection coefficients
/// of each system.
Elements<double> solution_of(const NpyArray& input, const std::string& precision) {
  const Directory directory;
  const ProcessResult result = run_on(input, precision, directory / "solution.npy");
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {};
  NpyArray solution = read_npy(directory / "solution.npy");
  EXPECT_EQ(solution.shape, (std::vector<std::size_t>{input.shape[0], 2, input.shape[1] - 1}));
  return solution.as_double();
}

double unit_roundoff(const std::string& precision) {
  return precision == "f64" ? 0x1p-53 : 0x1p-24;
}

/// Checks the errors of y and of the reflection coefficients against 4 n u times `condition`, where
/// u is the unit roundoff. This is the bound in Cybenko's "The numerical stability of the
/// Levinson-Durbin algorithm for Toeplitz systems of equations" (SIAM J. Sci. Stat. Comput. 1,
/// 1980) for residuals and errors, up to a small factor.
void expect_solved(const std::vector<System>& systems, const std::string& precision) {
  const Elements<double> solution = solution_of(input_of(systems), precision);
  const std::size_t n = systems[0].alpha.size();
  ASSERT_EQ(solution.size(), systems.size() * 2 * n);
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const auto& [r, y, alpha, condition] = systems[s];
    const long double bound =
        static_cast<long double>(4 * n) * unit_roundoff(precision) * condition;
    for (std::size_t k = 0; k < n; ++k) {
      ASSERT_LE(std::abs(solution[2 * s * n + k] - y[k]), bound)
          << fmt::format("y_{} of system {}, n = {}, {}", k + 1, s, n, precision);
      ASSERT_LE(std::abs(solution[(2 * s + 1) * n + k] - alpha[k]), bound)
          << fmt::format("alpha_{} of system {}, n = {}, {}", k + 1, s, n, precision);
    }
  }
}

/// Tests that need a solve.
class Batch : public testing::Test {
 protected:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  /// Systems with random variances and reflection coefficients of all magnitudes; |alpha_k| is at
  /// most bound / sqrt(k).
  std::vector<System> random_systems(std::size_t count, std::size_t n, double bound) {
    std::vector<System> systems;
    std::vector<long double> alpha(n);
    for (std::size_t s = 0; s < count; ++s) {
      for (std::size_t k = 0; k < n; ++k)
        alpha[k] = uniform(-bound, bound) / std::sqrt(static_cast<double>(k + 1));
      systems.push_back(system_of(std::pow(10, uniform(-30, 30)), alpha));
    }
    return systems;
  }

 private:
  unsigned seed_ = fresh_seed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, fmt::format("STAIRCASE_TEST_SEED={}", seed_)};
  std::mt19937_64 random_{seed_};
};

/// Numbers of systems, and orders. Some of them are multiples of the sizes of warps and tiles, and
/// most are not.
const std::vector<std::pair<std::size_t, std::size_t>> shapes{
    {1, 1},   {2, 1},   {33, 1},  {3, 2},   {31, 15}, {32, 16},  {33, 17}, {65, 31}, {64, 32},
    {63, 33}, {29, 47}, {40, 63}, {97, 64}, {5, 65},  {34, 128}, {3, 257}, {2, 521}};

TEST_F(Batch, HasTheReflectionCoefficientsThatWereChosen) {
  const std::size_t most = most_unknowns();
  for (const auto& [count, n] : shapes) {
    if (n > most) continue;
    const std::vector<System> systems = random_systems(count, n, 0.5);
    for (const char* precision : {"f64", "f32"}) expect_solved(systems, precision);
  }
}

TEST_F(Batch, MayBeHardToPredict) {
  const std::vector<System> noise(40, system_of(2, std::vector<long double>(50, 0)));
  for (const char* precision : {"f64", "f32"}) expect_solved(noise, precision);
}

TEST_F(Batch, MayBeNearlySingular) {
  expect_solved(random_systems(50, 20, 0.99), "f64");
  expect_solved(random_systems(50, 3, 0.99), "f32");
}

TEST_F(Batch, IsMadeOfItsReflectionCoefficients) {
  durbin_levinson_batched::Problem problem{.systems = 70, .n = 41, .seed = 7};
  const auto n = static_cast<std::size_t>(problem.n);
  for (const std::string precision : {"f64", "f32"}) {
    const Directory directory;
    const ProcessResult result =
        run_process({program, "--set", "systems=70", "--set", "n=41", "--set", "seed=7",
                     "--precision", precision, "--output", directory / "solution.npy"});
    ASSERT_EQ(result.status, 0) << result.err;
    const Elements<double> solution = read_npy(directory / "solution.npy").as_double();
    ASSERT_EQ(solution.size(), 70 * 2 * n);
    for (std::size_t s = 0; s < 70; ++s)
      for (std::size_t k = 1; k <= n; ++k)
        ASSERT_NEAR(solution[(2 * s + 1) * n + k - 1],
                    durbin_levinson_batched::reflection_coefficient(problem, s, k),
                    1000 * unit_roundoff(precision))
            << s << ", " << k;
  }
}

TEST_F(Batch, SolvesEachSystemAsIfItWereAlone) {
  const std::size_t most = most_unknowns();
  for (const std::size_t n : {30, 64, 70}) {
    if (n > most) continue;
    std::vector<System> systems = random_systems(37, n, 0.5);
    const Elements<double> together = solution_of(input_of(systems), "f64");
    ASSERT_EQ(together.size(), 37 * 2 * n);
    for (const std::size_t s : {0, 5, 31, 32, 36}) {
      const Elements<double> alone = solution_of(input_of({systems[s]}), "f64");
      ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + 2 * s * n))
          << "system " << s << ", n = " << n;
    }
  }
}

TEST_F(Batch, ThatIsNotPositiveDefiniteIsRefused) {
  const auto expect_refused = [&](std::size_t at, Elements<double> row,
                                  const std::vector<std::string>& fragments) {
    std::vector<System> systems = random_systems(40, row.size() - 1, 0.5);
    systems[at].r = row;
    for (const char* precision : {"f64", "f32"}) {
      const Directory directory;
      expect_refusal(run_on(input_of(systems), precision, directory / "solution.npy"), 2,
                     fragments);
      EXPECT_TRUE(directory.files().empty());
    }
  };
  expect_refused(0, {1, 1}, {"system 0", "positive definite", "coefficient 1 of 1 is -1"});
  expect_refused(33, {2, -3}, {"system 33", "coefficient 1 of 1 is 1.5"});
  expect_refused(39, {1, 0.5, -0.8125, 0.1}, {"system 39", "coefficient 2 of 3 is 1.41667"});
  Elements<double> cosine(65);
  for (std::size_t k = 0; k < cosine.size(); ++k)
    cosine[k] = std::cos(0.5 * static_cast<double>(k)) + (k == 60 ? 3 : 0);
  cosine[0] += 1;
  expect_refused(7, cosine, {"system 7 ", "coefficient 60 of 64"});
}

TEST(Variance, ThatIsNotPositiveIsRefused) {
  const Directory directory;
  for (const double variance : {0.0, -0.0, -2.5}) {
    const NpyArray rows{{3, 2}, Elements<double>{1, 0.5, 2, 1, variance, 0.1}};
    expect_refusal(run_on(rows, "f64", directory / "solution.npy"), 2,
                   {"r_0 of system 2", fmt::format("is {}", variance), "greater than 0"});
  }
  EXPECT_TRUE(directory.files().empty());
}

TEST(Shape, WithoutASystemIsRefused) {
  const Directory directory;
  const auto expect_refused = [&](const NpyArray& input,
                                  const std::vector<std::string>& fragments) {
    expect_refusal(run_on(input, "f64", directory / "solution.npy"), 2, fragments);
  };
  expect_refused({{3, 1}, Elements<double>{1, 1, 1}}, {"1 element per row", "at least 2"});
  expect_refused({{0, 5}, Elements<double>{}}, {"empty"});
  expect_refused({{3}, Elements<double>{1, 0, 0}}, {"1 dimension", "must have 2"});
  expect_refusal(run_process({program, "--set", "n=0"}), 2, {"n", "'0'", "from 1"});
  expect_refusal(run_process({program, "--set", "systems=0"}), 2, {"systems", "'0'", "from 1"});
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: durbin_levinson_batched_test PROGRAM [GTEST OPTIONS]\n");
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::try_device(staircase::test::program, {"Batch"});
  return staircase::test::run_all_tests();
}
