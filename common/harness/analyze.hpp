/// \file
/// `--analyze`: runs the program of the stage in which every memory access of a kernel is checked
/// and counted.

#pragma once

#include "command_line.hpp"
#include "stage_program.hpp"

namespace staircase {

/// Replaces this process by the analysed program in the same directory, <program>-analyze, with the
/// same arguments. Returns if this is already the analysed program. \param options contains the
/// path of the report and the number of analysed blocks per launch, if set \throws BadInput if the
/// stage has no kernels, if this is not the CPU device's program, or if the
///         number of blocks is not positive
/// \throws NotAvailable if the analysed program was not built
void run_analysed(char** argv, const StageProgram& program, const StageOptions& options);

}  // namespace staircase
