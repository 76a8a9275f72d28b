/// \file
/// Checks advection against independent results: advection_test PROGRAM [GTEST
/// OPTIONS].

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <harness/npy.hpp>
#include <numbers>
#include <random>

#include "../../stages/advection/advection.hpp"
#include "support.hpp"

namespace staircase::test {
namespace {

constexpr double pi = std::numbers::pi;
using Complex = std::complex<double>;
using Arguments = std::vector<std::string>;

std::string program;

/// The field after the steps that the arguments request.
NpyArray carried(Arguments arguments, const NpyArray* input = nullptr) {
  const Directory directory;
  if (input != nullptr) {
    write_npy(directory / "input.npy", *input);
    arguments.insert(arguments.end(), {"--input", directory / "input.npy"});
  }
  arguments.insert(arguments.begin(), program);
  arguments.insert(arguments.end(), {"--output", directory / "field.npy"});
  const ProcessResult result = run_process(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? read_npy(directory / "field.npy") : NpyArray{};
}

/// A field of random numbers.
NpyArray random_field(std::size_t rows, std::size_t cols, std::mt19937_64& random) {
  std::uniform_real_distribution<double> value(-1, 1);
  Elements<double> values(rows * cols);
  for (double& v : values) v = value(random);
  return {{rows, cols}, values};
}

/// The amplitude of wave (k, l), whose phase grows by 2π k / cols from column to column and by 2π l
/// / rows from row to row.
Complex amplitude(const NpyArray& field, std::size_t k, std::size_t l) {
  const std::size_t rows = field.shape[0], cols = field.shape[1];
  const auto values = field.as_double();
  Complex sum = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) {
      const double turn = static_cast<double>(l * i % rows) / static_cast<double>(rows) +
                          static_cast<double>(k * j % cols) / static_cast<double>(cols);
      sum += values[i * cols + j] * std::polar(1.0, -2 * pi * turn);
    }
  return sum / static_cast<double>(rows * cols);
}

/// The factor by which a step multiplies a wave along one direction, from another form of the
/// Lax-Wendroff scheme: 1 - i c sin θ - c² (1 - cos θ), where θ = 2π k / count is the phase
/// difference of adjacent cells.
Complex symbol(double c, std::size_t k, std::size_t count) {
  const double angle = 2 * pi * static_cast<double>(k) / static_cast<double>(count);
  return {1 - c * c * (1 - std::cos(angle)), -c * std::sin(angle)};
}

TEST(Waves, AreMultipliedByTheirSymbol) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (const auto& [rows, cols, steps] : {std::tuple<std::size_t, std::size_t, int>{37, 53, 11},
                                          {64, 24, 40},
                                          {1, 31, 7},
                                          {29, 1, 7}}) {
    const double vx = std::uniform_real_distribution<double>(-1, 1)(random);
    const double vy = std::uniform_real_distribution<double>(-1, 1)(random);
    const NpyArray before = random_field(rows, cols, random);
    const NpyArray after =
        carried({"--set", fmt::format("steps={}", steps), "--set", "cfl=0.9", "--set",
                 fmt::format("vx={}", vx), "--set", fmt::format("vy={}", vy)},
                &before);
    const double step = 0.9 / static_cast<double>(std::max(rows, cols));
    for (int wave = 0; wave < 5; ++wave) {
      const std::size_t k = random() % cols, l = random() % rows;
      const Complex factor = symbol(vx * step * static_cast<double>(cols), k, cols) *
                             symbol(vy * step * static_cast<double>(rows), l, rows);
      const Complex expected = amplitude(before, k, l) * std::pow(factor, steps);
      EXPECT_LT(std::abs(amplitude(after, k, l) - expected), 1e-14)
          << rows << " × " << cols << ", wave " << k << ", " << l << ", vx " << vx << ", vy " << vy;
    }
  }
}

/// With a displacement of one cell per step, the weights are 1, 0 and 0.
TEST(Shift, OfACellAStepIsExact) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const std::size_t n = 41, steps = 57;
  const NpyArray before = random_field(n, n, random);
  for (const int direction : {1, -1}) {
    const NpyArray after = carried({"--set", fmt::format("steps={}", steps), "--set", "cfl=1",
                                    "--set", fmt::format("vx={}", direction)},
                                   &before);
    const auto from = before.as_double(), to = after.as_double();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t row = (i + n * steps - steps) % n;
        const std::size_t column =
            (j + n * steps + (direction > 0 ? n * steps - steps : steps)) % n;
        ASSERT_EQ(to[i * n + j], from[row * n + column]) << i << ", " << j << ", " << direction;
      }
  }
}

