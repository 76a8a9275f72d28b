/// \file
/// Runs other programs and captures their output.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace staircase {

/// The exit status and the output of a program.
struct ProcessResult {
  int status;       ///< exit status, or 128 + the number of the signal that ended the program
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// Settings for running a program.
struct ProcessOptions {
  std::string directory = {};                 ///< working directory; empty: the current directory
  std::vector<std::string> environment = {};  ///< NAME=value; added to this program's environment
  std::vector<int> closed = {};               ///< descriptors of standard streams that are closed
  std::string out_path = {};                  ///< a file for standard output; empty: capture it
  std::function<void(double)> tick =
      {};  ///< called about ten times per second with the elapsed seconds
};

/// Defers Ctrl-C (SIGINT) during the lifetime of the object, so that the program can end in an
/// orderly way; see throw_if_interrupted().
class InterruptsDeferred {
 public:
  InterruptsDeferred();
  ~InterruptsDeferred();
  InterruptsDeferred(const InterruptsDeferred&) = delete;
  InterruptsDeferred& operator=(const InterruptsDeferred&) = delete;

 private:
  void (*before_)(int);
};

/// \throws Failure with Exit::interrupted if Ctrl-C was pressed while SIGINT was deferred
void throw_if_interrupted();

/// Whether a directory of PATH contains a program with this name.
bool is_on_path(const std::string& name);

/// Runs `command` (a path and arguments, without a shell) and waits for its end. The program
/// receives an empty standard input.
/// \throws BadInput if the program cannot be started or the file for its output cannot be opened
/// \throws Failure if Ctrl-C was pressed, which also ends the program, or if the system cannot
/// create another process
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

}  // namespace staircase
