/// \file
/// Checks n-body against independent results: nbody_test PROGRAM [GTEST OPTIONS].

#include "../../stages/nbody/nbody.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <harness/npy.hpp>
#include <numbers>
#include <numeric>
#include <random>
#include <staircase/error.hpp>

#include "support.hpp"

namespace staircase::test {
namespace {

using Arguments = std::vector<std::string>;
using Real = long double;
using Point = std::array<Real, 3>;

constexpr Real pi = std::numbers::pi_v<Real>;

std::string program;

/// A body; the program reads its values in f64.
struct Body {
  Real mass;
  Point x, v;
};
using Bodies = std::vector<Body>;

Point operator+(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point operator*(Real f, const Point& a) { return {f * a[0], f * a[1], f * a[2]}; }
Real dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Real length(const Point& a) { return std::sqrt(dot(a, a)); }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

NpyArray to_npy(const Bodies& bodies) {
  Elements<double> values;
  for (const auto& [mass, x, v] : bodies)
    for (const Real number : {mass, x[0], x[1], x[2], v[0], v[1], v[2]})
      values.push_back(static_cast<double>(number));
  return {{bodies.size(), 7}, values};
}

/// Runs the program on bodies.
ProcessResult run_on(const Bodies& bodies, Arguments arguments, const Directory& directory,
                     const ProcessOptions& options = {}) {
  write_npy(directory / "bodies.npy", to_npy(bodies));
  arguments.insert(arguments.begin(), program);
  arguments.insert(arguments.end(),
                   {"--input", directory / "bodies.npy", "--output", directory / "after.npy"});
  return run_process(arguments, options);
}

/// The command-line arguments that set the parameters of a problem.
Arguments settings(long steps, double dt, double softening) {
  return {"--set", fmt::format("steps={}", steps),        "--set", fmt::format("dt={}", dt),
          "--set", fmt::format("softening={}", softening)};
}

/// The bodies after the steps that the arguments request.
Bodies moved(Bodies bodies, const Arguments& arguments) {
  const Directory directory;
  const ProcessResult result = run_on(bodies, arguments, directory);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return {};
  const NpyArray after = read_npy(directory / "after.npy");
  EXPECT_EQ(after.shape, (std::vector<std::size_t>{bodies.size(), 6}));
  const auto values = after.as_double();
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      bodies[i].x[k] = values[6 * i + k];
      bodies[i].v[k] = values[6 * i + 3 + k];
    }
  return bodies;
}

/// The bodies of the Plummer sphere that the parameters describe.
Bodies sphere(std::size_t n, int seed) {
  const Directory directory;
  const ProcessResult result = run_process({program, "--set", fmt::format("bodies={}", n), "--set",
                                            fmt::format("seed={}", seed), "--set", "steps=0",
                                            "--output", directory / "sphere.npy"});
  EXPECT_EQ(result.status, 0) << result.err;
  const auto values = read_npy(directory / "sphere.npy").as_double();
  Bodies bodies(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double* b = &values[6 * i];
    bodies[i] = {1 / static_cast<Real>(n), {b[0], b[1], b[2]}, {b[3], b[4], b[5]}};
  }
  return bodies;
}

// --- Conserved quantities

Real kinetic_energy(const Bodies& bodies) {
  Real sum = 0;
  for (const auto& [mass, x, v] : bodies) sum += mass / 2 * dot(v, v);
  return sum;
}

Real potential_energy(const Bodies& bodies, Real softening) {
  Real sum = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Point x = bodies[j].x - bodies[i].x;
      sum -= bodies[i].mass * bodies[j].mass / std::sqrt(dot(x, x) + softening * softening);
    }
  return sum;
}

Real energy(const Bodies& bodies, Real softening) {
  return kinetic_energy(bodies) + potential_energy(bodies, softening);
}

Point momentum(const Bodies& bodies) {
  Point sum{};
  for (const auto& [mass, x, v] : bodies) sum = sum + mass * v;
  return sum;
}

Point angular_momentum(const Bodies& bodies) {
  Point sum{};
  for (const auto& [mass, x, v] : bodies) sum = sum + mass * cross(x, v);
  return sum;
}

// --- Two bodies

constexpr Real eccentricity = 0.5L, heavy = 1, light = 0.25L;  // semi-major axis 1

/// The position and velocity of the light body relative to the heavy body, from Kepler's equation.
/// `time` counts from the closest approach.
Body on_orbit(Real time) {
  const Real motion = std::sqrt(heavy + light);
  Real anomaly = motion * time;
  for (int step = 0; step < 60; ++step)
    anomaly -= (anomaly - eccentricity * std::sin(anomaly) - motion * time) /
               (1 - eccentricity * std::cos(anomaly));
  const Real width = std::sqrt(1 - eccentricity * eccentricity);
  const Real rate = motion / (1 - eccentricity * std::cos(anomaly));
  return {0,
          {std::cos(anomaly) - eccentricity, width * std::sin(anomaly), 0},
          {-rate * std::sin(anomaly), rate * width * std::cos(anomaly), 0}};
}

/// Both bodies on their orbits around a moving centre of mass. The plane of the orbits is not
/// parallel to any coordinate plane.
Bodies on_orbits(Real time) {
  const auto [none, x, v] = on_orbit(time);
  const auto turned = [](const Point& p) -> Point {
    return {(2 * p[0] - 2 * p[1]) / 3, (2 * p[0] + p[1]) / 3, (p[0] + 2 * p[1]) / 3};
  };
  const Point drift{0.1L, -0.2L, 0.05L};
  const Real mass = heavy + light;
  return {{heavy, (-light / mass) * turned(x) + time * drift, (-light / mass) * turned(v) + drift},
          {light, (heavy / mass) * turned(x) + time * drift, (heavy / mass) * turned(v) + drift}};
}

/// The largest error of a position or velocity after 0.7 of a period, computed in `steps` steps.
Real orbit_error(long steps) {
  const Real time = 0.7L * 2 * pi / std::sqrt(heavy + light);
  const Bodies after = moved(on_orbits(0), settings(steps, static_cast<double>(time / steps), 0)),
               expected = on_orbits(time);
  Real error = 0;
  for (std::size_t i = 0; i < after.size(); ++i)
    error =
        std::max({error, length(after[i].x - expected[i].x), length(after[i].v - expected[i].v)});
  return error;
}

TEST(Kepler, OrbitIsThatOfTheClosedForm) { EXPECT_LT(orbit_error(4000), 1e-10L); }

TEST(Kepler, ErrorsFallSixteenfoldWhereStepsAreHalved) {
  Real before = orbit_error(250);
  for (const long steps : {500, 1000, 2000}) {
    const Real error = orbit_error(steps);
    EXPECT_NEAR(static_cast<double>(before / error), 16, 1.6) << steps << " steps";
    before = error;
  }
}

// --- A sphere

TEST(Sphere, IsAPlummerSphereInStandardUnits) {
  for (const int seed : {1, 2}) {
    const std::size_t n = 4000;
    const Bodies bodies = sphere(n, seed);
    Point centre{};
    std::vector<Real> radii;
    for (const auto& [mass, x, v] : bodies) {
      centre = centre + mass * x;
      radii.push_back(length(x));
    }
    EXPECT_LT(length(centre), 1e-13L);
    EXPECT_LT(length(momentum(bodies)), 1e-13L);
    // The mass within r of a Plummer sphere of scale a is (1 + a²/r²)^(-3/2).
    std::ranges::sort(radii);
    const Real scale = 3 * pi / 16;
    for (const Real part : {0.1L, 0.25L, 0.5L, 0.75L, 0.9L})
      EXPECT_NEAR(static_cast<double>(radii[static_cast<std::size_t>(part * n)] *
                                      std::sqrt(std::pow(part * 0.999L, -2.0L / 3) - 1) / scale),
                  1, 0.08)
          << part;
    EXPECT_NEAR(static_cast<double>(kinetic_energy(bodies)), 0.25, 0.01);
    EXPECT_NEAR(static_cast<double>(potential_energy(bodies, 0)), -0.5, 0.015);
    EXPECT_LT(length(angular_momentum(bodies)), 0.05L);
  }
  EXPECT_NE(to_npy(sphere(10, 1)).values, to_npy(sphere(10, 2)).values);
}

TEST(Sphere, KeepsMomentumAndEnergy) {
  const Bodies before = sphere(256, 7);
  const Real softening = 0.125L;
  Real worse = 0;
  for (const long steps : {64, 128}) {
    const Bodies after = moved(before, settings(steps, 1.0 / static_cast<double>(steps), 0.125));
    EXPECT_LT(length(momentum(after) - momentum(before)), 1e-14L);
    EXPECT_LT(length(angular_momentum(after) - angular_momentum(before)), 1e-6L);
    const Real drift = std::abs(energy(after, softening) - energy(before, softening));
    EXPECT_LT(drift, 1e-6L);
    if (steps == 128) {
      EXPECT_LT(drift, worse / 8) << "of fourth order";
    }
    worse = drift;
  }
}

/// Random bodies with f32 values; some have zero mass, and one is heavy.
Bodies random_bodies(std::size_t n, std::mt19937_64& random) {
  std::uniform_real_distribution<float> number(-1, 1);
  const auto point = [&]() -> Point { return {number(random), number(random), number(random)}; };
  Bodies bodies(n);
  for (auto& [mass, x, v] : bodies) mass = std::max(number(random), 0.0F), x = point(), v = point();
  bodies[random() % n].mass = 20;
  return bodies;
}

TEST(Symmetry, PermutedBodiesArePermutedAfterwards) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const Bodies bodies = random_bodies(83, random);
  std::vector<std::size_t> order(bodies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  Bodies permuted;
  for (const std::size_t i : order) permuted.push_back(bodies[i]);
  const auto how = settings(3, 1.0 / 64, 0.25);
  const Bodies after = moved(bodies, how), after_permuted = moved(permuted, how);
  for (std::size_t p = 0; p < order.size(); ++p) {
    EXPECT_LT(length(after_permuted[p].x - after[order[p]].x), 1e-12L);
    EXPECT_LT(length(after_permuted[p].v - after[order[p]].v), 1e-12L);
  }
}

TEST(Symmetry, AMirrorImageStaysOneBitByBit) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const Bodies bodies = random_bodies(47, random);
  Bodies mirrored = bodies;
  for (auto& [mass, x, v] : mirrored) x[1] = -x[1], v[1] = -v[1];
  const auto how = settings(4, 1.0 / 64, 0.25);
  const Bodies after = moved(bodies, how), other = moved(mirrored, how);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    EXPECT_EQ(other[i].x, (Point{after[i].x[0], -after[i].x[1], after[i].x[2]}));
    EXPECT_EQ(other[i].v, (Point{after[i].v[0], -after[i].v[1], after[i].v[2]}));
  }
}

