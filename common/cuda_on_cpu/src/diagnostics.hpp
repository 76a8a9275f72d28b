/// \file
/// Diagnostics of errors in kernels and in calls of the host.

#pragma once

#include <string>

namespace cuda_on_cpu {

struct Thread;

struct Diagnostic {
  const char* kind;                   ///< "race", "deadlock", ...
  const void* place = nullptr;        ///< behind the instruction that found it
  const void* other_place = nullptr;  ///< behind the instruction that it collided with
  const Thread* thread = nullptr;     ///< null: the host
  std::string sentence;
};

/// Prints a diagnostic, or, in a program that is analysed, adds it to the report.
void report_diagnostic(const Diagnostic& diagnostic);

/// Ends the program: the CPU device cannot do what the program asks for.
[[noreturn]] void fatal(const std::string& sentence);

/// Ends the program: the user asked for what is not allowed, or cannot be written.
[[noreturn]] void refuse(const std::string& sentence);

}  // namespace cuda_on_cpu
