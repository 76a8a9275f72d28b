/// \file
/// Advection: initial fields, data sets, test cases, work and tolerance.

#include "advection.hpp"

#include <omp.h>

#include "science.hpp"

#include <algorithm>
#include <cmath>
#include <harness/number.hpp>
#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <numbers>
#include <staircase/error.hpp>
#include <string>
#include <utility>

namespace advection {
namespace {

double cells(const Problem& problem) {
  return static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
}

}  // namespace

// [fields]
double value_at_first(const Problem& problem, std::size_t i, std::size_t j) {
  constexpr double pi = std::numbers::pi;
  const double x = static_cast<double>(j) / static_cast<double>(problem.cols);
  const double y = static_cast<double>(i) / static_cast<double>(problem.rows);
  switch (problem.field) {
    case 0:
      return std::sin(4 * pi * x) * std::cos(2 * pi * y);
    case 1:
      return x >= 0.25 && x < 0.5 && y >= 0.25 && y < 0.5 ? 1 : 0;
    default:
      return staircase::random_number(static_cast<std::uint64_t>(problem.seed),
                                      i * static_cast<std::size_t>(problem.cols) + j);
  }
}

namespace {

/// Computes the initial field, unless the user has supplied one.
void prepare(Problem& problem, staircase::Precision) {
  if (!problem.initial.empty()) return;
  const auto rows = static_cast<std::size_t>(problem.rows);
  const auto cols = static_cast<std::size_t>(problem.cols);
  problem.initial.resize(staircase::product<2>({rows, cols}));
#pragma omp parallel for
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j)
      problem.initial[i * cols + j] = value_at_first(problem, i, j);
}
// [fields]

void set_field(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.rows = static_cast<std::int64_t>(inputs[0].shape[0]);
  problem.cols = static_cast<std::int64_t>(inputs[0].shape[1]);
  problem.initial = std::move(inputs[0]).as_double();
}

}  // namespace

void check(const Problem& problem, staircase::Precision) {
  for (const auto& [name, count] :
       {std::pair("rows", problem.rows), std::pair("cols", problem.cols)})
    if (count > most_cells)
      throw staircase::BadInput(std::string("the field has ") + std::to_string(count) + " " + name +
                                "; it may have at most " + std::to_string(most_cells));
  const auto [x, y] = courant(problem);
  for (const auto& [name, c] : {std::pair("vx", x), std::pair("vy", y)})
    if (std::abs(c) > 1)
      throw staircase::BadInput(std::string("with this cfl and ") + name + " the field moves by " +
                                staircase::to_text(c) +
                                " cells per step; the scheme is stable up to 1 and down to -1");
  if (problem.bx * problem.by > 1024)
    throw staircase::BadInput("Bx × By is " + std::to_string(problem.bx * problem.by) +
                              " threads per block; a GPU allows at most 1024");
}

staircase::Work work(const Problem& problem, staircase::Precision precision) {
  return {.flops = 20 * cells(problem) * static_cast<double>(problem.steps),
          .bytes = 2 * staircase::bytes_of(precision) * cells(problem)};
}

// [tolerance]
/// In one step, a cell gets at most 12 rounding errors of products and sums, and 6 of weights. Each
/// error is at most u times the sum of the magnitudes of the nine terms of the stencil. This sum is
/// at most (5/4)² times the largest value of the field, since 1 - c² + |c| <= 5/4. The m steps that
/// follow amplify the errors at most by (1 + m^(1/4))², as README.md explains. The transforms of
/// stage 18 round at each of their levels. Both sides of a comparison may have these errors.
staircase::Tolerance tolerance(const Problem& problem, double largest,
                               staircase::Precision precision) {
  const double u = precision == staircase::Precision::f64 ? 0x1p-53 : 0x1p-24;
  const auto steps = static_cast<double>(problem.steps);
  const double growth = 1 + std::pow(steps, 0.25);  // in each direction
  const double of_steps = (12 + 6) * 1.25 * 1.25 * steps * growth * growth;
  const double of_transform = 8 * std::log2(2 * cells(problem));
  return {.relative = 2 * u * (of_steps + of_transform),
          .floor = largest == 0 ? 1 : largest,
          .scale = staircase::Scale::given};
}
// [tolerance]

double largest_of(const staircase::Elements<double>& field) {
  double largest = 0;
  for (const double value : field) largest = std::max(largest, std::abs(value));
  return largest;
}