TEST(Sum, OfTheFieldStays) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const NpyArray before = random_field(67, 45, random);
  const auto sum_of = [](const NpyArray& field) {
    long double sum = 0;
    for (const double value : field.as_double()) sum += value;
    return static_cast<double>(sum);
  };
  const NpyArray after = carried({"--set", "steps=200", "--set", "vy=-0.6"}, &before);
  EXPECT_NEAR(sum_of(after), sum_of(before), 1e-12 * 67 * 45);
}

/// The largest difference between the program's field and the exactly displaced wave, for n × n
/// cells.
double error_of(std::size_t n) {
  // The wave moves by a quarter of the square's side: n steps of a quarter of a cell each.
  const NpyArray field = carried({"--set", fmt::format("rows={}", n), "--set",
                                  fmt::format("cols={}", n), "--set", fmt::format("steps={}", n)});
  const auto values = field.as_double();
  double error = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double x = static_cast<double>(j) / static_cast<double>(n) - 0.25;
      const double y = static_cast<double>(i) / static_cast<double>(n) - 0.25;
      error = std::max(error,
                       std::abs(values[i * n + j] - std::sin(4 * pi * x) * std::cos(2 * pi * y)));
    }
  return error;
}

TEST(Convergence, IsOfSecondOrder) {
  const double coarse = error_of(64), fine = error_of(128), finest = error_of(256);
  EXPECT_NEAR(coarse / fine, 4, 0.2);
  EXPECT_NEAR(fine / finest, 4, 0.05);
}

/// The initial fields are those that the parameters describe.
TEST(Fields, AreAsDescribed) {
  const auto square =
      carried({"--set", "rows=8", "--set", "cols=16", "--set", "steps=0", "--set", "field=1"});
  const auto values = square.as_double();
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 16; ++j)
      EXPECT_EQ(values[i * 16 + j], i >= 2 && i < 4 && j >= 4 && j < 8 ? 1 : 0) << i << ", " << j;
  const auto seven =
      carried({"--set", "steps=0", "--set", "field=2", "--set", "seed=7"}).as_double();
  const auto eight =
      carried({"--set", "steps=0", "--set", "field=2", "--set", "seed=8"}).as_double();
  EXPECT_NE(seven, eight);
}

TEST(BadInput, ThatGrowsWithoutBoundOrIsTooLargeIsRefused) {
  const auto refused = [](const Arguments& sets, const std::string& name) {
    Arguments arguments{program};
    for (const auto& set : sets) arguments.insert(arguments.end(), {"--set", set});
    expect_refusal(run_process(arguments), 2, {name, "cells per step", "stable"});
  };
  refused({"vx=1.01", "cfl=1"}, "vx");
  refused({"vy=-4.1"}, "vy");
  const Directory directory;
  write_npy(directory / "tall.npy", {{500001, 1}, Elements<double>(500001, 1)});
  expect_refusal(run_process({program, "--input", directory / "tall.npy"}), 2,
                 {"500001 rows", "at most 500000"});
  expect_refusal(run_process({program, "--set", "Bx=64", "--set", "By=32"}), 2, {"2048", "1024"});
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: advection_test PROGRAM [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::try_device(staircase::test::program, {"Waves", "Shift", "Sum"});
  return staircase::test::run_all_tests();
}
