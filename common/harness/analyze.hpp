/// \file
/// `--analyze`: the same stage, built so that every access of its kernels is checked and counted.

#pragma once

#include <string>
#include "stage_program.hpp"

namespace staircase {

/// Replaces this process by the analysed program beside it, <program>-analyze, with the same
/// arguments; returns if this is that program.
/// \param report where the report goes as JSON, or empty
/// \throws BadInput if the stage has no kernels or this is not the CPU device's program
/// \throws NotAvailable if the analysed program was not built
void run_analysed(char** argv, const StageProgram& program, const std::string& report);

}  // namespace staircase
