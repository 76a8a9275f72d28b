/// \file
/// Diagnostics of errors in kernels and in host calls.

#pragma once

#include <string>

namespace cuda_on_cpu {

struct Thread;

struct Diagnostic {
  const char* kind;                   ///< "race", "deadlock", ...
  const void* place = nullptr;        ///< address after the instruction at which the error was
                                      ///< found
  const void* other_place = nullptr;  ///< address after the conflicting instruction, or null
  const Thread* thread = nullptr;     ///< thread of the kernel; null for host code
  std::string sentence;
};

/// Prints a diagnostic or, in an analysed program, adds it to the report.
void report_diagnostic(const Diagnostic& diagnostic);

/// Ends the program with status 3, because the CPU device does not support a request of the
/// program.
[[noreturn]] void fatal(const std::string& sentence);

/// Ends the program with status 2, because a setting is invalid or a file cannot be written.
[[noreturn]] void refuse(const std::string& sentence);

}  // namespace cuda_on_cpu
