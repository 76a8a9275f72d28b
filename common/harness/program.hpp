/// \file
/// The frame of `main`: reads the command line, and converts exceptions to messages and exit
/// statuses.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <staircase/error.hpp>

namespace CLI {
class App;
}

namespace staircase {

/// Parses the command line; for --help, prints the help text and returns false.
/// \throws BadInput if the command line is not valid
bool parse_command_line(CLI::App& app, int argc, char** argv);

/// Sets the function that reports failures; it receives the exit status and the line to print. Null
/// selects the default, which prints the line to standard error.
void set_failure_reporter(void (*reporter)(int status, const std::string& line));

/// Runs the body of a program and returns the exit status. A failure is reported in one line: the
/// name of the program and a sentence.
int run_guarded(std::string_view name, const std::function<Exit()>& body);

}  // namespace staircase