TEST(Masses, OfZeroCauseNoForce) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  Bodies bodies = random_bodies(40, random);
  for (std::size_t i = 30; i < 40; ++i) bodies[i].mass = 0;
  const auto how = settings(3, 1.0 / 64, 0.25);
  const Bodies with = moved(bodies, how);
  bodies.resize(30);
  const Bodies without = moved(bodies, how);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(with[i].x, without[i].x) << i;
}

// --- One step, compared with a step in long double, with bounds for rounding errors

/// Acceleration and jerk of each body, and bounds of their errors.
struct Forces {
  std::vector<Point> a, j;
  std::vector<Real> a_off, j_off;
};

/// The forces, computed by the formulas of the page. The error bounds account for errors x_off and
/// v_off of positions and velocities. The bounds also account for the rounding error of each sum,
/// which is at most `sum` times the sum of the magnitudes of the terms.
Forces forces_on(const Bodies& bodies, Real softening, Real sum, const std::vector<Real>& x_off,
                 const std::vector<Real>& v_off) {
  const std::size_t n = bodies.size();
  Forces f{std::vector<Point>(n), std::vector<Point>(n), std::vector<Real>(n),
           std::vector<Real>(n)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const Point x = bodies[k].x - bodies[i].x, v = bodies[k].v - bodies[i].v;
      const Real d2 = dot(x, x) + softening * softening, d = std::sqrt(d2);
      const Real w = bodies[k].mass / (d2 * d);
      f.a[i] = f.a[i] + w * x;
      f.j[i] = f.j[i] + w * (v - (3 * dot(x, v) / d2) * x);
      const Real off = x_off[i] + x_off[k], turning = v_off[i] + v_off[k];
      f.a_off[i] += w * (sum * length(x) + 4 * off);
      f.j_off[i] += w * (4 * sum * length(v) + 4 * turning + 24 * off * length(v) / d);
    }
  return f;
}

