/// \file
/// Advection on several processes: the problem, and the part of the field that a process owns.
///
/// The scheme, its weights and its fields come from the workload *advection*.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

#include "../advection/advection.hpp"

namespace advection_distributed {

using advection::Field;
using advection::inside;
using advection::put_inside;
using advection::Weights;
using advection::weights_of;

/// How a stage distributes the field among ranks (domain decomposition).
enum class Division {
  none,        ///< one process owns the whole field
  rows,        ///< each rank owns contiguous rows
  blocks,      ///< the ranks form a grid, p along y and q along x, and own blocks
  wide_blocks  ///< as `blocks`, with halos of several cells
};

// [Problem]
/// The range of cells of a rank along one direction of the field.
struct Range {
  std::size_t begin, end;
};

/// The problem of advection, and the part of it that this rank owns.
struct Problem : advection::Problem {  // p and q: ranks along y and x; 0: the stage chooses
  Division division = Division::none;
  std::int64_t gpus = 0;     ///< number of GPUs to which one process distributes the rows; 0: all
  std::int64_t threads = 0;  ///< threads of a rank; 0: its share of the cores
  std::int64_t node = 0;     ///< number of ranks that share memory; 0: all ranks of a machine
  std::int64_t width = 0;    ///< width of wide halos in cells; 0: the model chooses
  double largest = 1;        ///< largest magnitude of an element of the initial field
  // The members below, and the initial field `initial`, describe only the part of this rank.
  Range of_rows = {}, of_cols = {};
  advection::Team grid = {1, 1};  ///< grid of all ranks
  std::size_t halo = 1;           ///< width of the halo of this part, in cells

  /// Returns this rank's part of the initial field.
  staircase::View<const double, 2> field_at_first() const {
    return {initial.data(), {of_rows.end - of_rows.begin, of_cols.end - of_cols.begin}};
  }
};
// [Problem]

/// Sets the number of threads of OpenMP's parallel regions: the number in the problem if it is not
/// 0, else OMP_NUM_THREADS if it is set, else the rank's share of the cores of its machine.
/// \throws BadInput if OpenMP provides fewer threads
void set_threads(const Problem& problem);

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem of the command line, and returns the exit status. The
/// directories of the stage's source give the names of the workload and the stage.
int run_stage(int argc, char** argv, Division division, const Stage& stage,
              const char* source = __builtin_FILE());

}  // namespace advection_distributed
