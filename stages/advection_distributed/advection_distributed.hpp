/// \file
/// The field of advection on many processes: the problem as one of them sees it.
///
/// The scheme, its weights and its fields are those of the workload *advection*.

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

/// Among whom a stage shares the field out.
enum class Division {
  none,        ///< it has one process
  rows,        ///< ranks have rows
  blocks,      ///< ranks are a grid, p along y and q along x, and have blocks
  wide_blocks  ///< whose halos are several cells wide
};

// [Problem]
/// The cells of a rank along one direction of the field.
struct Share {
  std::size_t begin, end;
};

/// The problem of advection, of which a rank has a part: all of it, where there is one.
struct Problem : advection::Problem {  // p and q are ranks along y and x; 0: the stage's choice
  Division division = Division::none;
  std::int64_t gpus = 0;     ///< that rows are dealt to, where one process has several; 0: all
  std::int64_t threads = 0;  ///< of a rank; 0: its share of the cores
  std::int64_t node = 0;     ///< ranks that share memory; 0: all those of a machine
  std::int64_t width = 0;    ///< of wide halos, in cells; 0: the model's choice
  double largest = 1;        ///< magnitude of the field at first
  // What follows is this rank's own, as is the field at first, `initial`.
  Share of_rows = {}, of_cols = {};
  advection::Team grid = {1, 1};  ///< of all ranks
  std::size_t halo = 1;           ///< the width of its halo

  /// This rank's part of the field at first.
  staircase::View<const double, 2> field_at_first() const {
    return {initial.data(), {of_rows.end - of_rows.begin, of_cols.end - of_cols.begin}};
  }
};
// [Problem]

/// Gives regions of OpenMP as many threads as the problem asks for; where it leaves the choice, as
/// many as OMP_NUM_THREADS says, or as the rank has cores if those of a machine share them out.
/// \throws BadInput if OpenMP has not so many threads
void set_threads(const Problem& problem);

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, Division division, const Stage& stage,
              const char* source = __builtin_FILE());

}  // namespace advection_distributed
