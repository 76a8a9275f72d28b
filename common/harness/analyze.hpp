/// \file
/// `--analyze`: the same stage, built so that every access of its kernels is checked and counted.

#pragma once

#include "command_line.hpp"
#include "stage_program.hpp"

namespace staircase {

/// Replaces this process by the analysed program beside it, <program>-analyze, with the same
/// arguments; returns if this is that program.
/// \param options where the report goes, and how many blocks of a launch it takes, if they say so
/// \throws BadInput if the stage has no kernels, if this is not the CPU device's program, or if the
///         number of blocks is not positive
/// \throws NotAvailable if the analysed program was not built
void run_analysed(char** argv, const StageProgram& program, const StageOptions& options);

}  // namespace staircase
