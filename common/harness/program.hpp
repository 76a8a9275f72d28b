/// \file
/// The common parts of every `main`: parsing the command line, and converting exceptions to
/// messages and exit statuses.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <staircase/error.hpp>

namespace CLI {
class App;
}

namespace staircase {

/// Parses the command line. For --help, prints the help text and returns false.
/// \throws BadInput if the command line is not valid
bool parse_command_line(CLI::App& app, int argc, char** argv);

/// Sets the function that reports failures. The function receives the exit status and the line to
/// print. Null selects the default function, which prints the line to standard error.
void set_failure_reporter(void (*reporter)(int status, const std::string& line));

/// Runs the body of a program and returns the exit status. A failure is reported in one line, which
/// consists of the name of the program and a sentence.
int run_guarded(std::string_view name, const std::function<Exit()>& body);

}  // namespace staircase
