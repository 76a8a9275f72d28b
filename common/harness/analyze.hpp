/// \file
/// Implements `--analyze`: runs the variant of a stage program that checks and counts every memory
/// access of its kernels.

#pragma once

#include "command_line.hpp"
#include "stage_program.hpp"

namespace staircase {

/// Replaces this process by the analysed program <program>-analyze in the same directory, with the
/// same arguments. Returns if this process already is the analysed program.
/// \param options contains the path of the report and the number of analysed blocks per launch, if
/// set
/// \throws BadInput if the stage has no kernels, if this is not the CPU device's program, if the
/// report cannot be written, or if the number of blocks is not allowed
/// \throws NotAvailable if the analysed program was not built
void run_analysed(char** argv, const StageProgram& program, const StageOptions& options);

}  // namespace staircase