/// The bodies after one step, and bounds for the rounding errors of their positions and velocities.
struct Step {
  Bodies after;
  std::vector<Real> x_off, v_off;
};

Step step_of(const Bodies& bodies, Real dt, Real softening, Real u) {
  const std::size_t n = bodies.size();
  const Real sum = u * static_cast<Real>(64 + n);
  const std::vector<Real> exact(n, 0);
  const Forces f = forces_on(bodies, softening, sum, exact, exact);
  Step step{bodies, exact, exact};
  Bodies predicted = bodies;
  std::vector<Real> px_off(n), pv_off(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto& [mass, x, v] = predicted[i];
    x = x + dt * v + (dt * dt / 2) * f.a[i] + (dt * dt * dt / 6) * f.j[i];
    v = v + dt * f.a[i] + (dt * dt / 2) * f.j[i];
    px_off[i] = dt * dt / 2 * f.a_off[i] + dt * dt * dt / 6 * f.j_off[i] +
                8 * u *
                    (length(bodies[i].x) + dt * length(bodies[i].v) +
                     dt * dt * (length(f.a[i]) + dt * length(f.j[i])));
    pv_off[i] = dt * f.a_off[i] + dt * dt / 2 * f.j_off[i] +
                8 * u * (length(bodies[i].v) + dt * (length(f.a[i]) + dt * length(f.j[i])));
  }
  const Forces g = forces_on(predicted, softening, sum, px_off, pv_off);
  for (std::size_t i = 0; i < n; ++i) {
    auto& [mass, x, v] = step.after[i];
    const Point& a0 = f.a[i];
    const Point &j0 = f.j[i], &a1 = g.a[i], &j1 = g.j[i];
    x = x + dt * v + (dt * dt / 20) * (7 * a0 + 3 * a1) + (dt * dt * dt / 60) * (3 * j0 - 2 * j1);
    v = v + (dt / 2) * (a0 + a1) + (dt * dt / 12) * (j0 - j1);
    const Real a = length(a0) + length(a1), j = length(j0) + length(j1);
    const Real a_off = f.a_off[i] + g.a_off[i], j_off = f.j_off[i] + g.j_off[i];
    step.x_off[i] =
        dt * dt * (a_off / 2 + dt * j_off / 20) +
        16 * u * (length(bodies[i].x) + dt * length(bodies[i].v) + dt * dt * (a + dt * j));
    step.v_off[i] =
        dt * (a_off / 2 + dt * j_off / 12) + 16 * u * (length(bodies[i].v) + dt * (a + dt * j));
  }
  return step;
}

