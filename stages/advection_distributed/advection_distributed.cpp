/// \file
/// Advection on several ranks: the distribution of the field, data sets and test cases.

#include "advection_distributed.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <harness/device.hpp>
#include <harness/ranks.hpp>
#include <harness/workload.hpp>
#include <optional>
#include <staircase/error.hpp>
#include <string>
#include <utility>

#include "../advection/science.hpp"

namespace advection_distributed {
namespace {

using staircase::BadInput;
using staircase::NotAvailable;
using staircase::Precision;

std::int64_t rank() {
  const staircase::Ranks* const ranks = staircase::this_device().ranks;
  return ranks == nullptr ? 0 : ranks->number();
}

std::int64_t rank_count() {
  const staircase::Ranks* const ranks = staircase::this_device().ranks;
  return ranks == nullptr ? 1 : ranks->count();
}

bool has_blocks(const Problem& problem) {
  return problem.division == Division::blocks || problem.division == Division::wide_blocks;
}

// [grid]
/// Numbers of ranks along y and along x.
struct Grid {
  std::int64_t p, q;
};

/// Returns the grid with the shortest edges among the grids that the problem permits. Among equally
/// good grids, one with longer rows is preferred, because rows are contiguous in memory.
std::optional<Grid> best_grid(const Problem& problem) {
  std::optional<Grid> best;
  const auto edge = [&](const Grid& grid) {  // edge of a part in cells, times the number of ranks
    return problem.rows * grid.q + problem.cols * grid.p;
  };
  const std::int64_t ranks = rank_count();
  const std::int64_t most_cols = has_blocks(problem) ? problem.cols : 1;
  for (std::int64_t p = 1; p <= std::min(ranks, problem.rows); ++p) {
    const Grid grid{p, ranks / p};
    if (p * grid.q != ranks || grid.q > most_cols) continue;
    if ((problem.p != 0 && p != problem.p) || (problem.q != 0 && grid.q != problem.q)) continue;
    if (!best || edge(grid) <= edge(*best)) best = grid;
  }
  return best;
}
// [grid]

std::string plural(std::int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Rejects a grid that does not fit the number of ranks.
void check_asked(const Problem& problem) {
  const std::int64_t ranks = rank_count(), p = problem.p, q = problem.q;
  if (!has_blocks(problem) && q > 1)
    throw BadInput("Q is " + std::to_string(q) + "; this stage has one rank along x");
  const bool fits = p != 0 && q != 0 ? p * q == ranks : ranks % std::max({p, q, INT64_C(1)}) == 0;
  if (!fits)
    throw BadInput("P × Q is " + (p == 0 ? "any" : std::to_string(p)) + " × " +
                   (q == 0 ? "any" : std::to_string(q)) + ", and there " +
                   (ranks == 1 ? "is " : "are ") + plural(ranks, "rank"));
}

/// The part of the field that this rank owns, and the grid of all ranks.
struct OwnRows {
  Grid grid;
  Range rows, cols;
};

/// Returns the part of the field that this rank owns, and the grid of all ranks.
/// \throws NotAvailable if the field has too few cells for a part per rank
OwnRows own_of(const Problem& problem) {
  check_asked(problem);
  const auto grid = best_grid(problem);
  if (!grid)
    throw NotAvailable("a field of " + std::to_string(problem.rows) + " × " +
                       std::to_string(problem.cols) + " cells has no " +
                       (has_blocks(problem) ? "block" : "row") + " for each of " +
                       plural(rank_count(), "rank"));
  const auto range_of = [](std::int64_t count, std::int64_t ranges, std::int64_t index) {
    return Range{static_cast<std::size_t>(count * index / ranges),
                 static_cast<std::size_t>(count * (index + 1) / ranges)};
  };
  return {*grid, range_of(problem.rows, grid->p, rank() / grid->q),
          range_of(problem.cols, grid->q, rank() % grid->q)};
}

// [width]
/// The latency of a message and the time per byte, in seconds.
struct Price {
  double alpha, beta;
};

// Measured prices (see the chapter on communication). A short message is sent at once. For a long
// message, MPI first waits for the receiver. The last price is that of updating a cell.
constexpr Price at_once{0.32e-6, 0.251e-9}, arranged{3.06e-6, 0.086e-9};
constexpr double first_arranged = 4096, gamma_of_cell = 0.77e-9;
constexpr std::int64_t most_width = 64;

double time_of_message(double numbers, Precision precision) {
  const double bytes = numbers * bytes_of(precision);
  const Price price = bytes < first_arranged ? at_once : arranged;
  return price.alpha + bytes * price.beta;
}

/// Returns the estimated time of a step of a block if its halo is refreshed every `width` steps.
double time_of_step(double rows, double cols, std::int64_t width, Precision precision) {
  double cells = 0;
  for (std::int64_t ring = 0; ring < width; ++ring)
    cells += (rows + 2.0 * ring) * (cols + 2.0 * ring);
  const double of_rows = time_of_message(width * cols, precision);
  const double of_cols = time_of_message(width * (rows + 2.0 * width), precision);
  return (gamma_of_cell * cells + 2 * of_rows + 2 * of_cols) / width;
}

/// Returns the halo width that minimises the time of a step of the largest block. Only the direct
/// neighbours fill a halo, so the width is at most the shorter side of the smallest block.
std::int64_t best_width(const Problem& problem, const Grid& grid, Precision precision) {
  const auto largest = [](std::int64_t count, std::int64_t ranges) {
    return static_cast<double>((count + ranges - 1) / ranges);
  };
  const double rows = largest(problem.rows, grid.p), cols = largest(problem.cols, grid.q);
  const std::int64_t most = std::min({most_width, problem.rows / grid.p, problem.cols / grid.q});
  std::int64_t best = 1;
  for (std::int64_t width = 2; width <= most; ++width)
    if (time_of_step(rows, cols, width, precision) < time_of_step(rows, cols, best, precision))
      best = width;
  return best;
}
// [width]

/// Rejects a halo that would need cells of the neighbour of a neighbour.
void check_width(const Problem& problem, const Grid& grid) {
  const std::int64_t rows = problem.rows / grid.p, cols = problem.cols / grid.q;
  if (problem.division == Division::wide_blocks && problem.width > std::min(rows, cols))
    throw NotAvailable(
        "a halo of " + std::to_string(problem.width) +
        " cells needs blocks of at least as many cells along y and x; the smallest has " +
        std::to_string(rows) + " × " + std::to_string(cols));
}

void check(const Problem& problem, Precision precision) {
  advection::check(problem, precision);
  check_width(problem, own_of(problem).grid);
}

/// Takes the shape of the field and this rank's part of it from the input.
void set_field(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.rows = static_cast<std::int64_t>(inputs[0].shape[0]);
  problem.cols = static_cast<std::int64_t>(inputs[0].shape[1]);
  problem.initial = std::move(inputs[0]).as_double();
}

/// Computes this rank's part of the initial field, unless the user provided one.
void prepare(Problem& problem, Precision precision) {
  const auto [grid, rows, cols] = own_of(problem);
  problem.grid = {static_cast<std::size_t>(grid.p), static_cast<std::size_t>(grid.q)};
  problem.of_rows = rows;
  problem.of_cols = cols;
  problem.halo = problem.width != 0 ? problem.width : best_width(problem, grid, precision);
  if (problem.initial.empty()) {
    const Range y = rows, x = cols;
    const std::size_t width = x.end - x.begin;
    problem.initial.resize(staircase::product<2>({y.end - y.begin, width}));
    // With several ranks, the ranks already occupy all cores.
#pragma omp parallel for if (staircase::this_device().ranks == nullptr)
    for (std::size_t i = y.begin; i < y.end; ++i)
      for (std::size_t j = x.begin; j < x.end; ++j)
        problem.initial[(i - y.begin) * width + (j - x.begin)] =
            advection::value_at_first(problem, i, j);
  }
  problem.largest = advection::largest_of(problem.initial);
  if (const auto* ranks = staircase::this_device().ranks)
    problem.largest = ranks->maximum(problem.largest);
}

staircase::Part part(const Problem& problem) {
  const auto [grid, rows, cols] = own_of(problem);
  return {{static_cast<std::size_t>(problem.rows), static_cast<std::size_t>(problem.cols)},
          {rows.begin, cols.begin},
          {rows.end - rows.begin, cols.end - cols.begin}};
}

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"rows", &Problem::rows, 1, advection::most_cells, "cells along y"},
                   {"cols", &Problem::cols, 1, advection::most_cells, "cells along x"},
                   {"steps", &Problem::steps, 0, 1e9, "number of time steps"},
                   {"cfl", &Problem::cfl, 0, 1, "the time step is cfl min(1 / rows, 1 / cols)"},
                   {"vx", &Problem::vx, -1e3, 1e3, "velocity along x"},
                   {"vy", &Problem::vy, -1e3, 1e3, "velocity along y"},
                   {"field", &Problem::field, 0, 2,
                    "initial field: 0 sin 4πx cos 2πy, 1 a square pulse, 2 random values"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"},
                   {"P", &Problem::p, 0, 65536, "ranks along y; 0: chosen by the stage"},
                   {"Q", &Problem::q, 0, 65536, "ranks along x; 0: chosen by the stage"},
                   {"width", &Problem::width, 0, 65536,
                    "cells of a wide halo, and steps between messages; 0: the model's choice"},
                   {"gpus", &Problem::gpus, 0, 16, "GPUs that one process uses; 0: all"},
                   {"threads", &Problem::threads, 0, 4096,
                    "threads of a rank with several; 0: the rank's share of the cores"},
                   {"node", &Problem::node, 0, 65536,
                    "number of ranks of a machine that share memory; 0: all"}},
    .datasets = {{"small", {{.rows = 1024, .cols = 1024}}},
                 {"medium", {{.rows = 4096, .cols = 4096}}},
                 {"large", {{.rows = 16384, .cols = 16384}}},
                 {"tiny", {{.rows = 37, .cols = 29, .steps = 7}}}},
    .test_cases = {{"smallest", {{.rows = 1, .cols = 1, .steps = 3}}},
                   {"no step", {{.rows = 5, .cols = 9, .steps = 0}}},
                   {"one row", {{.rows = 1, .cols = 77, .steps = 9, .field = 2}}},
                   {"one column", {{.rows = 70, .cols = 1, .steps = 9, .field = 2}}},
                   {"two by two", {{.rows = 2, .cols = 2, .steps = 17, .field = 2}}},
                   {"three by three", {{.rows = 3, .cols = 3, .steps = 4, .field = 2}}},
                   {"primes", {{.rows = 101, .cols = 127, .steps = 19, .vx = 0.7, .vy = -1}}},
                   {"tall", {{.rows = 503, .cols = 5, .steps = 11, .field = 2}}},
                   {"wide", {{.rows = 3, .cols = 601, .steps = 11, .vx = -0.5, .field = 2}}},
                   {"a pulse", {{.rows = 40, .cols = 33, .steps = 45, .cfl = 1, .field = 1}}}},
    .inputs =
        {{.rank = 2, .min = -1e140, .max = 1e140, .typical = 1, .meaning = "the initial field"}},
    .set_inputs = set_field,
    .check = check,
    .prepare = prepare,
    .work = [](const Problem& problem,
               Precision precision) { return advection::work(problem, precision); },
    .tolerance =
        [](const Problem& problem, Precision precision) {
          return advection::tolerance(problem, problem.largest, precision);
        },
    .timed_phase = "kernels",
    .threaded = {"06_mpi_and_openmp"},
    .part = part};

}  // namespace

// [threads]
void set_threads(const Problem& problem) {
  const staircase::Ranks* const ranks = staircase::this_device().ranks;
  int threads = static_cast<int>(problem.threads);
  if (threads == 0)
    threads = std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : ranks->cores();
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  int started = 0;
#pragma omp parallel
#pragma omp single
  started = omp_get_num_threads();
  if (started < threads)
    throw BadInput("threads is " + std::to_string(threads) + "; OpenMP allows at most " +
                   std::to_string(started));
}
// [threads]

int run_stage(int argc, char** argv, Division division, const Stage& stage, const char* source) {
  auto own = workload;
  for (auto& [name, problem] : own.datasets) problem.division = division;
  return staircase::run_stage(argc, argv, own, stage, source);
}

}  // namespace advection_distributed
