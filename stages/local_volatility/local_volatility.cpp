/// \file
/// Local volatility calibration: data sets, test cases, operation counts and tolerance.

#include "local_volatility.hpp"

#include <algorithm>
#include <cmath>
#include <harness/number.hpp>
#include <harness/workload.hpp>
#include <staircase/error.hpp>
#include <utility>

namespace local_volatility {

staircase::Elements<double> Problem::all_strikes() const {
  staircase::Elements<double> all(static_cast<std::size_t>(outer));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = strike(k);
  return all;
}

namespace {

/// The width of the grid in x, in multiples of the spot price.
double relative_width(const Problem& problem) { return 20 * problem.alpha * std::sqrt(problem.t); }

/// Rejects problems whose grid does not contain the spot or whose variance overflows.
void check(const Problem& problem, staircase::Precision precision) {
  using staircase::to_text;
  const auto num_x = static_cast<double>(problem.num_x);
  const double width = relative_width(problem);
  if (std::floor((1 + 1e-12) * num_x / width) > num_x - 1)
    throw staircase::BadInput("alpha = " + to_text(problem.alpha) +
                              " and t = " + to_text(problem.t) +
                              " put the spot outside the grid: 20 alpha sqrt(t) is " +
                              to_text(width) + " and must be greater than " +
                              to_text(num_x / (num_x - 1)) + " for numX = " + to_text(num_x));
  const double x_max = problem.s0 * (1 + width);
  const double y_max = std::log(problem.alpha) + 5 * problem.nu * std::sqrt(problem.t);
  const double largest = 2 * (problem.beta * std::max(std::log(x_max), 0.0) + y_max);
  const double allowed = precision == staircase::Precision::f64 ? 600 : 80;
  if (largest > allowed)
    throw staircase::BadInput("nu = " + to_text(problem.nu) + ", t = " + to_text(problem.t) +
                              " and beta = " + to_text(problem.beta) +
                              " let the variance grow to exp(" + to_text(largest) +
                              "), which overflows; at most exp(" + to_text(allowed) +
                              ") is allowed in this precision");
}

/// Returns 101 operations per grid point and time step: 6 for the variance, 22 for each explicit
/// half step, 24 for implicit x (16 for coefficients, 8 to solve), 27 for y (3 for the right side).
staircase::Work work(const Problem& problem, staircase::Precision precision) {
  const auto points = static_cast<double>(problem.outer) * static_cast<double>(problem.num_x) *
                      static_cast<double>(problem.num_y);
  return {.flops = 101 * points * static_cast<double>(problem.num_t - 1),
          .bytes = 2 * staircase::bytes_of(precision) * static_cast<double>(problem.outer)};
}

/// Rounding changes the row sums of (1 / dt - L / 2) by about eps lambda / dt. Here, lambda is the
/// diffusion number variance dt / step^2, summed over x and y. Over the time steps, such errors add
/// up like a random walk, to eps lambda sqrt(steps). On fine grids in f32, the observed errors are
/// 1/4 to 1/2 of this bound. In f64, the bound is four times as large: both results have such
/// errors, and a GPU fuses multiplications with additions, whereas stage zero does not.
staircase::Tolerance tolerance(const Problem& problem, staircase::Precision precision) {
  const bool f64 = precision == staircase::Precision::f64;
  const auto steps = static_cast<double>(problem.num_t - 1);
  const double dx = problem.s0 * relative_width(problem) / static_cast<double>(problem.num_x);
  const double dy = 10 * problem.nu * std::sqrt(problem.t) / static_cast<double>(problem.num_y);
  const double var_x = std::pow(problem.s0, 2 * problem.beta) * problem.alpha * problem.alpha;
  const double lambda =
      problem.t / steps * (var_x / (dx * dx) + problem.nu * problem.nu / (dy * dy));
  const double eps = f64 ? 0x1p-53 : 0x1p-24;
  return {.relative =
              std::max(f64 ? 1e-12 : 5e-5, (f64 ? 4 : 1) * eps * std::sqrt(steps) * lambda)};
}

void set_strikes(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.strikes = std::move(inputs[0]).as_double();
  problem.outer = static_cast<std::int64_t>(problem.strikes.size());
}

// [traffic]
double points_of(const Problem& problem) {
  return static_cast<double>(problem.num_x) * static_cast<double>(problem.num_y);
}

double steps_of(const Problem& problem) { return static_cast<double>(problem.num_t - 1); }

/// Number of elements moved by kernels that read and write the given numbers of values per point
/// and time step. The payoff adds one value per point.
template <int reads, int writes>
double traffic_of_sweeps(const Problem& problem) {
  return static_cast<double>(problem.outer) * points_of(problem) *
         ((reads + writes) * steps_of(problem) + 1);
}

/// Elements moved if the grids stay on the chip: the payoff is written, R is read and written once.
double traffic_on_chip(const Problem& problem) {
  return 3 * static_cast<double>(problem.outer) * points_of(problem);
}

/// Elements moved: per point and step, an inverse pivot is written, 5 values read and 3 written.
double traffic_of_kernels_of_adjoint(const Problem& problem) {
  return 9 * points_of(problem) * steps_of(problem) + 2 * static_cast<double>(problem.outer);
}

/// Elements moved: inverse pivots are written and read, and each option has a strike and a price.
double traffic_of_adjoint(const Problem& problem) {
  return 2 * (points_of(problem) * steps_of(problem) + static_cast<double>(problem.outer));
}
// [traffic]

const staircase::Workload<Problem, 1> workload{
    .parameters = {{"outer", &Problem::outer, 1, 2147483647, "number of options"},
                   {"numX", &Problem::num_x, 3, 2147483647, "grid points of the spot price"},
                   {"numY", &Problem::num_y, 3, 2147483647, "grid points of the log-volatility"},
                   {"numT", &Problem::num_t, 2, 2147483647, "points of the time grid"},
                   {"s0", &Problem::s0, 1e-6, 1e6, "spot price today"},
                   {"t", &Problem::t, 1e-3, 100, "maturity in years"},
                   {"alpha", &Problem::alpha, 1e-3, 10, "volatility today"},
                   {"nu", &Problem::nu, 1e-3, 10, "volatility of the volatility"},
                   {"beta", &Problem::beta, 0, 2, "elasticity of the spot's variance"}},
    .datasets = {{"small", {.outer = 16, .num_x = 32, .num_y = 256, .num_t = 256}},
                 {"medium", {.outer = 128, .num_x = 256, .num_y = 32, .num_t = 64}},
                 {"large", {.outer = 256, .num_x = 256, .num_y = 256, .num_t = 64}},
                 {"tiny", {.outer = 5, .num_x = 23, .num_y = 18, .num_t = 12}}},
    .test_cases = {{"smallest", {.outer = 1, .num_x = 3, .num_y = 3, .num_t = 2}},
                   {"one option", {.outer = 1, .num_x = 17, .num_y = 12, .num_t = 9}},
                   {"warp-1", {.outer = 31, .num_x = 31, .num_y = 31, .num_t = 3}},
                   {"warp", {.outer = 32, .num_x = 32, .num_y = 32, .num_t = 3}},
                   {"warp+1", {.outer = 33, .num_x = 33, .num_y = 33, .num_t = 3}},
                   {"primes", {.outer = 5, .num_x = 127, .num_y = 61, .num_t = 4}},
                   {"block+1", {.outer = 2, .num_x = 257, .num_y = 129, .num_t = 3}},
                   {"tall", {.outer = 2, .num_x = 1025, .num_y = 3, .num_t = 4}},
                   {"wide", {.outer = 2, .num_x = 3, .num_y = 1025, .num_t = 4}},
                   {"long in x", {.outer = 1, .num_x = 4096, .num_y = 5, .num_t = 3}},
                   {"long in y", {.outer = 1, .num_x = 5, .num_y = 4096, .num_t = 3}},
                   {"grid of a block", {.outer = 3, .num_x = 256, .num_y = 32, .num_t = 3}},
                   {"cluster", {.outer = 1, .num_x = 512, .num_y = 256, .num_t = 3}},
                   {"cluster of the adjoint", {.outer = 3, .num_x = 256, .num_y = 256, .num_t = 3}},
                   {"many options", {.outer = 300, .num_x = 5, .num_y = 4, .num_t = 3}},
                   {"many steps", {.outer = 1, .num_x = 9, .num_y = 10, .num_t = 500}},
                   {"spot on the first point",
                    {.outer = 3, .num_x = 32, .num_y = 9, .num_t = 6, .t = 4}},
                   {"no elasticity",
                    {.outer = 3, .num_x = 32, .num_y = 9, .num_t = 6, .t = 4, .beta = 0}},
                   {"large arrays", {.outer = 16, .num_x = 256, .num_y = 256, .num_t = 2}},
                   {"other market",
                    {.outer = 5,
                     .num_x = 40,
                     .num_y = 30,
                     .num_t = 16,
                     .s0 = 100,
                     .t = 0.5,
                     .alpha = 0.35,
                     .nu = 0.25,
                     .beta = 1}}},
    .inputs =
        {{.rank = 1, .min = 0, .max = 1e9, .typical = 0.1, .meaning = "strikes, one per option"}},
    .set_inputs = set_strikes,
    .check = check,
    .work = work,
    .tolerance = tolerance,
    // Values per point and time step, from the first kernel to the last, without the data that all
    // options share.
    .traffic =
        {// reads 0, 3, 4, 2, 4, 4, 4 and writes 4, 1, 2, 3, 2, 4, 2
         {"04_naive_cuda", traffic_of_sweeps<21, 18>},
         // reads 0, 3, 4, 2, 4, 4, 4 and writes 4, 1, 2, 3, 1, 4, 1
         {"05_parallel_scan", traffic_of_sweeps<21, 16>},
         // reads 0, 5, 3, 2, 3 and writes 4, 2, 1, 1, 1
         {"06_coalesced", traffic_of_sweeps<13, 9>},
         // reads 0, 7, 4 and writes 4, 4, 1
         {"07_interleaved", traffic_of_sweeps<11, 9>},
         // reads 3, 2 and writes 4, 1
         {"08_shared_grids", traffic_of_sweeps<5, 5>},
         // reads 2, 2 and writes 3, 1
         {"09_factored", traffic_of_sweeps<4, 4>},
         // reads 2, 2 and writes 2, 1
         {"10_increments", traffic_of_sweeps<4, 3>},
         {"11_grid_per_block", traffic_on_chip},
         {"12_grid_per_cluster", traffic_on_chip},
         {"16_adjoint_cuda", traffic_of_kernels_of_adjoint},
         {"17_single_cluster_adjoint", traffic_of_adjoint},
         {"18_reduced_system", traffic_of_adjoint},
         // Explicit half steps read 1 and write 5, the right-hand side along y reads 2 and writes
         // 4, and each solve reads 6 and writes 3 (elimination 4 and 2, substitution 2 and 1).
         {"baseline_cusparse", traffic_of_sweeps<15, 15>}},
    // The largest grids that fit into the shared memory of one block or of 16 blocks.
    .limits = {{"11_grid_per_block", {{"numX", 256}, {"numY", 32}}},
               {"12_grid_per_cluster", {{"numX", 512}, {"numY", 256}}},
               {"17_single_cluster_adjoint", {{"numX", 256}, {"numY", 256}}},
               {"18_reduced_system", {{"numX", 256}, {"numY", 256}}}}};

}  // namespace

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace local_volatility