TEST(Step, IsThatOfAllPairsInLongDouble) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const Arguments precisions =
      nlohmann::json::parse(run_process({program, "--describe"}).out).at("precisions");
  for (const std::size_t n : {2, 7, 33, 129, 257, 1100})
    for (const double softening : {0.25, 0.03125})
      for (const std::string& precision : precisions) {
        if (n > 1000 && softening < 0.1) continue;  // one test of a large problem is enough
        const Bodies bodies = random_bodies(n, random);
        const double dt = 1.0 / 128;
        auto how = settings(1, dt, softening);
        how.insert(how.end(), {"--precision", precision});
        const Bodies after = moved(bodies, how);
        const Step expected =
            step_of(bodies, dt, softening, precision == "f64" ? 0x1p-53L : 0x1p-24L);
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_LE(length(after[i].x - expected.after[i].x), expected.x_off[i])
              << precision << ", body " << i << " of " << n << ", softening " << softening;
          ASSERT_LE(length(after[i].v - expected.after[i].v), expected.v_off[i])
              << precision << ", body " << i << " of " << n << ", softening " << softening;
        }
      }
}

/// A stage that stores positions with more digits than f32 gives the same result at any distance
/// from the origin.
TEST(Mixed, DifferencesAreExactFarFromTheOrigin) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const Bodies bodies = random_bodies(100, random);
  Bodies far = bodies;
  for (auto& [mass, x, v] : far) x = x + Point{1024, -512, 2048};
  auto how = settings(1, 1.0 / 64, 0.0625);
  how.insert(how.end(), {"--precision", "f32"});
  const Bodies after = moved(far, how);
  const Step expected = step_of(bodies, 1.0L / 64, 0.0625L, 0x1p-24L);
  for (std::size_t i = 0; i < far.size(); ++i)
    EXPECT_LE(length(after[i].v - expected.after[i].v), expected.v_off[i]) << i;
}

// --- Slices

