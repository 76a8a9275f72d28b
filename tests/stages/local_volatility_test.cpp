/// \file
/// Checks stage zero of local volatility against independent results: local_volatility_test
/// STAGE_ZERO.

#include <fmt/format.h>
#include <lapacke.h>

#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <random>

#include "../../stages/local_volatility/local_volatility.hpp"
#include "support.hpp"

namespace staircase::test {
namespace {

using local_volatility::Problem;

std::string stage_zero;

Elements<double> prices(std::vector<std::string> arguments,
                        const std::string& program = stage_zero) {
  const Directory directory;
  arguments.insert(arguments.begin(), program);
  arguments.insert(arguments.end(), {"--output", directory / "prices.npy"});
  const ProcessResult result = run_process(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? read_npy(directory / "prices.npy").as_double() : Elements<double>{};
}

// These prices were published with the benchmark and computed in single precision.
const Elements<double> published_small{
    0.0300001, 0.0290001, 0.0280001, 0.0270001, 0.026,     0.0251064, 0.0247889, 0.0244714,
    0.0241539, 0.0238364, 0.0235189, 0.0232014, 0.0228839, 0.0225664, 0.0222744, 0.02199};

class Published : public testing::TestWithParam<const char*> {};

TEST_P(Published, PricesOfTheSmallDataSet) {
  const auto computed = prices({"--dataset", "small", "--precision", GetParam()});
  ASSERT_EQ(computed.size(), published_small.size());
  for (std::size_t k = 0; k < computed.size(); ++k)
    EXPECT_NEAR(computed[k], published_small[k], 2e-6) << k;
}

INSTANTIATE_TEST_SUITE_P(Precision, Published, testing::Values("f64", "f32"));

TEST(Exact, AnOptionWithoutAStrikeIsWorthTheSpot) {
  // The payoff max(x - 0, 0) = x is linear, so all its second derivatives are zero.
  for (const double s0 : {0.03, 1.0, 250.0})
    EXPECT_NEAR(prices({"--set", "outer=1", "--set", "numX=50", "--set", "numY=20", "--set",
                        "numT=30", "--set", fmt::format("s0={}", s0)})[0],
                s0, 1e-12 * s0);
}

TEST(Exact, IncrementsKeepTheSpotThatStageZeroMisses) {
  const auto error_of = [](const std::string& program) {
    const auto spot = prices({"--dataset", "medium", "--set", "outer=1"}, program);
    return std::abs(spot.at(0) / 0.03 - 1);
  };
  EXPECT_GT(error_of(stage_zero), 1e-13);
  const auto directory = std::filesystem::path(stage_zero).parent_path();
  for (const char* stage :
       {"10_increments", "11_grid_per_block", "12_grid_per_cluster", "17_single_cluster_adjoint",
        "18_reduced_system"})
    EXPECT_LT(error_of(directory / fmt::format("local_volatility-{}-cpu", stage)), 2e-14) << stage;
}

TEST(Exact, PricesFallWithTheStrikeBetweenTheirBounds) {
  const auto price =
      prices({"--set", "outer=60", "--set", "numX=100", "--set", "numY=30", "--set", "numT=20"});
  ASSERT_EQ(price.size(), 60u);
  for (std::size_t k = 0; k < price.size(); ++k) {
    const double strike = 0.001 * static_cast<double>(k);
    EXPECT_LE(price[k], 0.03 * (1 + 1e-12)) << "an option is worth no more than the spot";
    EXPECT_GE(price[k], (0.03 - strike) * (1 - 1e-12)) << "nor less than a forward contract";
    if (k > 0) {
      EXPECT_LT(price[k], price[k - 1]);
    }
  }
}

// --- A second implementation of the scheme, with dense matrices and LAPACK's general solver

using Matrix = std::vector<double>;  // n × n, row-major

/// The second derivative by the divided differences of Newton's interpolation; zero at both ends.
Matrix second_derivative(const std::vector<double>& z) {
  const std::size_t n = z.size();
  Matrix d(n * n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i)
    for (const std::size_t j : {i - 1, i, i + 1}) {
      double product = 1;
      for (const std::size_t m : {i - 1, i, i + 1})
        if (m != j) product *= z[j] - z[m];
      d[i * n + j] = 2 / product;
    }
  return d;
}

std::vector<double> multiply(const Matrix& a, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) y[i] += a[i * n + j] * x[j];
  return y;
}

std::vector<double> solve(Matrix a, std::vector<double> b) {
  const auto n = static_cast<lapack_int>(b.size());
  std::vector<lapack_int> pivots(b.size());
  EXPECT_EQ(LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, a.data(), n, pivots.data(), b.data(), 1), 0);
  return b;
}

/// The matrix shift · I + factor · variance(row) · D.
template <typename Variance>
Matrix shifted(double shift, double factor, Variance variance, const Matrix& d, std::size_t n) {
  Matrix a(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      a[i * n + j] = (i == j ? shift : 0) + factor * variance(i) * d[i * n + j];
  return a;
}

/// The price of one option by the alternating-direction scheme; fields are vectors over [i][j].
double dense_price(const Problem& p, double strike) {
  const auto nx = static_cast<std::size_t>(p.num_x), ny = static_cast<std::size_t>(p.num_y);
  const double dx = 20 * p.alpha * p.s0 * std::sqrt(p.t) / nx;
  const double dy = 10 * p.nu * std::sqrt(p.t) / ny;
  const auto ix = static_cast<std::size_t>(p.s0 / dx), iy = ny / 2;
  std::vector<double> x(nx), y(ny);
  for (std::size_t i = 0; i < nx; ++i)
    x[i] = p.s0 + (static_cast<double>(i) - static_cast<double>(ix)) * dx;
  for (std::size_t j = 0; j < ny; ++j)
    y[j] = std::log(p.alpha) + (static_cast<double>(j) - static_cast<double>(iy)) * dy;
  const Matrix dxx = second_derivative(x), dyy = second_derivative(y);
  const double dt = p.t / static_cast<double>(p.num_t - 1);
  const auto var_y = [&](std::size_t) { return p.nu * p.nu; };

  std::vector<std::vector<double>> r(nx, std::vector<double>(ny));
  for (std::size_t i = 0; i < nx; ++i)
    std::fill(r[i].begin(), r[i].end(), std::max(x[i] - strike, 0.0));
  for (std::int64_t g = p.num_t - 2; g >= 0; --g) {
    const double tau = dt * static_cast<double>(g);
    auto u = r;
    auto v = r;
    for (std::size_t i = 0; i < nx; ++i) v[i] = multiply(shifted(0, 0.5, var_y, dyy, ny), r[i]);
    for (std::size_t j = 0; j < ny; ++j) {
      const auto var_x = [&](std::size_t i) {
        return std::pow(x[i], 2 * p.beta) * std::exp(2 * y[j] - p.nu * p.nu * tau);
      };
      std::vector<double> column(nx);
      for (std::size_t i = 0; i < nx; ++i) column[i] = r[i][j];
      column = multiply(shifted(1 / dt, 0.25, var_x, dxx, nx), column);
      for (std::size_t i = 0; i < nx; ++i) column[i] += v[i][j];
      column = solve(shifted(1 / dt, -0.25, var_x, dxx, nx), column);
      for (std::size_t i = 0; i < nx; ++i) u[i][j] = column[i];
    }
    for (std::size_t i = 0; i < nx; ++i) {
      std::vector<double> right(ny);
      for (std::size_t j = 0; j < ny; ++j) right[j] = u[i][j] / dt - 0.5 * v[i][j];
      r[i] = solve(shifted(1 / dt, -0.25, var_y, dyy, ny), right);
    }
  }
  return r[ix][iy];
}

TEST(Dense, SchemeWithLapackGivesTheSamePrices) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int draw = 0; draw < 5; ++draw) {
    Problem p{.outer = 3,
              .s0 = between(0.01, 2),
              .t = between(0.5, 4),
              .alpha = between(0.15, 0.4),
              .nu = between(0.2, 0.7),
              .beta = between(0.1, 1)};
    p.num_x = 3 + static_cast<std::int64_t>(random() % 30);
    p.num_y = 3 + static_cast<std::int64_t>(random() % 30);
    p.num_t = 2 + static_cast<std::int64_t>(random() % 10);
    std::vector<std::string> arguments;
    const auto set = [&](const char* name, auto value) {
      arguments.insert(arguments.end(), {"--set", fmt::format("{}={}", name, value)});
    };
    set("outer", p.outer), set("numX", p.num_x), set("numY", p.num_y), set("numT", p.num_t);
    set("s0", p.s0), set("t", p.t), set("alpha", p.alpha), set("nu", p.nu), set("beta", p.beta);
    const auto computed = prices(arguments);
    ASSERT_EQ(computed.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(computed[k], dense_price(p, p.strike(k)), 1e-10 * p.s0)
          << fmt::format("{}", fmt::join(arguments, " "));
  }
}

// --- Strikes from the user, and conditions that the ranges of the parameters cannot express

TEST(Strikes, OfEitherTypeReplaceTheDefaults) {
  const Directory directory;
  const Elements<double> strikes{0.004, 0, 0.002};
  const auto all = prices({"--dataset", "tiny"});
  write_npy(directory / "f8.npy", {{3}, strikes});
  EXPECT_EQ(prices({"--dataset", "tiny", "--input", directory / "f8.npy"}),
            (Elements<double>{all[4], all[0], all[2]}));
  write_npy(directory / "f4.npy", {{3}, Elements<float>(strikes.begin(), strikes.end())});
  EXPECT_NEAR(prices({"--dataset", "tiny", "--input", directory / "f4.npy"})[0], all[4], 1e-9);
}

TEST(Strikes, MustAgreeWithOuter) {
  const Directory directory;
  write_npy(directory / "s.npy", {{3}, Elements<double>{0.1, 0.2, 0.3}});
  const auto with = [&](const char* outer) {
    return run_process(
        {stage_zero, "--dataset", "tiny", "--set", outer, "--input", directory / "s.npy"});
  };
  EXPECT_EQ(with("outer=3").status, 0);
  expect_refusal(with("outer=4"), 2, {"outer = 4", "has 3"});
}

TEST(Grid, ThatDoesNotContainTheSpotIsRefused) {
  expect_refusal(run_process({stage_zero, "--set", "alpha=0.01", "--set", "t=5"}), 2,
                 {"alpha = 0.01", "outside the grid"});
}

TEST(Variance, ThatOverflowsIsRefused) {
  expect_refusal(run_process({stage_zero, "--set", "nu=10", "--set", "t=100"}), 2,
                 {"nu = 10", "overflows"});
  expect_refusal(run_process({stage_zero, "--set", "nu=4", "--precision", "f32"}), 2,
                 {"nu = 4", "overflows"});
  EXPECT_EQ(run_process({stage_zero, "--dataset", "tiny", "--set", "nu=4"}).status, 0);
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: local_volatility_test STAGE_ZERO [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::stage_zero = std::filesystem::absolute(argv[1]);
  testing::InitGoogleTest(&argc, argv);
  // A build with sanitizers has no CPU device. With sanitizers, tests of the contract have solved
  // larger grids than the small data set, but for fewer steps.
  if (SANITIZED)
    staircase::test::leave_out(
        "*.IncrementsKeepTheSpotThatStageZeroMisses:*.PricesOfTheSmallDataSet/*");
  return staircase::test::run_all_tests();
}
