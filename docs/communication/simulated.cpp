/// \file
/// Replaces the harness for stages of distributed advection, so that they run on a cluster that is
/// simulated by SimGrid's SMPI. The source of the stage is compiled without changes.
///
/// A rank of SMPI is a thread of control in one process, so thousands of ranks share one processor.
/// Messages pass through the simulated network. Cells are not computed: a replacement of `update`
/// keeps the simulated processor busy for the time that the cells would take. No code reads the
/// field, so the arrays of all ranks share the same memory.
///
/// Prints the simulated time of the slowest rank in seconds, for all steps and their preparation.

#include <smpi/smpi.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <staircase/mpi.hpp>
#include <string_view>
#include <vector>

#include "simulated.hpp"

namespace staircase {

void mpi::fail(int error) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(error, text, &length);
  std::fprintf(stderr, "MPI failed: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 3);
  throw error;
}

// [memory]
/// Returns the same memory for every array. This memory is as large as the largest array.
void* allocate(std::size_t bytes, std::size_t) {
  static std::vector<char> memory;
  if (memory.empty()) memory.resize(bytes);
  if (memory.size() < bytes) throw std::bad_alloc();
  return memory.data();
}
void deallocate(void*, std::size_t, std::size_t) noexcept {}
void poison(std::span<double>) {}
void poison(std::span<float>) {}
// [memory]

}  // namespace staircase

namespace advection {

Courant courant(const Problem&) { return {0.25, 0.25}; }

}  // namespace advection

namespace advection_distributed {

// [update]
constexpr double operations_per_cell = 20;  // operations per cell, as the workload counts them

/// Keeps the simulated processor busy for the time that an update of these cells would take.
template <>
void update<double>(Weights<double>, Range of_rows, Range of_cols, staircase::View<const double, 2>,
                    staircase::View<double, 2>) {
  if (of_rows.begin >= of_rows.end || of_cols.begin >= of_cols.end) return;
  const double cells = static_cast<double>(of_rows.end - of_rows.begin) *
                       static_cast<double>(of_cols.end - of_cols.begin);
  smpi_execute_flops(cells * operations_per_cell);
}
// [update]

namespace {

/// The simulated times at which the timed phase began and ended.
struct Clock : staircase::Timeline {
  double began = 0, ended = 0;
  void begin(const char* name) override {
    (std::string_view(name) == "kernels" ? began : ended) = MPI_Wtime();
  }
  void end() override {}
  void add_overlapping(const char*, double, double) override {}
  double now() const override { return MPI_Wtime(); }
};

std::int64_t number(const char* text) {
  std::int64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

/// The arrangement of ranks in a grid for which the edges of a rank's block have the smallest total
/// length.
advection::Team grid_of(Division division, std::int64_t rows, std::int64_t cols, int ranks) {
  int best = ranks;
  for (int p = 1; p <= ranks && division != Division::rows; ++p)
    if (ranks % p == 0 && rows * (ranks / p) + cols * p < rows * (ranks / best) + cols * best)
      best = p;
  return {static_cast<std::size_t>(best), static_cast<std::size_t>(ranks / best)};
}

}  // namespace

int run_stage(int argc, char** argv, Division division, const Stage& stage, const char*) {
  MPI_Init(&argc, &argv);
  if (argc != 5) {
    std::fputs("usage: PROGRAM ROWS COLS STEPS WIDTH\n", stderr);
    return 2;
  }
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Problem problem;
  problem.rows = number(argv[1]), problem.cols = number(argv[2]), problem.steps = number(argv[3]);
  problem.division = division;
  problem.halo = number(argv[4]);
  problem.grid = grid_of(division, problem.rows, problem.cols, ranks);
  const auto share = [](std::size_t count, std::size_t shares, std::size_t index) {
    return Range{count * index / shares, count * (index + 1) / shares};
  };
  const auto own = static_cast<std::size_t>(rank);
  problem.of_rows = share(problem.rows, problem.grid.p, own / problem.grid.q);
  problem.of_cols = share(problem.cols, problem.grid.q, own % problem.grid.q);
  const auto most = [&](std::size_t count, std::size_t shares) {
    return count / shares + 1 + 2 * problem.halo;
  };
  staircase::allocate(
      sizeof(double) * most(problem.rows, problem.grid.p) * most(problem.cols, problem.grid.q), 1);
  problem.initial.resize((problem.of_rows.end - problem.of_rows.begin) *
                         (problem.of_cols.end - problem.of_cols.begin));
  Clock clock;
  stage.solve_f64(problem, clock);
  const double own_time = clock.ended - clock.began;
  double longest = 0;
  MPI_Reduce(&own_time, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.9e\n", longest);
  MPI_Finalize();
  return 0;
}

}  // namespace advection_distributed