/// The number of slices is the smallest multiple of `parts` for which a slice fits into the budget.
TEST(Slices, FitIntoTheBudget) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 1000; ++draw) {
    const std::size_t n = 1 + random() % 3000, bytes = 1 + random() % 500;
    const std::size_t parts = 1 + random() % 9, fitting = 1 + random() % (2 * n);
    nbody::Problem problem;
    problem.bodies = static_cast<std::int64_t>(n);
    problem.budget = static_cast<double>(fitting * bytes + random() % bytes);
    SCOPED_TRACE(fmt::format("{} bodies, {} fit, {} parts", n, fitting, parts));
    const nbody::Slices slices = nbody::slices_of(problem, bytes, parts);
    std::size_t next = 0;
    for (std::size_t s = 0; s < slices.count(); ++s) {
      const auto [first, size] = slices(s);
      ASSERT_EQ(first, next);
      ASSERT_GE(size, 1u);
      ASSERT_LE(size, std::min(slices.size, fitting));
      next += size;
    }
    EXPECT_EQ(next, n);
    std::size_t fewest = parts;
    while ((n + fewest - 1) / fewest > fitting) fewest += parts;
    EXPECT_EQ(slices.size, (n + fewest - 1) / fewest);
  }
}

TEST(Slices, OfAMillionBodiesAreEqual) {
  nbody::Problem problem;
  problem.bodies = 1 << 20;
  problem.budget = 1e9;
  EXPECT_EQ(nbody::slices_of(problem, 176, 4).size, std::size_t{1 << 18});
  problem.budget = 176. * (1 << 18) - 1;
  EXPECT_EQ(nbody::slices_of(problem, 176, 4).size, std::size_t{1 << 17});
}

TEST(Slices, ThatExceedTheBudgetAreRefused) {
  nbody::Problem problem{.bodies = 5, .budget = 176};
  EXPECT_EQ(nbody::slices_of(problem, 176, 4).count(), 5u);
  problem.budget -= 1;
  EXPECT_THROW(nbody::slices_of(problem, 176, 4), NotEnoughMemory);
}

// --- The budget and the number of GPUs, which do not change any digit

/// The bodies that the program computes.
NpyArray computed(const Bodies& bodies, const std::string& precision, Arguments arguments,
                  const ProcessOptions& options = {}) {
  const Directory directory;
  const Arguments how = settings(2, 1.0 / 128, 0.125);
  arguments.insert(arguments.end(), how.begin(), how.end());
  arguments.insert(arguments.end(), {"--precision", precision});
  const ProcessResult result = run_on(bodies, arguments, directory, options);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? read_npy(directory / "after.npy") : NpyArray{};
}

TEST(Budget, OfAnySizeGivesTheSameDigits) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  for (const std::size_t n : {1, 2, 3, 5, 129, 530})
    for (const std::string precision : {"f64", "f32"}) {
      const Bodies bodies = random_bodies(n, random);
      const NpyArray whole = computed(bodies, precision, {});
      const std::size_t of_body = precision == "f64" ? 352 : 176;
      for (const std::size_t size : {(n + 4) / 5, n / (6 + random() % 7) + 1}) {
        const std::size_t budget = of_body * size + random() % of_body;
        EXPECT_EQ(computed(bodies, precision, {"--set", fmt::format("budget={}", budget)}).values,
                  whole.values)
            << n << " bodies, " << precision << ", budget " << budget;
      }
    }
}

TEST(Budget, OfOneBodyIsEnoughAndLessIsRefused) {
  const auto with = [](double budget, const Directory& directory) {
    return run_process({program, "--set", "bodies=3", "--set", fmt::format("budget={}", budget),
                        "--output", directory / "after.npy"});
  };
  const Directory directory;
  expect_refusal(with(351, directory), 3,
                 {"the budget is 351 bytes", "a slice of one body takes 352 bytes"});
  EXPECT_TRUE(directory.files().empty());
  const ProcessResult result = with(352, directory);
  EXPECT_EQ(result.status, 0) << result.err;
}

/// Without a budget, slices fit into the device's memory.
TEST(Budget, IsTheMemoryOfTheDeviceWhereNoneIsGiven) {
  if (!program.ends_with("-cpu")) return;
  std::mt19937_64 random(1);
  const Bodies bodies = random_bodies(400, random);
  const ProcessOptions small{.environment = {"CUDA_ON_CPU_MEMORY=20000"}};  // of 140800 bytes for
                                                                            // all bodies
  EXPECT_EQ(computed(bodies, "f64", {}, small).values, computed(bodies, "f64", {}).values);
  const Directory directory;
  expect_refusal(run_on(bodies, {}, directory, {.environment = {"CUDA_ON_CPU_MEMORY=400"}}), 3,
                 {"the free device memory is 350 bytes", "a slice of one body takes 352 bytes"});
  EXPECT_EQ(directory.files(), Arguments{"bodies.npy"});
}

