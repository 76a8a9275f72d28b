/// \file
/// Runs the commands that build a program: compiler, linker and archiver.

#pragma once

#include <string>
#include <vector>

namespace cuda_on_cpu::rewriter {

using Command = std::vector<std::string>;

/// Runs a command. If not null, `input` is the standard input of the command, and `output` receives
/// the command's standard output.
/// \returns the exit status; 127 if the command cannot be started, after a message on standard
/// error
int run(const Command& command, const std::string* input = nullptr, std::string* output = nullptr);

}  // namespace cuda_on_cpu::rewriter
