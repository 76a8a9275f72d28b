/// \file
/// The frame of a program's `main`: its command line, and how its failures end it.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <staircase/error.hpp>

namespace CLI {
class App;
}

namespace staircase {

/// Reads the command line; returns false if help was asked for, which it prints.
/// \throws BadInput if the command line cannot be read
bool parse_command_line(CLI::App& app, int argc, char** argv);

/// Has failures told by a function, which gets the exit status and a line; null for standard error.
void tell_failures_by(void (*tell)(int status, const std::string& line));

/// Runs the body of a program and returns its exit status. A failure is told in one sentence on
/// standard error, behind the program's name.
int run_guarded(std::string_view name, const std::function<Exit()>& body);

}  // namespace staircase