/// Programs for the CPU device use up to four devices; other programs use one GPU, and all GPUs.
TEST(Gpus, InAnyNumberGiveTheSameDigits) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  const int most = program.ends_with("-cpu") ? 4 : 1;
  for (const std::size_t n : {1, 2, 7, 300})
    for (const std::string precision : {"f64", "f32"}) {
      const Bodies bodies = random_bodies(n, random);
      const NpyArray one = computed(bodies, precision, {"--set", "gpus=1"});
      for (int gpus = 0; gpus <= most; ++gpus)
        for (const std::size_t budget : {std::size_t{0}, 352 * (n / 9 + 1)}) {
          const Arguments arguments{"--set", fmt::format("gpus={}", gpus), "--set",
                                    fmt::format("budget={}", budget)};
          EXPECT_EQ(computed(bodies, precision, arguments,
                             {.environment = {fmt::format("CUDA_ON_CPU_DEVICES={}", most)}})
                        .values,
                    one.values)
              << n << " bodies, " << precision << ", " << gpus << " GPUs, budget " << budget;
        }
    }
}

TEST(CpuDevices, ThatAreNotThereAreNotAvailable) {
  const Directory directory;
  expect_refusal(run_process({program, "--dataset", "tiny", "--set", "gpus=3", "--output",
                              directory / "after.npy"},
                             {.environment = {"CUDA_ON_CPU_DEVICES=2"}}),
                 77, {"3 GPUs", "2 are available"});
  EXPECT_TRUE(directory.files().empty());
}

/// The CPU device can simulate a device failure at any kernel or copy.
TEST(CpuDevices, ThatFailDuringASolveAreReportedInASentence) {
  for (const int at : {1, 3, 9, 20, 40}) {
    const Directory directory;
    expect_refusal(run_process({program, "--dataset", "tiny", "--set", "budget=20000", "--output",
                                directory / "after.npy"},
                               {.environment = {fmt::format("CUDA_ON_CPU_LOST_AT={}", at),
                                                "CUDA_ON_CPU_DEVICES=2"}}),
                   3, {"unknown error"});
    EXPECT_TRUE(directory.files().empty()) << at;
  }
}

// --- Refused input

TEST(BadInput, IsRefused) {
  const auto refused = [](const Bodies& bodies, double softening, const Arguments& fragments) {
    const Directory directory;
    expect_refusal(run_on(bodies, settings(2, 0.01, softening), directory), 2, fragments);
    EXPECT_EQ(directory.files(), Arguments{"bodies.npy"});
  };
  const Body one{1, {0, 0, 0}, {0, 0, 0}}, two{1, {1, 0, 0}, {0, 0, 0}};
  refused({one, two, {-0.5L, {0, 1, 0}, {0, 0, 0}}}, 0.1,
          {"the mass of body 2", "-0.5", "at least 0"});
  refused({two, one, {1, {0, 1, 0}, {0, 0, 0}}, one}, 0, {"bodies 1 and 3", "same position"});
  // The bodies are so close that their new positions overflow.
  refused({{1e8L, {0, 0, 0}, {0, 0, 0}}, {1e8L, {1e-80L, 0, 0}, {0, 0, 0}}}, 0,
          {"body 0", "overflowed", "softening"});
  for (const std::size_t columns : {6, 8}) {
    const Directory directory;
    write_npy(directory / "bodies.npy", {{2, columns}, Elements<double>(2 * columns, 0.5)});
    expect_refusal(
        run_process({program, "--input", directory / "bodies.npy"}), 2,
        {fmt::format("{} elements per row", columns), columns < 7 ? "at least 7" : "at most 7"});
  }
}

TEST(SamePlace, IsAllowedWhereAttractionIsSoftened) {
  const Body one{1, {0.5L, 0, 0}, {0, 0, 0}};
  const Bodies after = moved({one, one}, settings(3, 0.01, 0.1));
  for (const auto& [mass, x, v] : after) {
    EXPECT_EQ(x, one.x);
    EXPECT_EQ(v, one.v);
  }
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: nbody_test PROGRAM [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::try_device(
      staircase::test::program,
      {"Kepler", "Sphere", "Symmetry", "Masses", "Step", "Mixed", "SamePlace", "Budget", "Gpus"});
  return staircase::test::run_all_tests();
}
