/// \file
/// The commands that make a program: compiler, linker, archiver.

#pragma once

#include <string>
#include <vector>

namespace cuda_on_cpu::rewriter {

using Command = std::vector<std::string>;

/// Runs a command; it reads `input` and writes to `output` where these are given.
/// \returns its exit status; 127, after a sentence on standard error, if it cannot be started
int run(const Command& command, const std::string* input = nullptr, std::string* output = nullptr);

}  // namespace cuda_on_cpu::rewriter