namespace {

// [traffic]
/// Elements moved if one sweep, which reads and writes the field once, does `steps` steps.
template <int steps>
double a_sweep(const Problem& problem) {
  return 2 * cells(problem) * std::ceil(static_cast<double>(problem.steps) / steps);
}

/// Elements moved: two passes over the field per transform, and one pass for the multiplication.
double transforms(const Problem& problem) { return 5 * 2 * cells(problem); }

/// Twice the traffic of one sweep per step, because the copy back also reads and writes the field.
double two_sweeps_a_step(const Problem& problem) { return 2 * a_sweep<1>(problem); }
// [traffic]

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"rows", &Problem::rows, 1, most_cells, "cells along y"},
                   {"cols", &Problem::cols, 1, most_cells, "cells along x"},
                   {"steps", &Problem::steps, 0, 1e9, "number of time steps"},
                   {"cfl", &Problem::cfl, 0, 1, "the time step is cfl min(1 / rows, 1 / cols)"},
                   {"vx", &Problem::vx, -1e3, 1e3, "velocity along x"},
                   {"vy", &Problem::vy, -1e3, 1e3, "velocity along y"},
                   {"field", &Problem::field, 0, 2,
                    "initial field: 0 sin 4πx cos 2πy, 1 a square pulse, 2 random values"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"},
                   {"P", &Problem::p, 0, 256, "threads along y; 0: chosen by the stage"},
                   {"Q", &Problem::q, 0, 256, "threads along x; 0: chosen by the stage"},
                   {"Gx", &Problem::gx, 0, 65535, "thread blocks along x; 0: chosen by the stage"},
                   {"Gy", &Problem::gy, 0, 65535, "thread blocks along y; 0: chosen by the stage"},
                   {"Bx", &Problem::bx, 0, 1024,
                    "threads of a block along x; 0: chosen by the stage"},
                   {"By", &Problem::by, 0, 1024,
                    "threads of a block along y; 0: chosen by the stage"}},
    .datasets = {{"small", {.rows = 512, .cols = 512}},
                 {"course", {.rows = 2160, .cols = 2160}},
                 {"medium", {.rows = 4096, .cols = 4096}},
                 {"large", {.rows = 8192, .cols = 8192}},
                 {"tiny", {.rows = 37, .cols = 29, .steps = 7}}},
    .test_cases = {{"smallest", {.rows = 1, .cols = 1, .steps = 3}},
                   {"no step", {.rows = 5, .cols = 9, .steps = 0}},
                   {"one step", {.rows = 12, .cols = 11, .steps = 1, .field = 2}},
                   {"one row", {.rows = 1, .cols = 77, .steps = 9, .field = 2}},
                   {"one column", {.rows = 70, .cols = 1, .steps = 9, .field = 2}},
                   {"two by two", {.rows = 2, .cols = 2, .steps = 17, .field = 2}},
                   {"block-1", {.rows = 15, .cols = 31, .steps = 5, .field = 2}},
                   {"block", {.rows = 16, .cols = 32, .steps = 8}},
                   {"block+1", {.rows = 17, .cols = 33, .steps = 4, .field = 1}},
                   {"wide tile-1", {.rows = 67, .cols = 127, .steps = 16, .field = 2}},
                   {"wide tile", {.rows = 64, .cols = 128, .steps = 12, .field = 1}},
                   {"wide tile+1", {.rows = 65, .cols = 129, .steps = 13, .field = 2}},
                   {"primes", {.rows = 101, .cols = 127, .steps = 19, .vx = 0.7, .vy = -1}},
                   {"tall", {.rows = 503, .cols = 5, .steps = 11, .field = 2}},
                   {"wide", {.rows = 3, .cols = 601, .steps = 11, .vx = -0.5, .field = 2}},
                   {"one cell per step",
                    {.rows = 40, .cols = 40, .steps = 45, .cfl = 1, .field = 2}},
                   {"at rest", {.rows = 9, .cols = 70, .steps = 6, .vx = 0, .vy = 0, .field = 2}},
                   {"grids",
                    {.rows = 45,
                     .cols = 50,
                     .steps = 5,
                     .field = 2,
                     .p = 3,
                     .q = 2,
                     .gx = 2,
                     .gy = 3,
                     .bx = 5,
                     .by = 3}}},
    .inputs =
        {{.rank = 2, .min = -1e140, .max = 1e140, .typical = 1, .meaning = "the initial field"}},
    .set_inputs = set_field,
    .check = check,
    .prepare = prepare,
    .work = work,
    .tolerance =
        [](const Problem& problem, staircase::Precision precision) {
          const double largest = problem.initial.empty() ? 1 : largest_of(problem.initial);
          return tolerance(problem, largest, precision);
        },
    .timed_phase = "kernels",
    .traffic = {{"10_naive_cuda", two_sweeps_a_step},
                {"11_coalesced", a_sweep<1>},
                {"12_tiled", a_sweep<1>},
                {"13_register_rolling", a_sweep<1>},
                {"14_skewed_time_tiling", a_sweep<6>},
                {"15_convolved", a_sweep<12>},
                {"16_asynchronous_copies", a_sweep<12>},
                {"17_tensor_core_filter", a_sweep<20>},
                {"18_spectral", transforms},
                {"19_vectorised_accesses", a_sweep<1>},
                {"20_software_pipelined", a_sweep<1>},
                {"baseline_copy", a_sweep<1>},
                {"baseline_graph", two_sweeps_a_step}}};

}  // namespace

Courant courant(const Problem& problem) {
  const auto rows = static_cast<double>(problem.rows), cols = static_cast<double>(problem.cols);
  const double step = problem.cfl / std::max(rows, cols);
  return {problem.vx * step * cols, problem.vy * step * rows};
}

Team team_of(const Problem& problem) {
  Team team{static_cast<std::size_t>(problem.p), static_cast<std::size_t>(problem.q)};
  const auto all = static_cast<std::size_t>(omp_get_max_threads());
  if (team.q == 0) team.q = team.p == 0 ? 1 : std::max<std::size_t>(all / team.p, 1);
  if (team.p == 0) team.p = std::max<std::size_t>(all / team.q, 1);
  int threads = 0;
  omp_set_dynamic(0);
#pragma omp parallel num_threads(team.p* team.q)
#pragma omp single
  threads = omp_get_num_threads();
  if (static_cast<std::size_t>(threads) < team.p * team.q)
    throw staircase::BadInput("P × Q is " + std::to_string(team.p * team.q) +
                              " threads; OpenMP allows at most " + std::to_string(threads));
  return team;
}

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace advection
