/// \file
/// Runs the commands that build a program: compiler, linker and archiver.

#pragma once

#include <string>
#include <vector>

namespace cuda_on_cpu::rewriter {

using Command = std::vector<std::string>;

/// Runs a command. `input` is its standard input and `output` receives its standard output, if they
/// are not null.
/// \returns the exit status; 127 if the command cannot be started, after a message on standard
/// error
int run(const Command& command, const std::string* input = nullptr, std::string* output = nullptr);

}  // namespace cuda_on_cpu::rewriter
